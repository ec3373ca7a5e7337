import { startWorld } from '../world.ts';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from './console.ts';

const LIMIT = 20;
const world = await startWorld({ publicUrl: CONSOLE_URL });
const { api } = world.aReplica({ publicUrl: CONSOLE_URL, requestsPerMinute: LIMIT });
afterAll(() => world.stop());

const statusesOf = async (count: number, send: () => Promise<{ readonly status: number }>) => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) statuses.push((await send()).status);
  return statuses;
};

test('the requests of sessions count per session, also from one address', async () => {
  const from = { 'X-Forwarded-For': '198.51.100.20' };
  const browsers = await Promise.all(
    [1, 2, 3].map(async () => {
      const { email, password } = await world.aUser('viewer');
      const opened = await api().post(SESSION, { email, password }, { ...OF_CONSOLE, ...from });
      const headers = { ...OF_CONSOLE, ...from, Cookie: cookieIn(opened) };
      return () => api().get(SESSION, headers);
    }),
  );
  for (const send of browsers) expect(new Set(await statusesOf(LIMIT - 5, send))).toEqual(new Set([200]));
  const [first = () => Promise.reject(new Error('no browser'))] = browsers;
  expect((await statusesOf(LIMIT, first)).at(-1)).toBe(429);
  expect((await api().get(SESSION, from)).status).toBe(200);
});

test('the access token of a session counts for the session, too', async () => {
  const user = await world.aUser('viewer');
  const caller = api(`Bearer ${(await user.signIn()).access_token}`);
  const from = (address: string) => () => caller.get('/api/v1/auth/me', { 'X-Forwarded-For': address });
  await statusesOf(LIMIT, from('198.51.100.30'));
  expect((await statusesOf(3, from('198.51.100.31'))).at(-1)).toBe(429);
});

test('cookies and tokens that are not valid count for the address', async () => {
  const from = { 'X-Forwarded-For': '198.51.100.40' };
  const cookie = 'fleet-session-00000000=';
  let count = 0;
  const send = () => api().get(SESSION, { ...OF_CONSOLE, ...from, Cookie: `__Host-${cookie}${count++}` });
  expect((await statusesOf(LIMIT + 1, send)).at(-1)).toBe(429);
});
