import { settledAuditNumber } from '@svc/database';
import { eventually } from '@svc/testing';
import { insert, startDeliveryWorld } from './world.ts';

const world = await startDeliveryWorld();
const { query } = world;
afterAll(() => world.stop());

const [one, other] = [await world.aConnection(), await world.aConnection()];
const numbers = async () =>
  (await one.query('SELECT seq::int FROM audit_entries ORDER BY seq')).rows.map(({ seq }) => seq);

test('the settled number is that of the last entry, also after entries that were rolled back', async () => {
  await insert(one, 'kept');
  await one.query('BEGIN');
  await insert(one, 'rolled back');
  await one.query('ROLLBACK');
  expect(await settledAuditNumber(query)).toBe(2n);
  expect(await numbers()).toEqual([1]);
});

test('the settled number waits for a transaction that has written, and not for one that writes later', async () => {
  await one.query('BEGIN');
  await insert(one, 'early');
  let settled: bigint | undefined;
  let statements = 0;
  const counted: typeof query = async (...given) => {
    const rows = await query(...given);
    statements += 1;
    return rows;
  };
  const settling = settledAuditNumber(counted).then((number) => {
    settled = number;
  });
  await eventually('the number and its writers were read', () => statements >= 2);
  await other.query('BEGIN');
  await insert(other, 'later');
  expect(settled).toBeUndefined();
  await one.query('COMMIT');
  await settling;
  expect(settled).toBe(3n);
  await other.query('COMMIT');
});

test('the settled number waits for no transaction if there is no entry after the known one', async () => {
  const last = await settledAuditNumber(query);
  await one.query('BEGIN');
  await one.query('DELETE FROM audit_entries WHERE false'); // takes the lock of a writer, and no number
  expect(await settledAuditNumber(query, { after: last })).toBe(last);
  await one.query('COMMIT');
});

test('a transaction that does not end is a 503, and a reader locks out no writer', async () => {
  await one.query('BEGIN');
  await insert(one, 'stuck');
  const settling = settledAuditNumber(query, { waitMs: 50 });
  await insert(other, 'unaffected');
  await expect(settling).rejects.toMatchObject({ code: 'unavailable' });
  await one.query('COMMIT');
  await eventually('the number is settled', () => settledAuditNumber(query), { until: (number) => number === 6n });
});
