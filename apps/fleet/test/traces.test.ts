// Traces of a fleet in this process, with a collector in the test.
import type { IncomingHttpHeaders } from 'node:http';
import { createLog, createOutbound, dial, startTracing, traced } from '@svc/http';
import { aCollector, eventually, onLoopback } from '@svc/testing';
import { startWorld } from './world.ts';

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`;

const collector = await aCollector();
Object.assign(process.env, {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '20',
});
const stopTracing = await startTracing({ service: 'fleet', version: 'test', log: createLog('fleet', 'silent') });
const world = await startWorld();
const received: { readonly path: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
const target = await onLoopback((req, res) => {
  received.push({ path: req.url, headers: req.headers });
  res.writeHead(req.url?.startsWith('/failing') ? 503 : 200).end('{}');
});
afterAll(async () => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  await world.stop();
  await stopTracing();
  await Promise.all([target.stopListening(), collector.stop()]);
});

/** The spans with an attribute, when there are some. */
async function spansWith(name: string, value: string | number) {
  const found = () => collector.spans().filter(({ attributes }) => attributes[name] === value);
  await eventually(`spans with ${name}=${value} are exported`, async () => found().length > 0);
  return found();
}

const inTrace = (traceId: string) => collector.spans().filter((span) => span.traceId === traceId);
const ask = (path: string, headers: Readonly<Record<string, string>>) => world.api().get(path, headers);

test('a request is a span of the trace of its caller, with its route and its statements', async () => {
  const { secret } = await world.aToken({ role: 'viewer' });
  const headers = { authorization: `Bearer ${secret}`, traceparent: TRACEPARENT, 'X-Request-Id': 'with-statements' };
  expect((await ask('/api/v1/deployments?search=confidential', headers)).status).toBe(200);
  const [request] = await spansWith('request_id', 'with-statements');
  expect(request).toMatchObject({
    name: 'GET /api/v1/deployments',
    kind: 2,
    traceId: CALLER.traceId,
    parentSpanId: CALLER.spanId,
    attributes: { 'http.request.method': 'GET', 'http.route': '/api/v1/deployments', 'http.response.status_code': 200 },
  });
  const statements = inTrace(CALLER.traceId).filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
  expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['SELECT tokens', 'SELECT deployments']));
  expect(new Set(statements.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([request?.spanId]));
  const everything = Buffer.concat(collector.bodies).toString('utf8');
  expect(everything).not.toContain('confidential');
  expect(everything).not.toContain(secret);
});

test('a request without a route has neither its path nor that of a probe in a span', async () => {
  expect((await ask('/healthz', { 'X-Request-Id': 'of-a-probe' })).status).toBe(200);
  expect((await ask('/api/v1/unknown-path', { 'X-Request-Id': 'of-no-route' })).status).toBe(404);
  const [request] = await spansWith('request_id', 'of-no-route');
  expect(request).toMatchObject({ name: 'GET', attributes: { 'http.response.status_code': 404 } });
  const everything = Buffer.concat(collector.bodies).toString('utf8');
  expect(everything).not.toContain('unknown-path');
  expect(everything).not.toContain('of-a-probe');
});

test('a caller that does not sample is not recorded', async () => {
  const headers = { traceparent: TRACEPARENT.replace(/01$/, '00'), 'X-Request-Id': 'not-sampled' };
  await ask('/api/v1/auth/config', headers);
  await ask('/api/v1/auth/config', { 'X-Request-Id': 'sampled' });
  await spansWith('request_id', 'sampled');
  expect(Buffer.concat(collector.bodies).toString('utf8')).not.toContain('not-sampled');
});

test.each([
  ['hub', 'traceparent is sent'],
  ['identity_provider', 'no traceparent is sent'],
] as const)('a call of the %s has a span, and %s', async (destination, sent) => {
  const outbound = createOutbound({ destination, timeoutMs: 5000, maxBytes: 1000 });
  const url = new URL(`${target.url}/${destination}/name-in-a-path`);
  const call = () => outbound.send({ method: 'GET', url, route: `/${destination}/:id`, headers: {} });
  await call(); // outside of a trace
  await traced(() => ({ name: `with ${destination}`, kind: 'internal' }), call);
  await outbound.close();
  const [span, ...others] = await spansWith('peer.service', destination);
  expect(others).toEqual([]);
  expect(span).toMatchObject({
    name: `GET /${destination}/:id`,
    kind: 3,
    attributes: { 'http.response.status_code': 200 },
  });
  const requests = received.filter(({ path }) => path === url.pathname);
  const expected = sent === 'traceparent is sent' ? `00-${span?.traceId}-${span?.spanId}-01` : undefined;
  expect(requests.map(({ headers }) => headers.traceparent)).toEqual([undefined, expected]);
  expect(Buffer.concat(collector.bodies).toString('utf8')).not.toContain('name-in-a-path');
});

test('a call of an engine has a span without its path, and no traceparent is sent', async () => {
  const connection = dial({ target: new URL(target.url) });
  await traced(
    () => ({ name: 'with an engine', kind: 'internal' }),
    async () => {
      const { body } = await connection.exchange({ method: 'GET', path: '/failing/name-of-an-object', idleMs: 5000 });
      body.resume();
    },
  );
  await connection.close();
  const [span] = await spansWith('peer.service', 'engine');
  expect(span).toMatchObject({ name: 'GET engine', attributes: { 'http.response.status_code': 503 } });
  expect(received.at(-1)?.headers.traceparent).toBeUndefined();
  expect(Buffer.concat(collector.bodies).toString('utf8')).not.toContain('name-of-an-object');
});

test('work that fails has the name of its error, without the message', async () => {
  const failing = traced(
    () => ({ name: 'failing work', kind: 'internal' }),
    async () => {
      throw Object.assign(new Error('a message with a value'), { name: 'LostConnection' });
    },
  );
  await expect(failing).rejects.toThrow('a message with a value');
  await spansWith('error.type', 'LostConnection');
  expect(Buffer.concat(collector.bodies).toString('utf8')).not.toContain('a message with a value');
});
