import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../src/engines/docker/check.ts';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { toUnreachable, Unreachable } from '../../src/engines/errors.ts';
import { aPair } from '../resources/certificates.ts';
import { accept, anEngine, clientOf, endAll, serve, serveSecurely } from './servers.ts';

afterEach(endAll);

/** The message with which `asking` fails as unreachable. */
async function whyOf(asking: Promise<unknown>): Promise<string> {
  const error = await asking.then(
    () => new Error('the target is reachable'),
    (reason: unknown) => reason as Error,
  );
  return error instanceof Unreachable && error.reason === 'TargetUnreachable' ? error.message : String(error);
}

const facts = anEngine((req, res) => {
  const info = { NCPU: 4, MemTotal: 2 ** 33, Unknown: 'ignored' };
  const version = { Version: '27.0.0', Arch: 'arm64' };
  res.end(JSON.stringify(req.url?.endsWith('/v1.47/info') ? info : version));
});
const FACTS = {
  engine: 'docker',
  engine_version: '27.0.0',
  api_version: '1.47',
  arch: 'arm64',
  cpu_millis: 4000,
  memory_bytes: 2 ** 33,
  identity: null,
};

describe('the client of an engine', () => {
  test('sends no request after the lease has expired', async () => {
    let calls = 0;
    const counting = anEngine((_req, res) => {
      calls += 1;
      res.end('[]');
    });
    const over = new Error('the lease has expired');
    const held = clientOf(await serve(counting)).withLeaseCheck(() => {
      throw over;
    });
    const wanted = { kind: 'stopped' } as const;
    await expect(reconcile(held, wanted, { deploymentId: randomUUID(), generation: 1 })).rejects.toBe(over);
    await expect(held.open({ path: '/events', idleMs: 1000 })).rejects.toBe(over);
    expect(calls).toBe(0);
  });

  test('connects over TCP', async () => {
    expect(await check(clientOf(await serve(facts)))).toEqual(FACTS);
  });

  test('connects over a Unix socket', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'svc-engine '));
    expect(await check(clientOf(await serve(facts, path.join(folder, 'engine.sock'))))).toEqual(FACTS);
    await rm(folder, { recursive: true, force: true });
  });

  test('connects over TLS with a client certificate, and verifies the certificate of the server', async () => {
    const pair = aPair();
    const { endpoint, certificate } = await serveSecurely(facts, pair);
    const credentials = { ca_certificate: certificate, certificate: pair.certificate, key: pair.key };
    expect(await check(clientOf(endpoint, { credentials }))).toEqual(FACTS);
    const stranger = aPair();
    const unknown = { ...credentials, certificate: stranger.certificate, key: stranger.key };
    expect(await whyOf(check(clientOf(endpoint, { credentials: unknown })))).toMatch(
      /does not accept the configured client certificate|closed the connection/,
    );
    const distrusting = { ...credentials, ca_certificate: stranger.certificate };
    expect(await whyOf(check(clientOf(endpoint, { credentials: distrusting })))).toBe(
      'Its certificate is not signed by the configured CA.',
    );
    expect(await whyOf(check(clientOf(endpoint.replace('localhost', '127.0.0.1'), { credentials })))).toBe(
      'Its certificate is for another host name.',
    );
    expect(await whyOf(check(clientOf(endpoint)))).toMatch(/not a container engine|closed the connection/);
  });

  test('connects again after the engine was unreachable', async () => {
    let isAway = true;
    const engine = await serve((req, res) => (isAway ? void res.socket?.destroy() : facts(req, res)));
    const client = clientOf(engine);
    expect(await whyOf(check(client))).toBe('It closed the connection without a response.');
    isAway = false;
    expect(await check(client)).toEqual(FACTS);
  });

  test('ends a reconciliation with its signal while the engine does not respond to the version handshake', async () => {
    const client = clientOf(await accept(() => undefined));
    const ending = new AbortController();
    const wanted = { kind: 'stopped' } as const;
    const passing = reconcile(client, wanted, { deploymentId: randomUUID(), generation: 1, signal: ending.signal });
    ending.abort(new Error('stopped by the test'));
    await expect(passing).rejects.toThrow('stopped by the test');
  });
});

