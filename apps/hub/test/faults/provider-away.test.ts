import { createServer, type Server } from 'node:http';
import type { LocalIssuer } from '@svc/testing';
import { freePort } from '@svc/testing';
import { ask } from '@svc/testing/faults';
import { adminOf, prepareHubFaults } from './world.ts';

const { closers, aDatabase, anIssuer, aHub } = prepareHubFaults();

/** An issuer that can go away and come back at the same address: it says that it is `issuer`, whose keys it has. */
async function aProvider(issuer: LocalIssuer) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let server: Server | undefined;
  const goAway = async () => {
    const going = server;
    server = undefined;
    await new Promise<void>((resolve) => (going ? going.close(() => resolve()) : resolve()));
  };
  const comeBack = async () => {
    const coming = createServer(async (req, res) => {
      const keys = await fetch(`${issuer.issuer}/keys`);
      const body = req.url === '/keys' ? await keys.json() : { issuer: url, jwks_uri: `${url}/keys` };
      res.writeHead(200, { 'Content-Type': 'application/json', Connection: 'close' }).end(JSON.stringify(body));
    });
    server = coming;
    await new Promise<void>((resolve) => coming.listen(port, '127.0.0.1', resolve));
  };
  await comeBack();
  closers.push(goAway);
  return { url, goAway, comeBack };
}

test('while the identity provider is away known keys go on; without any the answer is 503, until it is back', async () => {
  const issuer = await anIssuer();
  const provider = await aProvider(issuer);
  const admin = await adminOf(issuer, { iss: provider.url });
  const settings = { databaseUrl: await aDatabase(), issuer: provider.url };
  const templates = (hub: { readonly url: string }, authorization?: string) =>
    ask(`${hub.url}/api/v1/admin/templates`, authorization === undefined ? {} : { authorization });

  const knowing = await aHub(settings);
  expect((await templates(knowing, admin)).status).toBe(200);
  await provider.goAway();
  const unknowing = await aHub(settings); // it is ready: its keys are fetched when the first token comes
  expect((await templates(knowing, admin)).status).toBe(200);
  expect(await templates(unknowing, admin)).toMatchObject({
    status: 503,
    retryAfter: '1',
    body: { code: 'unavailable' },
  });
  const health = { status: 'degraded', checks: [{ name: 'database', state: 'ok' }, { state: 'degraded' }] };
  expect(await ask(`${unknowing.url}/readyz`)).toMatchObject({ status: 200, body: health });
  expect((await ask(`${unknowing.url}/api/v1/catalog/templates`)).status).toBe(200);
  expect((await templates(unknowing)).status).toBe(401);

  await provider.comeBack();
  expect((await templates(unknowing, admin)).status).toBe(200);
  expect(await ask(`${unknowing.url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
}, 60_000);
