import { byDepth } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
const replicas = [world, world.aReplica()];
const ROUNDS = byDepth({ short: 4, full: 20, long: 200 });
const TIME_LIMIT_MS = 30_000 + 1000 * ROUNDS;
afterAll(() => world.stop());

const refreshAt = (index: number, refresh_token: string) =>
  replicas[index % replicas.length]?.api().post('/api/v1/auth/refresh', { refresh_token });
const meWith = async (access_token: string) =>
  (await world.api(`Bearer ${access_token}`).get('/api/v1/auth/me')).status;

test('ten uses at the same moment, on two replicas, are one use whose answer was lost', async () => {
  const user = await world.aUser('viewer');
  const { refresh_token } = await user.signIn();
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => refreshAt(index, refresh_token)));
  const given = answers.map((answer) => answer?.body.refresh_token);
  expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
  expect(new Set(given).size).toBe(10);
  for (const answer of answers) expect(await meWith(answer?.body.access_token)).toBe(200);
});

test(
  'two successors that are used at the same moment end the session, whoever of them hears what',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { refresh_token } = await world.signIn();
      const [first, second] = [await refreshAt(0, refresh_token), await refreshAt(1, refresh_token)];
      const used = await Promise.all([first, second].map((pair, index) => refreshAt(index, pair?.body.refresh_token)));
      expect(used.map((answer) => answer?.body.code)).toContain('invalid_grant');
      for (const answer of [first, second, ...used]) {
        if (answer?.status === 200) expect(await meWith(answer.body.access_token)).toBe(401);
      }
    }
  },
  TIME_LIMIT_MS,
);

test(
  'refreshed and logged out at the same moment, a session is over',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { access_token, refresh_token } = await world.signIn();
      const [refreshed, left] = await Promise.all([
        refreshAt(round, refresh_token),
        world.api(`Bearer ${access_token}`).post('/api/v1/auth/logout'),
      ]);
      expect(left.status).toBe(204);
      if (refreshed?.status === 200) {
        expect(await meWith(refreshed.body.access_token)).toBe(401);
        expect((await refreshAt(round, refreshed.body.refresh_token))?.status).toBe(401);
      } else {
        expect(refreshed?.body.code).toBe('invalid_grant');
      }
    }
  },
  TIME_LIMIT_MS,
);

test.each([
  ['of a local user', 7 * 24, async () => (await world.aUser('viewer')).signIn()],
  ['of the temporary admin', 24, () => world.signIn()],
])('a session %s lasts %d hours, by the clock of the database', async (_, hours, signIn) => {
  const sql = world.database.client;
  await sql.session.deleteMany();
  const { access_token, refresh_token } = await signIn();
  const rows = await sql.$queryRaw`
    SELECT extract(epoch FROM expires_at - created_at)::int / 3600 AS hours FROM sessions`;
  expect(rows).toEqual([{ hours }]);
  await sql.$executeRaw`UPDATE sessions SET expires_at = now() + interval '1 minute'`;
  expect(await meWith(access_token)).toBe(200);
  await sql.$executeRaw`UPDATE sessions SET expires_at = now()`;
  expect(await meWith(access_token)).toBe(401);
  expect((await refreshAt(1, refresh_token))?.body.code).toBe('invalid_grant');
});
