// The issuer goes away, comes back, changes its keys, or is named with a slash.
import { startLocalIssuer } from '@svc/testing';
import { readConfig } from '../../src/config.ts';
import { anInstance, startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
const PATH = '/api/v1/catalog/templates';

/** A hub and an issuer of its own: what one test asks it doesn't count for the others. */
async function aPair(path: '' | '/' = '') {
  const issuer = await startLocalIssuer('https://hub.example.test', { path });
  const hub = anInstance(world.databaseUrl, issuer);
  return {
    issuer,
    answerTo: async (token: string) => hub.api(`Bearer ${token}`).get(PATH),
    stop: async () => {
      await hub.stop();
      await issuer.close();
    },
  };
}

test('without any known key the answer is 503 and says when to come again, and the first answer of the issuer ends it', async () => {
  const { issuer, answerTo, stop } = await aPair();
  const token = await issuer.sign('early');
  await issuer.goAway();
  const answer = await answerTo(token);
  expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  await issuer.comeBack();
  expect((await answerTo(token)).status).toBe(200);
  await stop();
});

test('known keys go on working while the issuer is away, and unknown ones are refused', async () => {
  const { issuer, answerTo, stop } = await aPair();
  expect((await answerTo(await issuer.sign('known'))).status).toBe(200);
  await issuer.goAway();
  expect((await answerTo(await issuer.sign('known'))).status).toBe(200);
  await issuer.rotate();
  expect((await answerTo(await issuer.sign('known'))).status).toBe(401);
  await issuer.comeBack();
  await stop();
});

test('new keys work at first use, and what the old ones signed is refused from then on', async () => {
  const { issuer, answerTo, stop } = await aPair();
  const old = await issuer.sign('rotating');
  expect((await answerTo(old)).status).toBe(200);
  await issuer.rotate();
  expect((await answerTo(await issuer.sign('rotating'))).status).toBe(200);
  expect((await answerTo(old)).status).toBe(401);
  await stop();
});

test('an issuer with a slash behind is compared to the letter', async () => {
  const { issuer, answerTo, stop } = await aPair('/');
  expect(issuer.issuer).toMatch(/\/$/);
  expect((await answerTo(await issuer.sign('slash'))).status).toBe(200);
  expect((await answerTo(await issuer.sign('slash', { iss: issuer.issuer.slice(0, -1) }))).status).toBe(401);
  await stop();
});

test.each(['https://x.example.test', 'https://x.example.test/', 'https://x.example.test/realms/a/'])(
  'OIDC_ISSUER=%s is kept to the letter',
  (OIDC_ISSUER) => {
    const rest = { DATABASE_URL: 'postgresql://127.0.0.1/hub', OIDC_AUDIENCE: 'hub' };
    expect(readConfig({ ...rest, OIDC_ISSUER }).OIDC_ISSUER).toBe(OIDC_ISSUER);
  },
);
