import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { busyboxTar } from '@svc/testing/engine';

export const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** The credentials for the images under `private/`. */
export const CUSTOMER = { username: 'customer', password: 'c4n4ry-pull' };

/**
 * An image registry on loopback: `busybox:1` for all clients, and `private/busybox:1` for clients
 * with credentials.
 */
export async function startRegistry() {
  const { manifest, blobs } = await anImage();
  const server = createServer((req, res) => {
    const [, name = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(req.url ?? '') ?? [];
    const isKnown = ['busybox', 'private/busybox'].includes(name);
    const allowed = `Basic ${Buffer.from(`${CUSTOMER.username}:${CUSTOMER.password}`).toString('base64')}`;
    // `/v2/` requires credentials too: a client that is not challenged there does not send them
    // later.
    const asks = name.startsWith('private/') || req.url === '/v2/';
    if (asks && req.headers.authorization !== allowed) {
      res.setHeader('WWW-Authenticate', 'Basic realm="registry"');
      return refuse(res, 401, 'UNAUTHORIZED', 'authentication required');
    }
    const isHere = reference === '1' || reference === digestOf(manifest);
    if (kind === 'manifests' && isKnown && isHere) return give(res, manifest, MANIFEST);
    const blob = kind === 'blobs' && isKnown ? blobs.get(reference) : undefined;
    if (blob) return give(res, blob, 'application/octet-stream');
    if (req.url === '/v2/') return give(res, Buffer.from('{}'), 'application/json');
    return refuse(res, 404, 'MANIFEST_UNKNOWN', 'manifest unknown');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  // The server listens on a port.
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** An image with Busybox. Another version has the same files, and another configuration. */
export async function anImage(version = '1') {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-image-'));
  const layer = await readFile(await busyboxTar(path.join(folder, 'image')));
  await rm(folder, { recursive: true });
  const rootfs = { type: 'layers', diff_ids: [digestOf(layer)] };
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const config = Buffer.from(
    JSON.stringify({ architecture, os: 'linux', config: { Env: [`VERSION=${version}`] }, rootfs }),
  );
  const part = (mediaType: string, bytes: Buffer) => ({ mediaType, size: bytes.length, digest: digestOf(bytes) });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: part('application/vnd.oci.image.config.v1+json', config),
      layers: [part('application/vnd.oci.image.layer.v1.tar', layer)],
    }),
  );
  return { manifest, blobs: new Map([config, layer].map((bytes) => [digestOf(bytes), bytes])) };
}

function give(res: ServerResponse, bytes: Buffer, type: string): void {
  const headers = { 'Content-Type': type, 'Content-Length': bytes.length, 'Docker-Content-Digest': digestOf(bytes) };
  res.writeHead(200, headers).end(bytes);
}

function refuse(res: ServerResponse, status: number, code: string, message: string): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ errors: [{ code, message }] }));
}
