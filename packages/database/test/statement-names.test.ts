import { expect, test } from '@jest/globals';
import { createStatementNames } from '../src/index.ts';

test('each text has its own name, up to the maximum', () => {
  const nameOf = createStatementNames(2);
  const names = ['SELECT 1', 'SELECT 2', 'SELECT 1', 'SELECT 3'].map((sql) => nameOf({ sql }));
  expect(names).toEqual(['statement_0', 'statement_1', 'statement_0', '']);
});

test.each([
  ['SELECT count(*) FROM hosts', true],
  ['SELECT * FROM hosts', false],
  ['SELECT page.* FROM (SELECT id FROM hosts) page', false],
  ['UPDATE hosts SET name = $1 RETURNING *', false],
  ['SELECT id, * FROM hosts', false],
  ['SELECT DISTINCT ON (name) * FROM hosts', false],
  ['SELECT DISTINCT ON (lower(name)) * FROM hosts', false],
  ['SELECT DISTINCT ON (name) *, 1 FROM hosts', false],
  ['SELECT DISTINCT ON (name) id FROM hosts', true],
  ['select *\n from hosts', false],
  ['SELECT cpu_millis * 2 FROM hosts', true],
  ['UPDATE hosts SET check_at = now() + (1 + random()) * $1 RETURNING id', true],
])('%s is prepared: %s', (sql, isPrepared) => {
  expect(createStatementNames(10)({ sql }) !== '').toBe(isPrepared);
});
