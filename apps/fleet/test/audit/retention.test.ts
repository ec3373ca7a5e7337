import { randomUUID } from 'node:crypto';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const DAY = 24 * 60 * 60 * 1000;
const REFUSED = 'audit entries cannot be changed or deleted';
const BEFORE = new Date('2026-02-01T00:00:00.000Z');

const anEntry = (at: Date) =>
  client.auditEntry.create({
    data: { id: randomUUID(), at, actor: 'somebody', method: 'GET', path: '/', status: 200, request_id: '' },
  });
const forget = async (before: Date, entry: string = randomUUID()): Promise<number> => {
  const [row] = await client.$queryRaw<{ gone: number }[]>`SELECT audit_forget(${before}, ${entry}::uuid) AS gone`;
  return row?.gone ?? Number.NaN;
};
const ids = async () => (await client.auditEntry.findMany({ select: { id: true } })).map(({ id }) => id);

test('the retention deletes old audit entries, keeps younger ones, and adds one entry for the deletion', async () => {
  const old = await anEntry(new Date(BEFORE.getTime() - 1));
  const young = await anEntry(BEFORE);
  const id = randomUUID();
  expect(await forget(BEFORE, id)).toBe(1);
  expect(await ids()).not.toContain(old.id);
  expect(await ids()).toContain(young.id);
  expect(await client.auditEntry.findUnique({ where: { id } })).toMatchObject({
    actor: 'retention',
    method: 'DELETE',
    path: 'entries before 2026-02-01T00:00:00Z: 1',
    token_id: null,
    user_id: null,
  });
});

test('the retention adds no audit entry if no entry is old', async () => {
  const before = await ids();
  expect(await forget(new Date(BEFORE.getTime() - 100 * DAY))).toBe(0);
  expect(await ids()).toEqual(before);
});

test('the retention deletes nothing if its own audit entry cannot be stored', async () => {
  const old = await anEntry(new Date(0));
  const taken = await anEntry(new Date());
  await expect(forget(BEFORE, taken.id)).rejects.toThrow('audit_entries_pkey');
  expect(await ids()).toContain(old.id);
});

test.each(['UPDATE audit_entries SET status = 200', 'DELETE FROM audit_entries', 'TRUNCATE audit_entries'])(
  'in the transaction of the retention, %s is still rejected',
  async (statement) => {
    await anEntry(new Date(0));
    const before = await ids();
    const both = client.$transaction([
      client.$queryRaw`SELECT audit_forget(${BEFORE}, ${randomUUID()}::uuid)`,
      client.$executeRawUnsafe(statement),
    ]);
    await expect(both).rejects.toThrow(REFUSED);
    expect(await ids()).toEqual(before);
  },
);

test('the setting that permits the deletion of audit entries has no effect outside the retention, even for the session', async () => {
  await anEntry(new Date(0));
  await expect(
    client.$transaction(async (transaction) => {
      await transaction.$executeRaw`SELECT set_config('fleet.audit_retention', '1', false)`;
      await transaction.$executeRaw`DELETE FROM audit_entries`;
    }),
  ).rejects.toThrow(REFUSED);
});

test('no request of the API changes or removes an audit entry', async () => {
  await world.asAdmin.get('/api/v1/audit');
  const [entry] = (await world.asAdmin.get('/api/v1/audit')).body.entries;
  const before = await ids();
  for (const method of ['PUT', 'POST', 'DELETE', 'PATCH']) {
    for (const path of ['/api/v1/audit', `/api/v1/audit/${entry.id}`]) {
      const { status } = await world.asAdmin.send({ method, path });
      expect([404, 405]).toContain(status);
    }
  }
  expect(await ids()).toEqual(expect.arrayContaining(before));
  expect(await client.auditEntry.findUnique({ where: { id: entry.id } })).toMatchObject({ path: entry.path });
});
