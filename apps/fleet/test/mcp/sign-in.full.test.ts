import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { createHttpServer } from '@svc/http';
import { startIdentityProvider } from '@svc/identity-provider/server';
import { freePort, signInByBrowser } from '@svc/testing';
import { createApp } from '../../src/app.ts';
import { startWorld } from '../world.ts';

const port = await freePort();
const publicUrl = `http://127.0.0.1:${port}`;
const REDIRECT = 'http://127.0.0.1/callback';
const PASSWORD = 'development';
const provider = await startIdentityProvider({
  port: 0,
  host: '127.0.0.1',
  audiences: [`${publicUrl}/mcp`],
  redirectUris: [REDIRECT],
  password: PASSWORD,
});
const world = await startWorld({ oidc: { issuer: provider.issuer, client_id: 'dashboard' }, publicUrl });
const options = {
  log: world.log,
  health: { check: async () => [], stopping: false },
  rateLimit: false,
  trustProxy: [],
};
const server = createHttpServer(createApp({ services: world.services, ...options })).listen(port, '127.0.0.1');
await once(server, 'listening');
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
  await provider.stop();
});

const METADATA = `${publicUrl}/.well-known/oauth-protected-resource`;

test('a 401 names the metadata of the protected resource, which names the provider', async () => {
  const { status, headers } = await fetch(`${publicUrl}/mcp`, { method: 'POST' });
  expect(status).toBe(401);
  expect(headers.get('WWW-Authenticate')).toBe(
    `Bearer realm="fleet", resource_metadata="${METADATA}/mcp", scope="openid profile email"`,
  );
  for (const location of [METADATA, `${METADATA}/mcp`]) {
    const answer = await fetch(location);
    expect(await answer.json()).toMatchObject({
      resource: `${publicUrl}/mcp`,
      authorization_servers: [provider.issuer],
      bearer_methods_supported: ['header'],
    });
  }
});

test('without a provider there is no metadata, and a 401 does not name it', async () => {
  const nobody = world.aReplica({ publicUrl }).api();
  expect((await nobody.get('/.well-known/oauth-protected-resource/mcp')).status).toBe(404);
  const { status, headers } = await nobody.post('/mcp', {});
  expect(status).toBe(401);
  expect(headers['www-authenticate']).toBe('Bearer realm="fleet"');
});

test('a client of the SDK signs its user in with nothing but the URL of the endpoint', async () => {
  const kept: { tokens?: object; verifier?: string; discovered?: object; authorization?: URL } = {};
  const authProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'test', redirect_uris: [REDIRECT] },
    clientInformation: () => ({ client_id: 'dashboard' }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (discovered: object) => void Object.assign(kept, { discovered }),
    discoveryState: () => kept.discovered,
    state: () => 'state-of-the-test',
    redirectToAuthorization: (authorization: URL) => void Object.assign(kept, { authorization }),
  };
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    // The callbacks have the types of the interface, which names more members than the test uses.
    const transport = new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), {
      authProvider: authProvider as never,
    });
    const isConnected = await client.connect(transport).then(
      () => true,
      (error: unknown) => {
        if (error instanceof UnauthorizedError) return false;
        throw error;
      },
    );
    return { client, transport, isConnected };
  };
  const first = await connect();
  expect(first.isConnected).toBe(false);
  expect(kept.authorization?.searchParams.get('resource')).toBe(`${publicUrl}/mcp`);
  const user = { email: 'admin@example.test', password: PASSWORD };
  const back = await signInByBrowser(kept.authorization as URL, REDIRECT, user); // asserted above
  await first.transport.finishAuth(back.searchParams);
  const second = await connect();
  expect(second.isConnected).toBe(true);
  const { structuredContent } = await second.client.callTool({ name: 'get_fleet_status', arguments: {} });
  expect(structuredContent).toMatchObject({ you: { role: expect.stringMatching(/^admin$|^viewer$/) } });
  await second.client.close();
});
