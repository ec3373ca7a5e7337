// Traces of a hub and a fleet as processes, with a collector in the test.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aCollector, type ExportedSpan, type StartedProcess, scaled } from '@svc/testing';
import { aDeployment, type Deployment, type Environment } from '../sync/deployment.ts';

const PRELOAD = pathToFileURL(path.join(import.meta.dirname, 'loaded-packages.mjs')).href;
const QUICK = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '50' };
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
/** A promised deadline is two seconds. */
const SHUTDOWN_LIMIT_MS = 10_000;

let deployment: Deployment;
let operator: string;
let forFleet: Environment;

beforeAll(async () => {
  deployment = await aDeployment();
  const hub = await deployment.start('hub');
  forFleet = await deployment.forFleet();
  await stopped(hub);
  const fleet = await deployment.start('fleet');
  operator = await deployment.operatorToken();
  await stopped(fleet);
});
afterAll(() => deployment?.stop());

async function stopped({ child, ended }: StartedProcess): Promise<void> {
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
}

/** Runs `work` with a hub and a fleet. @returns their outputs after they have stopped */
async function withServices(environment: Environment, work: () => Promise<void>) {
  const preloaded = { NODE_OPTIONS: `--import=${PRELOAD}`, ...environment };
  const hub = await deployment.start('hub', preloaded);
  const fleet = await deployment.start('fleet', { ...forFleet, ...preloaded });
  await work();
  await stopped(fleet);
  await stopped(hub);
  return { hub: hub.output(), fleet: fleet.output() };
}

async function ask(method: string, at: string, headers: Readonly<Record<string, string>> = {}) {
  const authorization = `Bearer ${operator}`;
  const response = await fetch(`${deployment.urls.fleet}${at}`, { method, headers: { authorization, ...headers } });
  await response.text();
  return response.status;
}

const sync = (headers?: Readonly<Record<string, string>>) => ask('POST', '/api/v1/catalog/sync', headers);

const logged = (output: string, requestId: string) => output.split('\n').filter((line) => line.includes(requestId));

const lastLines = (output: string) => output.split('\n').slice(-5).join('\n');

/** The packages that were loaded, according to the last line of the output. */
const loadedBy = (output: string): string[] => JSON.parse(output.trim().split('\n').at(-1) ?? '').loaded;

test.each([
  ['by default', {}],
  ['with OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'otlp' }],
  ['with OTEL_TRACES_EXPORTER=none', { OTEL_TRACES_EXPORTER: 'none' }],
])('%s, nothing is loaded or sent, and the hub logs the request id of the fleet', async (name, variables) => {
  const collector = await aCollector();
  const endpoint: Environment = name === 'by default' ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const output = await withServices({ ...QUICK, ...endpoint, ...variables }, async () => {
    expect(await sync({ 'X-Request-Id': 'of-the-caller' })).toBe(200);
  });
  await collector.stop();
  expect(collector.bodies).toEqual([]);
  // prom-client loads the API, without the SDK
  expect(loadedBy(output.hub)).toEqual(['@opentelemetry/api']);
  expect(loadedBy(output.fleet)).toEqual(['@opentelemetry/api']);
  expect(logged(output.hub, 'of-the-caller').length).toBeGreaterThan(0);
});

test('a sync is one trace of the fleet and the hub, with the request id, statements and no values', async () => {
  const collector = await aCollector();
  const environment = { ...QUICK, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const output = await withServices(environment, async () => {
    const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
    expect(await sync({ traceparent, 'X-Request-Id': 'of-the-caller' })).toBe(200);
    expect(await ask('GET', '/api/v1/catalog/templates/svcc_0123456789?search=private')).toBe(400);
    expect(await ask('GET', '/readyz')).toBe(200);
  });
  await collector.stop();
  expect(loadedBy(output.hub)).toContain('@opentelemetry/sdk-trace-base');

  const spans = collector.spans();
  const inTrace = spans.filter(({ traceId }) => traceId === CALLER.traceId);
  const one = (service: string, name: string): ExportedSpan => {
    const [found] = inTrace.filter((span) => span.service === service && span.name === name);
    if (!found)
      throw new Error(`${service} has no span "${name}": ${inTrace.map((span) => `${span.service} ${span.name}`)}`);
    return found;
  };
  const request = one('fleet', 'POST /api/v1/catalog/sync');
  expect(request).toMatchObject({
    parentSpanId: CALLER.spanId,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/v1/catalog/sync',
      'http.response.status_code': 200,
      request_id: 'of-the-caller',
    },
  });
  const run = one('fleet', 'catalog sync');
  const call = one('fleet', 'GET /api/v1/catalog/templates/updates');
  const answer = one('hub', 'GET /api/v1/catalog/templates/updates');
  expect(run.parentSpanId).toBe(request.spanId);
  expect(call.parentSpanId).toBe(run.spanId);
  expect(answer.parentSpanId).toBe(call.spanId);
  expect(call.attributes).toMatchObject({ 'peer.service': 'hub', 'http.response.status_code': 200 });
  expect(answer.attributes.request_id).toBe('of-the-caller');
  const statements = inTrace.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
  expect(statements.map(({ service }) => service)).toEqual(expect.arrayContaining(['fleet', 'hub']));
  expect(statements.map(({ name }) => name)).toContain('UPDATE catalog_sync');
  const parents = new Set(inTrace.map(({ spanId }) => spanId));
  expect(statements.filter(({ parentSpanId }) => !parents.has(parentSpanId ?? ''))).toEqual([]);

  expect(spans.filter(({ name }) => name.includes('readyz'))).toEqual([]);
  const everything = Buffer.concat(collector.bodies).toString('utf8');
  for (const value of ['svcc_', 'svcm_', 'private', operator, forFleet.HUB_API_KEY ?? '']) {
    expect(everything).not.toContain(value);
  }
});

test('the default protocol is http/protobuf', async () => {
  const collector = await aCollector();
  await withServices({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async () => {
    expect(await sync({ traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` })).toBe(200);
  });
  await collector.stop();
  expect([...collector.types]).toEqual(['application/x-protobuf']);
  expect(collector.bodies.some((body) => body.includes(Buffer.from(CALLER.traceId, 'hex')))).toBe(true);
});

test.each([
  ['hangs', true],
  ['does not listen', false],
])('while the collector %s, requests are answered, and the services stop in time', async (_, hangs) => {
  const collector = await aCollector({ hangs });
  if (!hangs) await collector.stop();
  let stoppedAt = 0;
  const output = await withServices({ ...QUICK, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async () => {
    for (let count = 0; count < 200; count += 1) expect(await ask('GET', '/api/v1/catalog/categories')).toBe(200);
    expect(await sync()).toBe(200);
    stoppedAt = performance.now();
  });
  expect(performance.now() - stoppedAt).toBeLessThan(scaled(2 * SHUTDOWN_LIMIT_MS)); // two services, one after the other
  if (hangs) await collector.stop();
  for (const text of [output.hub, output.fleet]) expect(lastLines(text)).toContain('the last traces were not exported');
});
