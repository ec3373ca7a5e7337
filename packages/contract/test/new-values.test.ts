import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { fleetEndpoints } from '../src/fleet/index.ts';
import { hubEndpoints } from '../src/hub/index.ts';
import {
  byteProblem,
  categoryChange,
  categoryInFile,
  name,
  newCategory,
  newTemplate,
  newValueProblems,
  parseFields,
  templateChange,
  templateInFile,
} from '../src/index.ts';

const ID = '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10';
const problemsIn = (schema: z.ZodType, value: object) => {
  const parsed = parseFields(schema, value);
  return parsed.success ? [] : parsed.errors.map(({ path, message }) => `${path}: ${message}`);
};

test.each([
  ['500m', 'must not have the unit m, which is a fraction of a byte; did you mean 500Mi?'],
  ['1m', 'must not have the unit m, which is a fraction of a byte; did you mean 1Gi?'],
  ['8000000000000m', 'must not have the unit m, which is a fraction of a byte; did you mean 8000000000000Mi?'],
  ['100n', 'must not have the unit n, which is a fraction of a byte; did you mean 100Mi?'],
  ['0.5', 'must be at least 4Mi; did you mean 0.5Gi?'],
  ['1e3', 'must be at least 4Mi; did you mean 1Gi?'],
  ['512', 'must be at least 4Mi; did you mean 512Mi?'],
  ['100Ki', 'must be at least 4Mi; did you mean 100Mi?'],
  ['3.9Mi', 'must be at least 4Mi; did you mean 3.9Gi?'],
])('the quantity %s of memory or storage is refused with the likely meaning', (quantity, problem) => {
  expect(byteProblem(quantity)).toBe(problem);
});

test.each(['', '0', '0.0', '4Mi', '4194304', '8Gi', '0.5Gi', '1e9', '2E', '64M'])(
  'the quantity %j is accepted',
  (quantity) => {
    expect(byteProblem(quantity)).toBeUndefined();
  },
);

test.each(['\u202eevil', 'a\u200bb', 'a\u2066b', 'a\ufeffb', 'a\u00adb', 'a\u{e0041}b', 'a\u061cb'])(
  'a new name cannot contain an invisible character: %j',
  (given) => {
    const parsed = parseFields(name, given);
    expect(parsed.success ? '' : parsed.errors[0]?.message).toMatch(
      /^must not contain invisible characters.* U\+[0-9A-F]{4,5}$/,
    );
  },
);

test.each(['Ada', 'Zürich', '日本語', 'می‌خواهم', '👩‍🚀 lab'])('a new name can be %s', (given) => {
  expect(parseFields(name, given).success).toBe(true);
});

test.each(['unix:///&42J%!95`', 'unix:///run/%', 'unix:///run/%ff.sock', 'unix:///run/a%00.sock'])(
  'the address %s of an engine is refused, because it is no path',
  (endpoint) => {
    const problem =
      'must have a path in which each % begins an encoded character, such as %20 for a space or %25 for %';
    expect(problemsIn(fleetEndpoints.checkNewHost.body, { engine: 'podman', endpoint })).toEqual([
      `endpoint: ${problem}`,
    ]);
  },
);

test.each(['unix:///run/podman.sock', 'unix:///run/a%20b/%C3%A4.sock', 'unix:///run/ä.sock', 'tcp://host:2375'])(
  'an engine can have the address %s',
  (endpoint) => {
    expect(problemsIn(fleetEndpoints.checkNewHost.body, { engine: 'podman', endpoint })).toEqual([]);
  },
);

test('new values of a template are refused in requests, and are warnings in catalog files', () => {
  const values = {
    name: 'a\u200bb',
    version: '1.0\u202e',
    tags: ['gpu', 'g\u2060pu'],
    memory_request: '500m',
    vram_request: '1',
    icon_url: 'https://ada:secret@example.test/icon.png',
  };
  const paths = ['name', 'version', 'tags', 'memory_request', 'vram_request', 'icon_url'];
  const template = { ...values, category_id: ID };
  expect(problemsIn(newTemplate, template).map((problem) => problem.split(':')[0])).toEqual(paths);
  expect(problemsIn(templateChange, values).map((problem) => problem.split(':')[0])).toEqual(paths);
  expect(problemsIn(templateChange, { icon_url: 'https:icon.png' })).toEqual([
    'icon_url: must be an absolute https URL',
  ]);
  expect(problemsIn(templateInFile, template)).toEqual([]);
  expect(newValueProblems(values).map(({ path }) => path)).toEqual(paths);
});

test('a change that does not name a member is not refused for its stored value', () => {
  expect(problemsIn(templateChange, { description: 'x', memory_request: '' })).toEqual([]);
});

test('the icon of a category is refused in requests, and is a warning in catalog files', () => {
  const category = { name: 'Databases', icon: 'data\u202ebase' };
  expect(problemsIn(newCategory, category).map((problem) => problem.split(':')[0])).toEqual(['icon']);
  expect(problemsIn(categoryChange, category).map((problem) => problem.split(':')[0])).toEqual(['icon']);
  expect(problemsIn(categoryInFile, category)).toEqual([]);
  expect(newValueProblems(category).map(({ path }) => path)).toEqual(['icon']);
});

/** Members by which people recognize an object. Other names have a pattern without such characters. */
const NAMES = ['name', 'email', 'version', 'tags', 'icon', 'model'];

test('no name in a request of either service can contain an invisible character', () => {
  const accepted: string[] = [];
  let tried = 0;
  for (const { operationId, body } of [...Object.values(hubEndpoints), ...Object.values(fleetEndpoints)]) {
    for (const [member, rule] of Object.entries(shapeOf(body))) {
      if (!NAMES.includes(member) || operationId === 'login' || operationId === 'openBrowserSession') continue;
      if (parseFields(rule, { any: 'value' }).success) continue; // it is read-only, and ignored
      tried += 1;
      const value = member === 'email' ? 'a\u200bda@example.test' : 'a\u200bb';
      const given = member === 'tags' ? [value] : value;
      // The rules for new values of templates and workloads apply to the whole body.
      const isRefused = !parseFields(rule, given).success || newValueProblems({ [member]: given }).length > 0;
      if (!isRefused) accepted.push(`${operationId} ${member}`);
    }
  }
  expect(accepted).toEqual([]);
  expect(tried).toBeGreaterThan(15);
});

const shapeOf = (schema: z.ZodType): Readonly<Record<string, z.ZodType>> =>
  schema instanceof z.ZodObject ? schema.shape : {};

test('the model of a GPU cannot contain an invisible character', () => {
  const { body } = fleetEndpoints.createHost;
  const parsed = parseFields(shapeOf(body).gpus ?? z.never(), [{ id: '0', model: 'A\u200b100' }]);
  expect(parsed.success ? [] : parsed.errors.map(({ path }) => path)).toEqual(['0.model']);
});
