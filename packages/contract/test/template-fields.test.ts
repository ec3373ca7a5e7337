import { describe, expect, test } from '@jest/globals';
import { template, templateDefaults, templateExamples, templateFieldNames, templateFields } from '../src/index.ts';

type Field = (typeof templateFieldNames)[number];

const messagesOf = (field: Field, value: unknown) =>
  templateFields[field].safeParse(value).error?.issues.map(({ message }) => message) ?? [];
const isValid = (field: Field, value: unknown) => templateFields[field].safeParse(value).success;

describe('a quantity', () => {
  test.each([
    '',
    '0',
    '2',
    '500m',
    '0.5',
    '.5',
    '2.',
    '1.5Gi',
    '8Gi',
    '64Mi',
    '1Ki',
    '1Ti',
    '1Pi',
    '1Ei',
    '1n',
    '1u',
    '1k',
    '1M',
    '1G',
    '1T',
    '1P',
    '1E',
    '1e3',
    '1E3',
    '12e-3',
    '1e+6',
    '1.5e3',
  ])('can be %p', (given) => {
    expect(messagesOf('memory_request', given)).toEqual([]);
  });

  test.each([
    ' ',
    ' 1',
    '1 ',
    '-1',
    '1K',
    '1ki',
    '1mi',
    '1gi',
    '1GB',
    '1 Gi',
    '1Gib',
    'Gi',
    '.',
    'e3',
    '1e',
    '1e1.5',
    '1,5',
    '1_000',
    '0x10',
    '1m5',
    'NaN',
    '٣',
    '1Gi\n',
  ])('cannot be %p', (given) => {
    expect(messagesOf('cpu_request', given)).toEqual([
      'must be a Kubernetes quantity such as 500m, 2 or 8Gi, or "" for unset',
    ]);
  });

  test('has at most 64 characters', () => {
    expect(messagesOf('vram_request', '1'.repeat(65))).toEqual(['must have at most 64 characters']);
  });
});

describe('registry credentials', () => {
  test.each(['ghcr', 'pull-secret-1', 'a'.repeat(63), null])('can be %p', (given) => {
    expect(isValid('registry_credentials', given)).toBe(true);
  });

  test.each(['', 'Ghcr', 'user:password', 'a_b', '-a', 'a-', 'a.b', 'a'.repeat(64)])(
    '%p is rejected because the hub does not store registry passwords',
    (given) => {
      expect(messagesOf('registry_credentials', given)).toEqual([
        'must be the name of a pull secret of the fleet (a DNS label); the hub does not store registry passwords',
      ]);
    },
  );

  test.each([[{ username: 'u', password: 'p' }], [42], [['a']]])('%j, which is not a string, is rejected', (given) => {
    expect(isValid('registry_credentials', given)).toBe(false);
  });
});

const valid: [Field, unknown][] = [
  ['kind', 'notebook'],
  ['min_tier', 'enterprise'],
  ['image_name', ''],
  ['image_name', 'library/postgres'],
  ['image_tag', '1.2.3-alpine_x'],
  ['registry_url', null],
  ['registry_url', 'ghcr.io'],
  ['registry_url', 'registry.example.com:5000/team/a'],
  ['icon_url', 'https://example.com/icon.svg'],
  ['icon_url', null],
  ['gpu_count', 0],
  ['node_selector', { 'example.com/gpu': 'A100', zone: '' }],
  ['tolerations', [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 0 }, {}]],
  ['secret_refs', [{ name: 'db', env: 'DB_URL' }]],
  ['secret_refs', [{ name: 'db', key: 'url', env: 'DB_URL' }]],
  ['ports', [{ containerPort: 65535, protocol: 'udp' }]],
  ['volume_mounts', [{ name: 'data', mountPath: '/data' }]],
  ['env', [{ name: '_A.b-1', value: 'line\nline' }]],
  ['command', ['sh', '-c', '']],
  ['documentation', '# Title\n\n\ttext'],
];
test.each(valid)('%s can be %j', (field, value) => {
  expect(messagesOf(field, value)).toEqual([]);
});

