// The stream of events of a host.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { watchDeployments } from '../../src/engines/docker/watch.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';

afterEach(endAll);

const RETRY_LIMIT_MS = 1000;

type Answer = (res: ServerResponse) => void;
const stream: Answer = (res) => res.writeHead(200).flushHeaders();

/**
 * A watch on a fake engine, with the ids that it has reported and the streams that it has opened.
 */
async function watching(answer: Answer = stream, timing = {}) {
  const streams: ServerResponse[] = [];
  const queries: URLSearchParams[] = [];
  const endpoint = await serve(
    anEngine((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? '', 'http://engine');
      expect(pathname).toBe('/v1.47/events');
      queries.push(searchParams);
      streams.push(res);
      answer(res);
    }),
  );
  const reported: string[] = [];
  const rounds = watchDeployments(clientOf(endpoint, {}, { watchRetryLimit: RETRY_LIMIT_MS, ...timing }), (id) =>
    reported.push(id),
  );
  stops.push(rounds.stop);
  await eventually('the stream is open', () => streams.length === 1);
  const send = (...lines: readonly (string | object)[]) =>
    streams.at(-1)?.write(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return { reported, streams, queries, send, stop: rounds.stop };
}

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

const event = (Action: string, id: string, more = {}) => ({
  Type: 'container',
  Action,
  Actor: { ID: `container-of-${id}`, Attributes: { 'fleet/deployment': id } },
  ...more,
});

describe('a watch on a host', () => {
  test('asks for the containers of the fleet and for the actions that it reports', async () => {
    const { queries, send, reported } = await watching();
    const { type, label, event: actions } = JSON.parse(queries[0]?.get('filters') ?? '');
    expect({ type, label }).toEqual({ type: ['container'], label: ['app.kubernetes.io/managed-by=fleet'] });
    const others = ['create', 'exec_create: /bin/sh', 'exec_start: /bin/sh', 'top'];
    send(...[...others, ...actions].map((action, index) => event(action, `${index}`)));
    send(event('start', 'last'));
    await eventually('the last event is reported', () => reported.includes('last'));
    const states = actions.flatMap((action: string, index: number) =>
      action === 'health_status' ? [] : [`${index + others.length}`],
    );
    expect(reported).toEqual([...states, 'last']);
    for (const action of ['die', 'died', 'pause', 'destroy', 'remove']) expect(actions).toContain(action);
  });

  test.each([
    ['Docker', (result: string) => event(`health_status: ${result}`, 'web')],
    ['Podman', (result: string) => event('health_status', 'web', { HealthStatus: result })],
  ])('reports a health check of %s only if its result has changed', async (_, health) => {
    const { send, reported } = await watching();
    send(...['healthy', 'healthy', 'unhealthy', 'unhealthy', 'healthy', 'healthy'].map(health), event('die', 'last'));
    await eventually('the last event is reported', () => reported.includes('last'));
    expect(reported).toEqual(['web', 'web', 'last']);
  });

  test('ignores lines that are malformed or too long, and continues with the next line', async () => {
    const { send, reported, streams } = await watching();
    const long = event('die', 'long', { padding: 'x'.repeat(200_000) });
    send(
      '',
      '{',
      '[]',
      'null',
      '{"Action": 1}',
      event('die', 'x'.repeat(200)),
      event('die', 'first'),
      long,
      event('die', 'second'),
    );
    await eventually('the second event is reported', () => reported.includes('second'));
    expect(reported).toEqual(['first', 'second']);
    expect(streams).toHaveLength(1);
  });

  test('reports all of many events at once', async () => {
    const { send, reported } = await watching();
    const ids = Array.from({ length: 1200 }, (_, index) => `${index}`);
    send(...ids.map((id) => event('start', id)));
    await eventually('all events are reported', () => reported.length, { until: (count) => count === ids.length });
    expect(reported).toEqual(ids);
  });

  test('opens the stream again when the engine has closed it', async () => {
    const { streams, send, reported } = await watching();
    streams[0]?.end();
    await eventually('the stream is open again', () => streams.length === 2);
    streams[1]?.destroy();
    await eventually('the stream is open once more', () => streams.length === 3);
    send(event('die', 'web'));
    await eventually('an event is reported', () => reported.length > 0);
    expect(reported).toEqual(['web']);
  });

  test('opens the stream again when nothing has arrived for some time after the headers', async () => {
    const { streams } = await watching(stream, { watch: 200 });
    await eventually('the stream is open again', () => streams.length >= 2);
    expect(streams[0]?.destroyed).toBe(true);
  });

  test.each<[string, Answer]>([
    ['rejects it', (res) => res.writeHead(404).end('{"message": "page not found"}')],
    ['ends it at once', (res) => res.writeHead(200).end()],
  ])('waits before it opens the stream again on an engine that %s', async (_, answer) => {
    const { streams } = await watching(answer, { watchRetryLimit: 30_000 });
    await pause(100);
    expect(streams).toHaveLength(1);
  });

  test('closes its connection when it is stopped, and reports nothing more', async () => {
    const { streams, send, reported, stop } = await watching();
    const closed = once(streams[0] as ServerResponse, 'close');
    send(event('die', 'web'));
    await eventually('the event is reported', () => reported.length === 1);
    await stop();
    await closed;
    await pause(2 * RETRY_LIMIT_MS * 0.02);
    expect(streams).toHaveLength(1);
    expect(reported).toEqual(['web']);
  });
});
