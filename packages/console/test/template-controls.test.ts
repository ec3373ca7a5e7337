import { describe, expect, test } from '@jest/globals';
import {
  adviceDefaults,
  INTERNAL_MARKER,
  isSecretVariable,
  type TemplateControl,
  templateControls,
  templateDefaults,
} from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { bodyOf, changedMembers, draftOf } from '../src/hub/templates/template-draft.ts';
import { type Input, inputOf, objectInput, partsOf, valueOfInput } from '../src/shared/catalog/control-values.ts';

const withoutIds = (input: Input) => (typeof input === 'object' ? input.map(({ members }) => members) : input);

/** One control of each kind: the input that stands for a value, and the value as short texts. */
const kinds: {
  readonly [K in TemplateControl['control']['kind']]: {
    readonly control: TemplateControl['control'] & { readonly kind: K };
    readonly value: unknown;
    readonly input: unknown;
    readonly parts: readonly string[];
  };
} = {
  text: { control: { kind: 'text' }, value: '64Mi', input: '64Mi', parts: ['64Mi'] },
  prose: { control: { kind: 'prose' }, value: 'A\nserver', input: 'A\nserver', parts: ['A\nserver'] },
  markdown: { control: { kind: 'markdown' }, value: '# Server\n', input: '# Server\n', parts: ['# Server\n'] },
  source: { control: { kind: 'source' }, value: 'a = 1\n\tb\n', input: 'a = 1\n\tb\n', parts: ['a = 1\n\tb\n'] },
  number: { control: { kind: 'number' }, value: 4, input: '4', parts: ['4'] },
  checkbox: { control: { kind: 'checkbox' }, value: true, input: true, parts: ['true'] },
  select: { control: { kind: 'select', options: { a: 'A', b: 'B' } }, value: 'b', input: 'b', parts: ['b'] },
  words: { control: { kind: 'words', hint: '' }, value: ['a', 'b'], input: 'a b', parts: ['a', 'b'] },
  tags: { control: { kind: 'tags', hint: '' }, value: ['a b', 'c'], input: 'a b, c', parts: ['a b', 'c'] },
  lines: { control: { kind: 'lines', hint: '' }, value: ['a b', 'c'], input: 'a b\nc', parts: ['a b', 'c'] },
  map: {
    control: { kind: 'map', hint: '' },
    value: { a: '1', b: '2=3' },
    input: 'a=1\nb=2=3',
    parts: ['a=1', 'b=2=3'],
  },
  pairs: {
    control: { kind: 'pairs', hint: '', members: ['name', 'path'] },
    value: [{ name: 'data', path: '/data' }],
    input: 'data=/data',
    parts: ['data=/data'],
  },
  ports: {
    control: { kind: 'ports', hint: '' },
    value: [
      { containerPort: 53, protocol: 'UDP' },
      { containerPort: 80, protocol: 'TCP', host_port: 8080 },
    ],
    input: '53/UDP\n80/TCP=8080',
    parts: ['53/UDP', '80/TCP=8080'],
  },
  mounts: {
    control: { kind: 'mounts', hint: '' },
    value: [
      { name: 'data', mountPath: '/data' },
      { name: 'view', mountPath: '/view', read_only: true },
    ],
    input: 'data=/data\nview=/view:ro',
    parts: ['data=/data', 'view=/view:ro'],
  },
  objects: {
    control: {
      kind: 'objects',
      add: 'Add',
      members: {
        name: { label: 'Name', control: { kind: 'text' } },
        count: { label: 'Count', control: { kind: 'number' } },
        required: { label: 'Required', control: { kind: 'checkbox' } },
        effect: { label: 'Effect', control: { kind: 'select', options: { a: 'A' } }, isOptional: true },
        key: { label: 'Key', control: { kind: 'text' }, isOptional: true },
      },
    },
    value: [{ name: 'one', count: 2, required: false, key: 'k' }],
    input: [{ name: 'one', count: '2', required: false, effect: '', key: 'k' }],
    parts: ['one 2 false k'],
  },
};

describe.each(Object.entries(kinds))('the control %s', (_, { control, value, input, parts }) => {
  test('has an input for a value, and the value of that input', () => {
    const shown = inputOf(control, value);
    expect(withoutIds(shown)).toEqual(input);
    expect(valueOfInput({ control, default: '' }, shown)).toEqual(value);
  });

  test('shows a value as short texts', () => {
    expect(partsOf(control, value)).toEqual(parts);
  });
});

test('an empty input of a member that can be null is null, and other empty inputs are empty values', () => {
  const text = { kind: 'text' } as const;
  expect(valueOfInput({ control: text, default: null }, '')).toBeNull();
  expect(valueOfInput({ control: text, default: '' }, '')).toBe('');
  expect(valueOfInput({ control: { kind: 'lines', hint: '' }, default: [] }, '\n')).toEqual([]);
});

