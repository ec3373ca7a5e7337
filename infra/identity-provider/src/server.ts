import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { configuration } from './configuration.ts';
import { interactions } from './interactions.ts';
import { loadKeys } from './keys.ts';
import type { Settings } from './settings.ts';

export type IdentityProvider = { issuer: string; stop(): Promise<void> };

/** Starts the provider, and resolves when it listens. Users, sessions and tokens are in memory; only keys are stored. */
export async function startIdentityProvider(settings: Settings): Promise<IdentityProvider> {
  const keys = await loadKeys(settings.keysFile);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(settings.port, settings.host, resolve);
  });
  // The address of a TCP server is an AddressInfo; only that of a pipe is a string.
  const { port } = server.address() as AddressInfo;
  const issuer = settings.issuer ?? `http://${settings.host}:${port}`;
  const provider = new Provider(issuer, configuration(settings, keys));
  // Behind a proxy with TLS, the URLs in its documents have the scheme that the proxy states.
  provider.proxy = issuer.startsWith('https:');
  provider.on('server_error', (_ctx, error) => console.error(error));
  const handleInteraction = interactions(provider, settings.password);
  const handleProtocol = provider.callback();
  server.on('request', (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return handleProtocol(req, res);
    handleInteraction(req, res).catch((error: unknown) => {
      console.error(error);
      res.destroy();
    });
  });
  return {
    issuer,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
