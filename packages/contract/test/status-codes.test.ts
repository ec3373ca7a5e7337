import { expect, test } from '@jest/globals';
import { fleetService, hubService } from '../src/index.ts';
import { withTables } from '../src/openapi/status-codes.ts';

const empty =
  '# P\n<!-- begin problems -->\n\n<!-- end problems -->\n<!-- begin successes -->\n\n<!-- end successes -->\n';

test('the tables of status codes replace the previous ones, and keep the rest of the page', () => {
  const page = withTables(empty, [hubService, fleetService]);
  expect(page).toMatch(/^# P\n.*\n\| status \| code /);
  expect(page).toContain('| 304 | ');
  expect(withTables(page, [hubService, fleetService])).toBe(page);
  expect(() => withTables('# P\n', [hubService])).toThrow('has no place for the table of problems');
});

test('a problem is listed with the services that declare it', () => {
  const page = withTables(empty, [hubService, fleetService]);
  expect(page).toMatch(/\| 409 \| `category_in_use` \| hub \|/);
  expect(page).toMatch(/\| 422 \| `no_placement` \| fleet \|/);
  expect(page).toMatch(/\| 405 \| `method_not_allowed` \| hub, fleet \|/);
});
