import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { configuration } from './configuration.ts';
import { interactions } from './interactions.ts';
import { loadKeys } from './keys.ts';
import type { Settings } from './settings.ts';

export type IdentityProvider = { issuer: string; stop(): Promise<void> };

/** Starts the provider and answers when it listens. Users, sessions and tokens live in memory; only keys are kept. */
export async function startIdentityProvider(settings: Settings): Promise<IdentityProvider> {
  const keys = await loadKeys(settings.keysFile);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(settings.port, settings.host, resolve);
  });
  // A server on TCP has an AddressInfo; only pipes have a string.
  const { port } = server.address() as AddressInfo;
  const issuer = settings.issuer ?? `http://${settings.host}:${port}`;
  const provider = new Provider(issuer, configuration(settings, keys));
  provider.on('server_error', (_ctx, error) => console.error(error));
  const answerInteraction = interactions(provider, settings.password);
  const answerProtocol = provider.callback();
  server.on('request', (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return answerProtocol(req, res);
    answerInteraction(req, res).catch((error: unknown) => {
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
