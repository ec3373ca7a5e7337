import { accessSync, constants } from 'node:fs';
import http from 'node:http';

/** Docker or Podman on this machine, at a socket that this process can open. */
export type LocalEngine = { engine: 'docker' | 'podman'; endpoint: string };

const TIMEOUT_MS = 2000;

/** The first engine that responds at one of the sockets. */
export async function findLocalEngine(sockets: readonly string[]): Promise<LocalEngine | undefined> {
  for (const socket of sockets) {
    const engine = await engineAt(socket);
    if (engine) return { engine, endpoint: `unix://${socket}` };
  }
  return undefined;
}

async function engineAt(socketPath: string): Promise<LocalEngine['engine'] | undefined> {
  try {
    accessSync(socketPath, constants.R_OK | constants.W_OK);
    const headers = await ping(socketPath);
    if (headers['api-version'] === undefined) return undefined;
    return headers['libpod-api-version'] === undefined ? 'docker' : 'podman';
  } catch {
    return undefined; // no socket, or not an engine
  }
}

const ping = (socketPath: string) =>
  new Promise<http.IncomingHttpHeaders>((resolve, reject) => {
    const request = http.get({ socketPath, path: '/_ping', timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      resolve(response.headers);
    });
    request.on('timeout', () => request.destroy(new Error('timeout'))).on('error', reject);
  });