test.each([
  ['CERT_HAS_EXPIRED', 'Its certificate has expired.'],
  ['CERT_NOT_YET_VALID', 'Its certificate is not valid yet. Compare the clocks of the machines.'],
  ['CERT_REVOKED', 'Its certificate is revoked.'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'Its certificate is not signed by the configured CA.'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'Its certificate is not signed by the configured CA.'],
  ['CERT_CHAIN_TOO_LONG', 'The connection to its endpoint failed (CERT_CHAIN_TOO_LONG).'],
  ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED', 'It reports that the configured client certificate has expired.'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'It requires a client certificate.'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'It does not accept the configured client certificate.'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'It does not accept the configured client certificate.'],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'The TLS connection to its endpoint failed.'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'The TLS connection to its endpoint failed.'],
])('the code %s of TLS means: %s', (code, message) => {
  expect(toUnreachable(Object.assign(new Error('failed'), { code })).message).toBe(message);
});

describe('the client of an engine reports the target as unreachable', () => {
  test('when nothing listens at the endpoint, or the socket does not exist', async () => {
    const endpoint = await serve(facts);
    await endAll();
    expect(await whyOf(check(clientOf(endpoint)))).toBe('The connection to its endpoint was refused.');
    expect(await whyOf(check(clientOf('unix:///nowhere/engine.sock')))).toBe(
      'The socket of its endpoint does not exist on the machine of this service.',
    );
  });

  test('when the engine never responds, or never completes its response', async () => {
    const silent = await accept(() => undefined);
    const fence = { deploymentId: 'x', generation: 1 };
    const endless = await serve(anEngine((_req, res) => void res.write('[')));
    const dripping = anEngine((_req, res) => {
      const more = setInterval(() => res.write(' '), 50);
      res.once('close', () => clearInterval(more));
    });
    const drip = await serve(dripping);
    const asking = [
      check(clientOf(silent)),
      reconcile(clientOf(silent), { kind: 'stopped' }, fence),
      check(clientOf(endless)),
      check(clientOf(drip)),
    ];
    expect(await Promise.all(asking.map((each) => whyOf(each)))).toEqual(
      asking.map(() => 'It did not respond in time.'),
    );
  });

  test.each([
    ['not HTTP', () => accept((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'))],
    ['the page of a web site', () => serve((_req, res) => void res.end('<html></html>'))],
    ['not JSON', () => serve(anEngine((_req, res) => void res.end('hello')))],
    ['JSON with another schema', () => serve(anEngine((_req, res) => void res.end('{"Version":1}')))],
  ])('when the response is %s', async (_title, start) => {
    expect(await whyOf(check(clientOf(await start())))).toBe('The server at its endpoint is not a container engine.');
  });

  test('when the response exceeds the maximum length', async () => {
    const long = anEngine((_req, res) => void res.end('x'.repeat(17 * 1024 * 1024)));
    const client = clientOf(await serve(long), {}, { answer: 20_000 });
    expect(await whyOf(check(client))).toBe('Its response is longer than 16 MiB.');
  });

  test('when the engine is of another kind than registered, or its API version is too old', async () => {
    expect(await whyOf(check(clientOf(await serve(facts), { engine: 'podman' })))).toBe(
      'It is registered as podman, but the engine is docker.',
    );
    const old = anEngine(() => undefined, { 'Api-Version': '1.40' });
    expect(await whyOf(check(clientOf(await serve(old))))).toBe(
      'Its Docker Engine API has version 1.40. Version 1.41 or later is required.',
    );
  });

  test('when its address is not permitted, without a request', async () => {
    let calls = 0;
    const counting = await serve((_req, res) => {
      calls += 1;
      res.end();
    });
    const restrictTo = new Set(['http' as const]);
    expect(await whyOf(check(clientOf(counting, { restrictTo })))).toMatch(/on the machine of this service/);
    expect(await whyOf(check(clientOf('unix:///run/engine.sock', { restrictTo })))).toMatch(/is a Unix socket/);
    expect(await whyOf(check(clientOf('tcp://169.254.169.254:2375')))).toMatch(/link-local or a metadata service/);
    expect(calls).toBe(0);
  });
});