test('input is trimmed, a port has the protocol TCP unless it states another one, and words can have commas', () => {
  const hint = '';
  expect(valueOfInput({ control: { kind: 'map', hint }, default: {} }, ' a = 1 \n\nb')).toEqual({ a: '1', b: '' });
  expect(valueOfInput({ control: { kind: 'ports', hint }, default: [] }, '80')).toEqual([
    { containerPort: 80, protocol: 'TCP' },
  ]);
  expect(valueOfInput({ control: { kind: 'words', hint }, default: [] }, ' a,b  c ')).toEqual(['a', 'b', 'c']);
});

test('a new object has an empty input for each member, and the first option of a list that must have a value', () => {
  const select = { kind: 'select', options: { a: 'A', b: 'B' } } as const;
  const { members } = objectInput({
    members: {
      name: { label: 'Name', control: { kind: 'text' } },
      required: { label: 'Required', control: { kind: 'checkbox' } },
      operator: { label: 'Operator', control: select },
      effect: { label: 'Effect', control: select, isOptional: true },
    },
  });
  expect(members).toEqual({ name: '', required: false, operator: 'a', effect: '' });
});

describe('the boxes of a variable', () => {
  const control = templateControls.find(({ name }) => name === 'env_schema')?.control;
  if (control?.kind !== 'objects') throw new Error('env_schema is no list of objects');
  const variable = (description: string) => [{ name: 'A', required: false, default_value: '', description }];
  const membersOf = (description: string) => objectInput(control, variable(description)[0]).members;

  test.each([
    ['Password', 'Password', false, false],
    ['Password [secret]', 'Password', true, false],
    ['Password[secret] ', 'Password', true, false],
    [INTERNAL_MARKER, '', true, true],
    [`Key ${INTERNAL_MARKER}`, 'Key', true, true],
    ['Key [internal]', 'Key [internal]', false, false],
    ['[secret] key', '[secret] key', false, false],
  ])('show what the end of the description %j means', (description, text, secret, internal) => {
    expect(membersOf(description)).toMatchObject({ description: text, secret, internal });
    const value = valueOfInput({ control, default: [] }, inputOf(control, variable(description)));
    expect(isSecretVariable(Object(value)[0])).toBe(secret);
    expect(Object(value)[0].description.endsWith(INTERNAL_MARKER)).toBe(internal);
  });

  test.each([
    [{ secret: true }, 'Key [secret]'],
    [{ secret: true, internal: true }, `Key ${INTERNAL_MARKER}`],
    [{ secret: false, internal: true }, 'Key'],
  ])('%j is stored at the end of the description', (boxes, stored) => {
    const input = [{ id: 1, members: { name: 'A', description: 'Key', default_value: '', required: false, ...boxes } }];
    expect(valueOfInput({ control, default: [] }, input)).toEqual(variable(stored));
  });
});

describe('the form of a template', () => {
  const identity = { name: 'Server', slug: 'server', category_id: '00000000-0000-4000-8000-000000000000' };
  const template = {
    ...templateDefaults,
    ...adviceDefaults,
    ...identity,
    id: '',
    category_name: '',
    category_slug: '',
    category_icon: '',
    download_count: 0,
    created_at: '',
    updated_at: '',
    owner_org_id: null,
    resource_version: 1,
    warnings: [],
  };

  test('has a control for each member that a publisher can set', () => {
    const accepted = Object.keys(hubEndpoints.createTemplate.body.parse(identity));
    const inForm = [...Object.keys(identity), ...templateControls.map(({ name }) => name)];
    expect(accepted.filter((name) => !['owner_org_id', 'signatures'].includes(name)).sort()).toEqual(inForm.sort());
  });

  test.each(templateControls.map((member) => [member.name, member] as const))('edits %s', (name, member) => {
    const before = draftOf(templateControls, template);
    const now = { ...before, [name]: inputOf(member.control, member.example) };
    expect(changedMembers(templateControls, before, now)).toEqual({ [name]: member.example });
    expect(bodyOf(templateControls, before)).toEqual({ ...templateDefaults, ...identity });
  });

  test('edits a new member of the contract without a change of the console', () => {
    // The contract has no member with this name.
    const added = {
      name: 'shm_size',
      topic: 'resources',
      label: 'Shared memory',
      control: { kind: 'text' },
      default: '',
      example: '64Mi',
    } as unknown as TemplateControl;
    const controls = [...templateControls, added];
    const withSize = { ...template, shm_size: '1Gi' };
    const before = draftOf(controls, withSize);
    expect(before).toMatchObject({ shm_size: '1Gi', version: '1.0.0' });
    const changed = { ...before, shm_size: '64Mi' };
    expect(changedMembers(controls, before, changed)).toEqual({ shm_size: '64Mi' });
    expect(bodyOf(controls, draftOf(controls))).toMatchObject({ shm_size: '', version: '1.0.0' });
  });

  test('leaves out an empty slug, which the service derives from the name', () => {
    const draft = draftOf(templateControls);
    expect(bodyOf(templateControls, draft)).toEqual({ ...templateDefaults, name: '', category_id: '' });
    expect(bodyOf(templateControls, { ...draft, slug: 'server' })).toHaveProperty('slug', 'server');
  });
});
