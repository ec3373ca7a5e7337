// The connection is lost at COMMIT: the caller cannot know whether the change was committed. The
// audit log states it.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { openDatabase } from '../../src/database/client.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const proxy = await startProxy(new URL(world.databaseUrl));
const behind = openDatabase(proxy.url(world.databaseUrl), () => undefined);
const { api } = world.aReplica({ database: behind });
afterAll(async () => {
  await behind.close();
  await proxy.stop();
  await world.stop();
});

/**
 * A proxy between a fleet and its database that can drop the response of PostgreSQL to a COMMIT, or
 * the COMMIT itself.
 */
async function startProxy(server: URL) {
  let lose: 'nothing' | 'the COMMIT' | 'its answer' = 'nothing';
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const side of [socket, upstream]) sockets.add(side.on('error', () => side.destroy()));
    const hangUp = () => [socket, upstream].forEach((side) => void side.destroy());
    let silent = false;
    socket.on('close', hangUp).on('data', (chunk) => {
      const isCommit = chunk.includes('COMMIT');
      if (isCommit && lose === 'the COMMIT') return hangUp();
      if (isCommit && lose === 'its answer') silent = true;
      upstream.write(chunk);
    });
    upstream.on('close', hangUp).on('data', (chunk) => (silent ? hangUp() : socket.write(chunk)));
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  // A server that listens on a port has an AddressInfo.
  const { port } = listener.address() as AddressInfo;
  return {
    url: (address: string) => Object.assign(new URL(address), { host: `127.0.0.1:${port}` }).href,
    losing: async <T>(what: typeof lose, work: () => Promise<T>): Promise<T> => {
      lose = what;
      try {
        return await work();
      } finally {
        lose = 'nothing';
      }
    },
    stop: async () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Creates a token while COMMITs fail. @returns the response, whether the token exists, and the
 * entries of its creator
 */
async function createWhileLosing(what: 'the COMMIT' | 'its answer') {
  const maker = await world.aToken({ role: 'admin' });
  const name = `made while ${what} was lost`;
  const as = api(`Bearer ${maker.secret}`);
  const answer = await proxy.losing(what, () => as.post('/api/v1/tokens', { name, role: 'viewer' }));
  const entries = await client.auditEntry.findMany({ where: { token_id: maker.id } });
  return { answer: [answer.status, answer.body.code], made: await client.token.count({ where: { name } }), entries };
}

test('if the response to COMMIT is lost, a change that was committed has one audit entry, with the status of the change', async () => {
  const { answer, made, entries } = await createWhileLosing('its answer');
  expect({ answer, made }).toEqual({ answer: [503, 'unavailable'], made: 1 });
  expect(entries).toMatchObject([{ method: 'POST', path: '/api/v1/tokens', status: 201 }]);
});

test('if the COMMIT is lost, a change that was not committed has one audit entry, with status 503', async () => {
  const { answer, made, entries } = await createWhileLosing('the COMMIT');
  expect({ answer, made }).toEqual({ answer: [503, 'unavailable'], made: 0 });
  expect(entries).toMatchObject([{ method: 'POST', path: '/api/v1/tokens', status: 503 }]);
});

test('a backend that is terminated in COMMIT causes a 503 with one audit entry', async () => {
  await client.$executeRaw`
    CREATE FUNCTION end_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(0.1); RETURN NULL; END $$`;
  await client.$executeRaw`
    CREATE CONSTRAINT TRIGGER end_at_commit AFTER INSERT ON tokens DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.name = 'ended') EXECUTE FUNCTION end_at_commit()`;
  const maker = await world.aToken({ role: 'admin' });
  const { status } = await world.as(maker).post('/api/v1/tokens', { name: 'ended', role: 'viewer' });
  expect(status).toBe(503);
  expect(await client.token.count({ where: { name: 'ended' } })).toBe(0);
  expect(await client.auditEntry.findMany({ where: { token_id: maker.id } })).toMatchObject([{ status: 503 }]);
});
