// The procedure of docs/backup.md for lost encryption keys: its statements, and a fleet with a new
// key.
import fs from 'node:fs';
import path from 'node:path';
import { onServer } from '@svc/testing';
import { aKey, startProcessWorld } from '../process-world.ts';
import { openSealedRows, sealerOf } from '../secrets/sealed-rows.ts';

const DOCUMENT = path.resolve(import.meta.dirname, '../../../../docs/backup.md');
const lost = aKey('lost');
const created = aKey('new');

const world = await startProcessWorld({ isMigrated: true });
const rows = openSealedRows(world.database.url);
afterAll(async () => {
  await world.endAll();
  await rows.stop();
  await world.database.drop();
});

/** The statements of the documentation. */
function statements(): string {
  const [, sql] = /^ *```sql\n([\s\S]*?)^ *```$/m.exec(fs.readFileSync(DOCUMENT, 'utf8')) ?? [];
  if (sql === undefined) throw new Error('the documentation contains no SQL');
  return sql;
}

test('after the documented statements, a fleet with a new key starts, keeps its rows, and stores values again', async () => {
  const before = await world.startFleet({ ENCRYPTION_KEYS: lost });
  await rows.fill(sealerOf(lost)); // every column with encrypted values has some
  const { secret: token } = await world.createToken('admin');
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const send = async (url: string, method: string, body: object) => {
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const values = { name: 'registry', values: { key: 'before' } };
  const { status, body } = await send(`${before.url}/api/v1/secrets`, 'POST', values);
  expect(status).toBe(201);
  await world.stop(before);

  const refused = world.run([], { DATABASE_URL: world.database.url, ENCRYPTION_KEYS: created, PORT: '0' });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toEqual(expect.stringContaining('no key "lost"'));
  await onServer(world.database.url, (client) => client.query(`BEGIN; ${statements()} COMMIT`));

  const fleet = await world.startFleet({ ENCRYPTION_KEYS: created });
  const ready = JSON.parse(await (await fetch(`${fleet.url}/readyz`)).text());
  expect(ready.checks).toContainEqual({ name: 'encryption keys', state: 'ok' });
  const changed = await send(`${fleet.url}/api/v1/secrets/${body.secret.id}`, 'PUT', { values: { key: 'after' } });
  expect(changed.status).toBe(200);
  expect(await rows.keysInUse()).toEqual(['new']);
  await world.stop(fleet);
});
