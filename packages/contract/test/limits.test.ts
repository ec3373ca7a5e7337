import { describe, expect, test } from '@jest/globals';
import {
  limitsBelowRequests,
  restrictedRoot,
  templateConflicts,
  templateDefaults,
  templateFields,
} from '../src/index.ts';
import { amountOf } from '../src/template/quantity.ts';

test.each<[string, number | undefined]>([
  ['', undefined],
  ['2', 2],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['1.', 1],
  ['300m', 0.3],
  ['1001m', 1.001],
  ['5u', 5e-6],
  ['7n', 7e-9],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['3M', 3e6],
  ['1e3', 1000],
  ['1E-3', 0.001],
  ['2E', 2e18],
  ['much', undefined],
  ['5Mb', undefined],
])('the quantity %p is the number %p', (quantity, expected) => {
  expect(amountOf(quantity)).toBe(expected);
});

describe('a limit', () => {
  const paths = (given: Partial<typeof templateDefaults>) =>
    limitsBelowRequests({ ...templateDefaults, ...given }).map(({ path }) => path);

  test('can be absent, equal to the request, or greater', () => {
    expect(paths({ cpu_request: '2', memory_request: '1Gi' })).toEqual([]);
    expect(paths({ cpu_request: '500m', cpu_limit: '0.5', memory_request: '1Gi', memory_limit: '1024Mi' })).toEqual([]);
    expect(paths({ cpu_limit: '100m', memory_limit: '64Mi' })).toEqual([]);
  });

  test('must not be less than the request', () => {
    expect(paths({ cpu_request: '500m', cpu_limit: '499m' })).toEqual(['cpu_limit']);
    expect(paths({ memory_request: '1Gi', memory_limit: '1G' })).toEqual(['memory_limit']);
  });
});

describe('the user of a container', () => {
  test.each(['0', '1000', '1000:1000', '0:0', '1999999999:1'])('can be %s', (run_as) => {
    expect(templateFields.run_as.safeParse(run_as).success).toBe(true);
  });

  test.each(['root', '', '01', '-1', '1000:', ':1000', '1000:users', '1:2:3', '2000000000', '1.5', ' 1000'])(
    'cannot be %p',
    (run_as) => {
      expect(templateFields.run_as.safeParse(run_as).success).toBe(false);
    },
  );

  test.each<[string, string | null, boolean]>([
    ['restricted', '0', true],
    ['restricted', '0:1000', true],
    ['restricted', '1000:0', false],
    ['restricted', null, false],
    ['baseline', '0', false],
  ])('with the profile %s, %p is a conflict: %p', (security_profile, run_as, isConflict) => {
    expect(restrictedRoot({ security_profile, run_as })).toHaveLength(isConflict ? 1 : 0);
  });
});

test('conflicts name the members that cause them, so that another change of a template is accepted', () => {
  const conflicts = templateConflicts({
    ...templateDefaults,
    cpu_request: '2',
    cpu_limit: '1',
    security_profile: 'restricted',
    run_as: '0',
  });
  expect(conflicts.map(({ path, members }) => [path, members])).toEqual([
    ['cpu_limit', ['cpu_limit', 'cpu_request']],
    ['run_as', ['security_profile', 'run_as']],
  ]);
});
