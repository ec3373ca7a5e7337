import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually, freePort } from '@svc/testing';
import { anImage, digestOf, MANIFEST } from '../../engines/registry.ts';

/** The registry is stopped and started again, so no connection is kept. */
const CLOSED = { connection: 'close' };

/** Debian's `docker-registry` on loopback, with a port that remains. */
export async function startRealRegistry() {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-registry-'));
  const address = `127.0.0.1:${await freePort()}`;
  const config = path.join(folder, 'config.yml');
  const storage = `{filesystem: {rootdirectory: ${folder}/data}}`;
  await writeFile(config, `{version: 0.1, storage: ${storage}, http: {addr: ${address}}}\n`);

  const run = async () => {
    const process = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
    const ended = once(process, 'exit');
    const isReady = () => fetch(`http://${address}/v2/`, { headers: CLOSED }).then(({ ok }) => ok);
    await eventually('the registry is ready', () => isReady().catch(() => false));
    return async () => {
      process.kill();
      await ended;
    };
  };
  let halt = await run();

  const send = async (method: string, url: string, type: string, body?: Buffer) => {
    const headers = { ...CLOSED, 'content-type': type };
    const response = await fetch(url, { method, headers, ...(body && { body: new Uint8Array(body) }) });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
    return response;
  };
  /** Pushes a version of the image with a tag. @returns its digest */
  const push = async (version: string, tag: string) => {
    const { manifest, blobs } = await anImage(version);
    const repository = `http://${address}/v2/app`;
    for (const [digest, bytes] of blobs) {
      const upload = await send('POST', `${repository}/blobs/uploads/`, 'application/octet-stream');
      const url = new URL(upload.headers.get('location') ?? '', repository);
      url.searchParams.set('digest', digest);
      await send('PUT', url.href, 'application/octet-stream', bytes);
    }
    await send('PUT', `${repository}/manifests/${tag}`, MANIFEST, manifest);
    return digestOf(manifest);
  };
  return {
    address,
    push,
    halt: () => halt(),
    resume: async () => {
      halt = await run();
    },
    stop: async () => {
      await halt();
      await rm(folder, { recursive: true });
    },
  };
}
