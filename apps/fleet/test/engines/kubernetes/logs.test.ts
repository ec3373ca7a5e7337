import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { Permanent, Transient, Unreachable } from '../../../src/engines/errors.ts';
import { logs } from '../../../src/engines/kubernetes/logs.ts';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import type { LogOptions } from '../../../src/engines/observation.ts';
import * as podStatuses from './api-server/controller/pod-status.ts';
import { aDeployment, anApiServer, clientOf, endAll, running } from './world.ts';

afterEach(endAll);

/** A deployment with one pod, and a function that reads its log. */
async function aLoggingPod(timing = {}) {
  const server = await anApiServer();
  const client = clientOf(server, {}, timing);
  const deployment = aDeployment();
  await reconcile(client, running(deployment.manifest()), deployment.fence());
  const [name = ''] = server.objects('pods').map(({ metadata }) => metadata.name);
  const read = (options: LogOptions = {}, which = name) =>
    logs(client, { deploymentId: deployment.id, name: which }, options);
  return { server, name, read };
}

async function allOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

describe('the log of a pod', () => {
  test('is read line by line', async () => {
    const { server, name, read } = await aLoggingPod();
    server.logs.write(name, 'one\r\ntwo\n\nthr');
    server.logs.write(name, 'ee');
    expect(await allOf(read())).toEqual(['one', 'two', '', 'three']);
  });

  test('is read from its last lines, or from a time on', async () => {
    const { server, name, read } = await aLoggingPod();
    server.logs.write(name, 'old\n', Date.parse('2026-01-01T00:00:00Z'));
    server.logs.write(name, 'new\n', Date.parse('2026-01-03T00:00:00Z'));
    expect(await allOf(read({ tail: 1 }))).toEqual(['new']);
    expect(await allOf(read({ since: new Date('2026-01-02T00:00:00.123Z') }))).toEqual(['new']);
    await allOf(read({ tail: 1_000_000 }));
    expect(server.requests.at(-1)?.query).toEqual({ container: 'main', tailLines: '10000' });
  });

  test('can be read with times, and before the last start of the container', async () => {
    const { server, name, read } = await aLoggingPod();
    server.logs.write(name, 'now\n');
    await allOf(read({ timestamps: true }));
    expect(server.requests.at(-1)?.query).toEqual({ container: 'main', tailLines: '10000', timestamps: 'true' });
    const error = await allOf(read({ previous: true })).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Permanent);
    expect(String(error)).toMatch('has been started only once');
    server.setPodStatus(podStatuses.restarted({ exitCode: 1 }));
    await allOf(read({ previous: true }));
    expect(server.requests.at(-1)?.query).toEqual({ container: 'main', tailLines: '10000', previous: 'true' });
  });

  test('has long lines truncated', async () => {
    const { server, name, read } = await aLoggingPod();
    server.logs.write(name, `${'x'.repeat(100_000)}\nnext\n`);
    expect((await allOf(read())).map(({ length }) => length)).toEqual([16_384, 4]);
  });

  test('is followed until its pod ends, also while it is idle', async () => {
    const { server, name, read } = await aLoggingPod({ answer: 1500 });
    const lines = read({ follow: true });
    const first = lines.next();
    await eventually('the log is followed', () => server.logs.followers === 1);
    await new Promise((resolve) => setTimeout(resolve, 2000)); // longer than a response may be idle
    server.logs.write(name, 'at last\n');
    expect(await first).toEqual({ done: false, value: 'at last' });
    server.logs.end(name);
    expect(await lines.next()).toEqual({ done: true, value: undefined });
  });

  test('is followed after its container is started again, until its pod is gone', async () => {
    const { server, name, read } = await aLoggingPod({ restart: 1 });
    server.logs.write(name, 'one\n');
    const lines = read({ follow: true, continues: async () => true });
    expect((await lines.next()).value).toBe('one');
    server.setPodStatus(podStatuses.restarted({ exitCode: 1 }));
    server.logs.end(name);
    expect((await lines.next()).value).toBe('one'); // the fake cluster keeps the log of the earlier run
    const next = lines.next();
    await eventually('the log is followed again', () => server.logs.followers === 1);
    server.logs.write(name, 'two\n');
    expect((await next).value).toBe('two');
    server.drop('pods', name);
    server.logs.end(name);
    expect((await lines.next()).done).toBe(true);
  });

  test('is no longer requested after the reader stops, or with its signal', async () => {
    const { server, name, read } = await aLoggingPod();
    server.logs.write(name, 'one\n');
    const lines = read({ follow: true });
    expect(await lines.next()).toMatchObject({ value: 'one' });
    await lines.return();
    await eventually('the log is no longer followed', () => server.logs.followers === 0);
    const reason = new Error('the reader stopped');
    const leaving = new AbortController();
    const others = read({ follow: true, signal: leaving.signal });
    await others.next();
    const next = others.next();
    leaving.abort(reason);
    await expect(next).rejects.toBe(reason);
    await eventually('the log is no longer followed', () => server.logs.followers === 0);
  });

  test('is not returned for a pod of another deployment', async () => {
    const { server, read } = await aLoggingPod();
    server.put('pods', { metadata: { name: 'a-strangers' } });
    const error = await allOf(read({}, 'a-strangers')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Permanent);
    expect(String(error)).toMatch('This deployment has no pod a-strangers.');
    expect(server.requests.filter(({ path }) => path.endsWith('/log'))).toEqual([]);
  });

  test('cannot be read before the pod has started', async () => {
    const { server, name, read } = await aLoggingPod();
    server.setPodStatus(podStatuses.creating);
    const error = await allOf(read()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Transient);
    expect(error).not.toBeInstanceOf(Unreachable);
    expect(String(error)).toMatch(`The pod ${name} has not started, so it has no log yet.`);
  });

  test('ends with an error if it never begins or stalls', async () => {
    const { server, name, read } = await aLoggingPod({ answer: 300 });
    server.logs.write(name, 'one\n');
    for (const injected of ['hang', 'stall'] as const) {
      server.inject(({ path }) => (path.endsWith('/log') ? injected : undefined));
      for (const follow of [true, false]) {
        const error = await allOf(read({ follow })).catch((reason: unknown) => reason);
        expect(String(error)).toMatch('It did not respond in time.');
      }
    }
  });
});
