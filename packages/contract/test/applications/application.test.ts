import { describe, expect, test } from '@jest/globals';
import {
  application,
  applicationChange,
  applicationSpec,
  MAX_APPLICATION_BYTES,
  newApplication,
  newApplicationSpec,
  parseFields,
  templateDefaults,
} from '../../src/index.ts';

const part = (name: string, members: object = {}) => ({ name, image_name: 'library/app', ...members });
const web = { ports: [{ containerPort: 80, publish: true }] };
const env = (value: string) => ({ env: [{ name: 'A', value }] });

function errorsOf(spec: object): readonly string[] {
  const parsed = parseFields(newApplicationSpec, spec);
  return parsed.success ? [] : parsed.errors.map(({ path, message }) => `${path} ${message}`);
}
const errorsOfParts = (...parts: object[]) =>
  errorsOf({ inputs: [{ name: 'mail' }], generated: [{ name: 'password' }], parts });

describe('a new application', () => {
  test('requires its name, its category and its parts', () => {
    const paths = newApplication.safeParse({}).error?.issues.map(({ path }) => path.join('.'));
    expect(paths?.sort()).toEqual(['category_id', 'name', 'parts']);
  });

  test('has the documented defaults, and those of a template for the members that both have', () => {
    const given = newApplicationSpec.parse({
      inputs: [{ name: 'mail' }, { name: 'theme', default: 'dark' }],
      generated: [{ name: 'password' }],
      parts: [part('web', web)],
    });
    expect(given.inputs).toEqual([
      { name: 'mail', label: '', type: 'text', choices: [], required: true, default: null },
      { name: 'theme', label: '', type: 'text', choices: [], required: false, default: 'dark' },
    ]);
    expect(given.generated).toEqual([{ name: 'password', length: 32, format: 'text' }]);
    const { image_tag, stop_grace_seconds, kind, command } = templateDefaults;
    expect(given.parts).toMatchObject([
      {
        ...{ image_tag, stop_grace_seconds, kind, command },
        ports: [{ containerPort: 80, protocol: 'TCP', publish: true }],
        needs: [],
        scalable: false,
        run: 'once',
        was: null,
      },
    ]);
  });

  test('has an image that is divided into its members', () => {
    const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
    const { parts } = newApplicationSpec.parse({ parts: [part('web', { image_name: `library/app:2@${digest}` })] });
    expect(parts).toMatchObject([{ image_name: 'library/app', image_tag: '2', image_digest: digest }]);
  });

  test('can use every placeholder', () => {
    const text = [
      'inputs.mail',
      'generated.password|url',
      'parts.db.host',
      'parts.db.address.5432',
      'parts.db.url.5432',
      'self.url.80',
      'application.name',
    ]
      .map((name) => `\${${name}}`)
      .join(' ');
    expect(
      errorsOfParts(
        part('web', { ...web, ...env(text), command: [text], needs: [{ part: 'db' }] }),
        part('db', { ports: [{ containerPort: 5432 }] }),
      ),
    ).toEqual([]);
  });
});

describe('a placeholder is refused with what was probably meant', () => {
  test.each([
    [`\${inputs.mial}`, 'inputs.mial: there is no input mial; did you mean mail?'],
    [`\${generated.other}`, 'generated.other: there is no generated value other; allowed: password'],
    [`\${parts.web2.host}`, 'parts.web2.host: there is no part web2; did you mean web?'],
    [`\${parts.web.url.81}`, 'parts.web.url.81: the part web has no port 81; did you mean 80?'],
    [`\${self.url.9000}`, 'self.url.9000: this part publishes no TCP port 9000; allowed: 80'],
    [`\${input.mail}`, 'input.mail, which does not exist; did you mean inputs.mail?'],
  ])('%s', (text, problem) => {
    expect(errorsOfParts(part('web', { ...web, ...env(text) }))).toEqual([
      `parts.0.env.0.value must not contain the placeholder ${problem}`,
    ]);
  });

  test('text that is none is refused with the way to write it', () => {
    const [error, ...others] = errorsOfParts(part('web', { command: [`echo \${HOME}`] }));
    expect(others).toEqual([]);
    expect(error).toMatch(/^parts\.0\.command\.0 must contain only placeholders such as .* two dollar signs/);
  });

  test('a variable that configures the container has none', () => {
    const check = { env: [{ name: 'SVC_HEALTH_CHECK', value: `exec:test \${inputs.mail}` }] };
    expect(errorsOfParts(part('web', check))).toEqual([
      expect.stringContaining('parts.0.env.0.value must not contain placeholders'),
    ]);
    const escaped = { env: [{ name: 'SVC_HEALTH_CHECK', value: `exec:test $\${HOME}` }] };
    expect(errorsOfParts(part('web', escaped))).toEqual([]);
  });

  test('a text has at most 16 different ones', () => {
    const inputs = Array.from({ length: 17 }, (_, index) => ({ name: `i${index}` }));
    const text = inputs.map(({ name }) => `\${inputs.${name}}`).join('');
    expect(errorsOf({ inputs, parts: [part('web', env(text))] })).toEqual([
      'parts.0.env.0.value must contain at most 16 different placeholders, and has 17',
    ]);
  });
});

