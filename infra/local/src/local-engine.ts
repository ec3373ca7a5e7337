import { accessSync, constants } from 'node:fs';
import http from 'node:http';

/** An engine of this machine: Docker or Podman, at a socket that this process may open. */
export type LocalEngine = { engine: 'docker' | 'podman'; endpoint: string };

const PATIENCE_MS = 2000;

/** The first engine that answers at one of these sockets. */
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
    return undefined; // nothing there, or nothing that answers as an engine does
  }
}

const ping = (socketPath: string) =>
  new Promise<http.IncomingHttpHeaders>((resolve, reject) => {
    const request = http.get({ socketPath, path: '/_ping', timeout: PATIENCE_MS }, (answer) => {
      answer.resume();
      resolve(answer.headers);
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time'))).on('error', reject);
  });