const invalid: [Field, unknown][] = [
  ['kind', ''],
  ['kind', 'Service'],
  ['min_tier', 'gold'],
  ['image_name', 'ghcr.io/a:1'],
  ['image_name', 'Library/Postgres'],
  ['image_tag', ''],
  ['image_tag', '-x'],
  ['registry_url', 'https://ghcr.io'],
  ['registry_url', 'user:secret@ghcr.io'],
  ['registry_url', ''],
  ['icon_url', 'http://example.com/icon.svg'],
  ['icon_url', 'javascript:alert(1)'],
  ['icon_url', 'https://'],
  ['gpu_count', -1],
  ['gpu_count', 1.5],
  ['gpu_count', '1'],
  ['concurrent_jobs', 0],
  ['is_public', 'true'],
  ['is_public', null],
  ['node_selector', { 'bad key': 'v' }],
  ['node_selector', { gpu: 'bad value' }],
  ['node_selector', { gpu: 1 }],
  ['tolerations', [{ operator: 'In' }]],
  ['tolerations', [{ unknown: 1 }]],
  ['secret_refs', [{ name: 'db' }]],
  ['secret_refs', [{ name: 'DB', env: 'DB' }]],
  ['secret_refs', [{ name: 'db', env: '1DB' }]],
  ['secret_refs', [{ name: 'db', env: 'DB', value: 'secret' }]],
  ['ports', [{ containerPort: 0 }]],
  ['ports', [{ containerPort: 65536 }]],
  ['ports', [{ containerPort: 80, protocol: 'http' }]],
  ['volume_mounts', [{ name: 'data', mountPath: 'data' }]],
  ['env', [{ name: 'A=B', value: '' }]],
  ['env', [{ name: 'A', value: 'a\u0000b' }]],
  ['env', Array.from({ length: 257 }, () => ({ name: 'A', value: '' }))],
  ['tags', ['a,b']],
  ['tags', [' ']],
  ['command', 'sh -c x'],
];
test.each(invalid)('%s cannot be %j', (field, value) => {
  expect(isValid(field, value)).toBe(false);
});

test('optional members of list entries have defaults', () => {
  expect(templateFields.ports.parse([{ containerPort: 80 }])).toEqual([{ containerPort: 80, protocol: 'TCP' }]);
  expect(templateFields.env_schema.parse([{ name: 'A' }])).toEqual([
    { name: 'A', required: false, default_value: '', description: '' },
  ]);
});

test('optional members of list entries have the same defaults for readers', () => {
  expect(template.shape.ports.parse([{ containerPort: 80 }])).toEqual(
    templateFields.ports.parse([{ containerPort: 80 }]),
  );
  expect(template.shape.env_schema.parse([{ name: 'A' }])).toEqual(templateFields.env_schema.parse([{ name: 'A' }]));
});

test('surrounding white space is removed from tags', () => {
  expect(templateFields.tags.parse([' gpu '])).toEqual(['gpu']);
});

describe.each(templateFieldNames)('the declaration of %s', (field) => {
  test('has a default that its rule accepts', () => {
    expect(messagesOf(field, templateDefaults[field])).toEqual([]);
  });

  test('has an example that its rule accepts, that replies contain unchanged, and that is not the default', () => {
    const example = templateExamples[field];
    expect(templateFields[field].safeParse(example)).toEqual({ success: true, data: example });
    expect(template.shape[field].safeParse(example)).toEqual({ success: true, data: example });
    expect(example).not.toEqual(templateDefaults[field]);
  });

  test('has a default for readers if the member is missing', () => {
    expect(template.shape[field].safeParse(undefined)).toEqual({ success: true, data: templateDefaults[field] });
  });
});
