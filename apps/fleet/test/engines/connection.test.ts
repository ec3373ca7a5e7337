import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../src/engines/docker/check.ts';
import { pass } from '../../src/engines/docker/reconcile.ts';
import { Unreachable } from '../../src/engines/errors.ts';
import { aPair } from '../resources/certificates.ts';
import { accept, anEngine, clientOf, endAll, serve, serveSecurely } from './servers.ts';

afterEach(endAll);

/** Why a machine is not reached. */
async function whyOf(asking: Promise<unknown>): Promise<string> {
  const error = await asking.then(
    () => new Error('it was reached'),
    (reason: unknown) => reason as Error,
  );
  return error instanceof Unreachable && error.reason === 'TargetUnreachable' ? error.message : String(error);
}

const facts = anEngine((req, res) => {
  const info = { NCPU: 4, MemTotal: 2 ** 33, More: 'than we know' };
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
};

describe('an engine is asked', () => {
  test('nothing at all once the lease of the work is over', async () => {
    let calls = 0;
    const counting = anEngine((_req, res) => {
      calls += 1;
      res.end('[]');
    });
    const over = new Error('the lease is over');
    const held = clientOf(await serve(counting)).whileHeld(() => {
      throw over;
    });
    const wanted = { kind: 'stopped' } as const;
    await expect(pass(held, wanted, { deploymentId: randomUUID(), generation: 1 })).rejects.toBe(over);
    await expect(held.open({ path: '/events', idleMs: 1000 })).rejects.toBe(over);
    expect(calls).toBe(0);
  });

  test('over TCP', async () => {
    expect(await check(clientOf(await serve(facts)))).toEqual(FACTS);
  });

  test('over a socket', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'svc-engine '));
    expect(await check(clientOf(await serve(facts, path.join(folder, 'engine.sock'))))).toEqual(FACTS);
    await rm(folder, { recursive: true, force: true });
  });

  test('over TLS, by a client with a certificate', async () => {
    const pair = aPair();
    const { endpoint, certificate } = await serveSecurely(facts, pair);
    const credentials = { ca_certificate: certificate, certificate: pair.certificate, key: pair.key };
    expect(await check(clientOf(endpoint, { credentials }))).toEqual(FACTS);
    const stranger = aPair();
    const unknown = { ...credentials, certificate: stranger.certificate, key: stranger.key };
    expect(await whyOf(check(clientOf(endpoint, { credentials: unknown })))).toMatch(
      /does not accept the certificate|closed the connection/,
    );
    const distrusting = { ...credentials, ca_certificate: stranger.certificate };
    expect(await whyOf(check(clientOf(endpoint, { credentials: distrusting })))).toBe(
      'Its certificate is not signed by the CA that was given.',
    );
    expect(await whyOf(check(clientOf(endpoint.replace('localhost', '127.0.0.1'), { credentials })))).toBe(
      'Its certificate is for another host name.',
    );
    expect(await whyOf(check(clientOf(endpoint)))).toMatch(/no container engine|closed the connection/);
  });

  test('again after it was away', async () => {
    let isAway = true;
    const engine = await serve((req, res) => (isAway ? void res.socket?.destroy() : facts(req, res)));
    const client = clientOf(engine);
    expect(await whyOf(check(client))).toBe('It closed the connection without an answer.');
    isAway = false;
    expect(await check(client)).toEqual(FACTS);
  });
});

describe('a machine is not reached', () => {
  test('where nothing listens, or there is no socket', async () => {
    const endpoint = await serve(facts);
    await endAll();
    expect(await whyOf(check(clientOf(endpoint)))).toBe('Nothing listens at its endpoint.');
    expect(await whyOf(check(clientOf('unix:///nowhere/engine.sock')))).toBe(
      'There is no socket at its endpoint on the machine of this service.',
    );
  });

  test('where it takes the call and never answers, or never ends its answer', async () => {
    const silent = await accept(() => undefined);
    expect(await whyOf(check(clientOf(silent)))).toBe('It did not answer in time.');
    const fence = { deploymentId: 'x', generation: 1 };
    expect(await whyOf(pass(clientOf(silent), { kind: 'stopped' }, fence))).toBe('It did not answer in time.');
    const endless = await serve(anEngine((_req, res) => void res.write('[')));
    expect(await whyOf(check(clientOf(endless)))).toBe('It did not answer in time.');
    const dripping = anEngine((_req, res) => {
      const more = setInterval(() => res.write(' '), 50);
      res.once('close', () => clearInterval(more));
    });
    expect(await whyOf(check(clientOf(await serve(dripping))))).toBe('It did not answer in time.');
  });

  test.each([
    ['what is no HTTP', () => accept((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'))],
    ['a web site', () => serve((_req, res) => void res.end('<html></html>'))],
    ['no JSON', () => serve(anEngine((_req, res) => void res.end('hello')))],
    ['JSON of another kind', () => serve(anEngine((_req, res) => void res.end('{"Version":1}')))],
  ])('where the answer is %s', async (_title, start) => {
    expect(await whyOf(check(clientOf(await start())))).toBe('What answers at its endpoint is no container engine.');
  });

  test('where the answer is longer than any of an engine', async () => {
    const long = anEngine((_req, res) => void res.end('x'.repeat(17 * 1024 * 1024)));
    const client = clientOf(await serve(long), {}, { answer: 20_000 });
    expect(await whyOf(check(client))).toBe('Its answer is longer than any that is expected of an engine.');
  });

  test('where it is not the engine that it is said to be, or one that is too old', async () => {
    expect(await whyOf(check(clientOf(await serve(facts), { engine: 'podman' })))).toBe(
      'It is registered as podman, and answers as docker.',
    );
    const old = anEngine(() => undefined, { 'Api-Version': '1.40' });
    expect(await whyOf(check(clientOf(await serve(old))))).toBe(
      'It speaks version 1.40 of the Docker Engine API, and 1.41 is needed.',
    );
  });

  test('where its address is not one that may be called', async () => {
    let calls = 0;
    const counting = await serve((_req, res) => {
      calls += 1;
      res.end();
    });
    const restrictTo = new Set(['http' as const]);
    expect(await whyOf(check(clientOf(counting, { restrictTo })))).toMatch(/on the machine of this service/);
    expect(await whyOf(check(clientOf('unix:///run/engine.sock', { restrictTo })))).toMatch(/is a local socket/);
    expect(await whyOf(check(clientOf('tcp://169.254.169.254:2375')))).toMatch(/link-local or a metadata service/);
    expect(calls).toBe(0);
  });

  test('no longer than there is somebody who wants to know, also where it never says who it is', async () => {
    const client = clientOf(await accept(() => undefined));
    const ending = new AbortController();
    const wanted = { kind: 'stopped' } as const;
    const passing = pass(client, wanted, { deploymentId: randomUUID(), generation: 1, signal: ending.signal });
    ending.abort(new Error('it is over'));
    await expect(passing).rejects.toThrow('it is over');
  });
});