describe('parts are refused', () => {
  test.each([
    ['with equal names', [part('a'), part('a')], 'parts.1.name must be unique, and a is repeated'],
    ['without an image', [part('a', { image_name: '' })], 'parts.0.image_name is required'],
    [
      'with a need of an unknown part',
      [part('web', { needs: [{ part: 'wep' }] })],
      'parts.0.needs.0.part must be the name of another part; did you mean web?',
    ],
    [
      'with a need of themselves',
      [part('a', { needs: [{ part: 'a' }] })],
      'parts.0.needs.0.part must be the name of another part, not of this one',
    ],
    [
      'if they wait for the end of a part that is no job',
      [part('a', { needs: [{ part: 'b', until: 'finished' }] }), part('b')],
      'parts.0.needs.0.until must be started or ready, because b is not of the kind job',
    ],
    [
      'if they need each other',
      [
        part('first', { needs: [{ part: 'a' }] }),
        part('a', { needs: [{ part: 'b' }] }),
        part('b', { needs: [{ part: 'c' }] }),
        part('c', { needs: [{ part: 'b' }] }),
      ],
      'parts must not wait for each other: b needs c, c needs b',
    ],
    [
      'if they run for each version and are no jobs',
      [part('a', { run: 'each_version' })],
      'parts.0.run is only for a part of the kind job',
    ],
    [
      'with a port that is repeated',
      [part('a', { ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'tcp' }] })],
      'parts.0.ports.1 must be unique, and 80/TCP is repeated',
    ],
    [
      'with an earlier name that another part has',
      [part('a', { was: 'b' }), part('b')],
      'parts.0.was must not be b, which another part is or was',
    ],
    ['with the name localhost', [part('localhost')], 'parts.0.name must not be localhost'],
    [
      'with variables that are repeated',
      [
        part('a', {
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        }),
      ],
      'parts.0.env.1.name declares the variable of env.0.name again; declare each variable once in env, env_schema and secret_refs',
    ],
  ])('%s', (_, parts, error) => {
    expect(errorsOf({ parts })).toEqual([error]);
  });

  test('if there are none, or more than 32', () => {
    expect(errorsOf({ parts: [] })).toEqual(['parts must have at least 1 entry']);
    const parts = Array.from({ length: 33 }, (_, index) => part(`p${index}`));
    expect(errorsOf({ parts })).toEqual(['parts must have at most 32 entries']);
  });

  test('if the application is larger than 512 KiB', () => {
    const large = Array.from({ length: 17 }, (_, index) => ({ name: `A${index}`, value: 'x'.repeat(32_768) }));
    expect(errorsOf({ parts: [part('a', { env: large })] })).toEqual([
      expect.stringContaining(`parts must have at most ${MAX_APPLICATION_BYTES} bytes`),
    ]);
  });
});

describe('an input is refused', () => {
  test.each([
    [{ name: 'A' }, 'name must be a lower-case letter'],
    [{ name: 'a', type: 'secret', default: 'x' }, 'default must not be given'],
    [{ name: 'a', type: 'number', default: '5' }, 'default must be a number'],
    [{ name: 'a', type: 'boolean', default: 'true' }, 'default must be true or false'],
    [{ name: 'a', type: 'choice' }, 'choices is required'],
    [{ name: 'a', choices: ['x'] }, 'choices must be empty'],
    [{ name: 'a', type: 'choice', choices: ['x', 'y'], default: 'z' }, 'default must be one of: x, y'],
    [{ name: 'a', type: 'choice', choices: ['x', 'x'] }, 'choices must not repeat a value'],
  ])('%j', (input, message) => {
    const errors = errorsOf({ inputs: [input], parts: [part('web')] });
    expect(errors).toEqual([expect.stringMatching(new RegExp(`^inputs\\.0\\.${message}`))]);
  });

  test('if its name is repeated', () => {
    expect(errorsOf({ inputs: [{ name: 'a' }, { name: 'a' }], parts: [part('web')] })).toEqual([
      'inputs.1.name must be unique, and a is repeated',
    ]);
  });
});

test('a change contains no defaults for members that are left out', () => {
  expect(applicationChange.parse({ description: 'x' })).toEqual({ description: 'x' });
});

test('a reader accepts values and members of a newer service', () => {
  const spec = applicationSpec.parse({
    inputs: [{ name: 'a', type: 'date', hint: 'x' }],
    parts: [{ name: 'web', needs: [{ part: 'db', until: 'healthy' }], ports: [{ containerPort: 80, tls: true }] }],
    other: 1,
  });
  expect(spec.inputs).toMatchObject([{ type: 'date', required: true, default: null }]);
  expect(spec.parts).toMatchObject([
    {
      image_tag: 'latest',
      needs: [{ until: 'healthy' }],
      ports: [{ containerPort: 80, protocol: 'TCP', publish: false }],
    },
  ]);
  expect(application.safeParse({}).success).toBe(false);
});
