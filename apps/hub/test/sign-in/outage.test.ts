// The issuer is unreachable, becomes reachable again, rotates its keys, or has a trailing slash.
import { startLocalIssuer } from '@svc/testing';
import { readConfig } from '../../src/config.ts';
import { anInstance, startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
const PATH = '/api/v1/catalog/templates';

/** A hub with its own issuer, so that tests do not share cached keys. */
async function aHubWithIssuer(path: '' | '/' = '') {
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

test('answers 503 with Retry-After until the issuer has returned its keys', async () => {
  const { issuer, answerTo, stop } = await aHubWithIssuer();
  const token = await issuer.sign('early');
  await issuer.stopListening();
  const answer = await answerTo(token);
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  await issuer.startListening();
  expect((await answerTo(token)).status).toBe(200);
  await stop();
});

test('accepts known signing keys and rejects unknown ones while the issuer is unreachable', async () => {
  const { issuer, answerTo, stop } = await aHubWithIssuer();
  expect((await answerTo(await issuer.sign('known'))).status).toBe(200);
  await issuer.stopListening();
  expect((await answerTo(await issuer.sign('known'))).status).toBe(200);
  await issuer.rotate();
  expect((await answerTo(await issuer.sign('known'))).status).toBe(401);
  await issuer.startListening();
  await stop();
});

test('accepts a rotated signing key at its first use, and rejects the old key from then on', async () => {
  const { issuer, answerTo, stop } = await aHubWithIssuer();
  const old = await issuer.sign('rotating');
  expect((await answerTo(old)).status).toBe(200);
  await issuer.rotate();
  expect((await answerTo(await issuer.sign('rotating'))).status).toBe(200);
  expect((await answerTo(old)).status).toBe(401);
  await stop();
});

test('compares the issuer exactly, including a trailing slash', async () => {
  const { issuer, answerTo, stop } = await aHubWithIssuer('/');
  expect(issuer.issuer).toMatch(/\/$/);
  expect((await answerTo(await issuer.sign('slash'))).status).toBe(200);
  expect((await answerTo(await issuer.sign('slash', { iss: issuer.issuer.slice(0, -1) }))).status).toBe(401);
  await stop();
});

test.each(['https://x.example.test', 'https://x.example.test/', 'https://x.example.test/realms/a/'])(
  'OIDC_ISSUER=%s is used unchanged',
  (OIDC_ISSUER) => {
    const rest = { DATABASE_URL: 'postgresql://127.0.0.1/hub', OIDC_AUDIENCE: 'hub' };
    expect(readConfig({ ...rest, OIDC_ISSUER }).OIDC_ISSUER).toBe(OIDC_ISSUER);
  },
);
