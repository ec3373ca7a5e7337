import { describe, expect, test } from '@jest/globals';
import { documentSchemas, fleetEndpoints } from '@svc/contract/fleet';
import { readYamlText } from '../../documents/src/yaml-text.ts';
import { documentText, type Names, type Requested } from '../src/fleet/plans/document.ts';
import { yamlText } from '../src/shared/ui/display/yaml-text.ts';

const VOLUME = '0190c5a0-0000-7000-8000-000000000001';
const HOST = '0190c5a0-0000-7000-8000-000000000002';
const chosen: Names = { target: { host: 'gpu-1' }, volumes: { [VOLUME]: 'archive' } };
const none: Names = { target: undefined, volumes: {} };

/** What a plan reads in the text of a document. */
function read(requested: Requested, names: Names): unknown {
  const document = documentText(requested, names);
  if (!('text' in document)) throw new Error(JSON.stringify(document));
  const { value, problems } = readYamlText(document.text);
  expect(problems).toEqual([]);
  expect(documentSchemas[requested.kind].safeParse(value).error).toBeUndefined();
  return value;
}

/** The body of a form for a template, in which nothing is entered. */
const untouched = {
  name: 'shop',
  template: 'example-shop',
  target: null,
  replicas: 1,
  autoscaling: null,
  scaled_by: 'fleet',
  env: {},
  volumes: {},
  acknowledge: [],
  updates: undefined,
} as const;

describe('the document of a deployment that a form is about to create', () => {
  test('has the names of the target and of volumes instead of their ids, and only what differs from the defaults', () => {
    const body = {
      ...untouched,
      acknowledge: [],
      target: { host_id: HOST },
      env: {
        ANSWER: 'yes',
        LINES: 'one\ntwo: "three"\u2028',
        PASSWORD: { generate: 32 },
        TOKEN: { secret: 'tokens', key: 'shop' },
      },
      host_ports: { '53/udp': 53 },
      volumes: { data: { size: '20Gi' }, old: { storage_id: VOLUME } },
      updates: { from: 'template' as const },
    };
    expect(fleetEndpoints.createDeployment.body.safeParse(body).error).toBeUndefined();
    const { name, template, env, host_ports, updates } = body;
    expect(read({ kind: 'deployment', body }, chosen)).toEqual({
      kind: 'deployment',
      name,
      template,
      target: { host: 'gpu-1' },
      env,
      host_ports,
      updates,
      volumes: { data: { size: '20Gi' }, old: { volume: 'archive' } },
    });
    expect(read({ kind: 'deployment', body: { ...untouched, acknowledge: [] } }, none)).toEqual({
      kind: 'deployment',
      name,
      template,
    });
  });

  test('of an image has its specification, without empty members that nobody has entered', () => {
    const spec = {
      image_name: 'team/app',
      image_tag: '1.10',
      command: ['sh', '-c', '- not a list: #'],
      env_schema: [{ name: 'MODE', default_value: 'on', required: false, description: '' }],
      ports: [{ containerPort: 8080, protocol: 'TCP' as const }],
    };
    const { template: _, ...body } = { ...untouched, acknowledge: [], spec };
    expect(read({ kind: 'deployment', body }, none)).toEqual({ kind: 'deployment', name: 'shop', spec });
  });

  test('does not exist while a secret is entered as text, of which only the name is stated', () => {
    const secret = 'typed by a person';
    const declared = { ...untouched, acknowledge: [], env: { KEY: { value: secret, plain: true as const } } };
    expect(documentText({ kind: 'deployment', body: declared }, none)).toEqual({ secrets: ['KEY'] });
    const { template: _, ...image } = {
      ...untouched,
      acknowledge: [],
      spec: {
        image_name: 'postgres',
        env_schema: [
          { name: 'POSTGRES_PASSWORD', default_value: secret, required: false, description: '' },
          { name: 'PASSWORD_LENGTH', default_value: '8', required: false, description: '' },
        ],
      },
    };
    expect(documentText({ kind: 'deployment', body: image }, none)).toEqual({ secrets: ['POSTGRES_PASSWORD'] });
  });
});

describe('the document of an application that a form is about to create', () => {
  const body = {
    name: 'blog',
    application: 'ghost',
    inputs: { title: 'Notes', public: true, size: 3, password: { secret: 'smtp', key: 'password' } },
    volumes: { 'database/data': { storage_id: VOLUME } },
    overrides: { web: { env: { SVC_HTTP_PORTS: '2368' }, required_network_types: ['public'] } },
    target: null,
    acknowledge: [],
    updates: { from: 'application' as const },
    on_failure: 'stop' as const,
  };

  test('has its inputs, overrides and policy, and the names of volumes', () => {
    expect(fleetEndpoints.createApplication.body.safeParse(body).error).toBeUndefined();
    const { target: _, acknowledge: __, ...stated } = body;
    expect(read({ kind: 'application', body }, { ...chosen, target: { cluster: 'main' } })).toEqual({
      kind: 'application',
      ...stated,
      target: { cluster: 'main' },
      volumes: { 'database/data': { volume: 'archive' } },
    });
  });

  test('of a file has its specification', () => {
    const spec = { parts: [{ name: 'web', image_name: 'team/wiki', env: [{ name: 'SIZE', value: '3' }] }] };
    const { application: _, overrides: __, inputs: ___, volumes: ____, ...others } = body;
    expect(read({ kind: 'application', body: { ...others, spec } }, none)).toEqual({
      kind: 'application',
      name: 'blog',
      spec,
      updates: body.updates,
      on_failure: 'stop',
    });
  });

  test('has numbers with decimals and exponents', () => {
    const inputs = { half: 0.5, large: 1e21, small: -1e-7, whole: -7 };
    expect(read({ kind: 'application', body: { ...body, inputs } }, chosen)).toMatchObject({ inputs });
  });
});

test('YAML of the console quotes each text that a parser could read as another type', () => {
  const texts = [
    'y',
    'No',
    'on',
    'NULL',
    'true',
    '1',
    '1e3',
    '0x1f',
    '12:30',
    '2024-01-01',
    '~',
    '=',
    '<<',
    '',
    ' a',
    '#',
  ];
  const value = { texts, words: ['web-1', 'a_b'], nested: [{ y: { on: [[], {}] } }] };
  const { value: found, problems } = readYamlText(yamlText(value));
  expect(problems).toEqual([]);
  expect(found).toEqual(value);
  expect(yamlText({ name: 'web-1' })).toBe('name: web-1\n');
});
