// Reading logs over the API: of all instances, and since a time. The tests of the engines read single logs.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@svc/testing';
import { anEngine, endAll, serve } from '../engines/servers.ts';
import { startDeploymentWorld } from './world.ts';

const fleet = await startDeploymentWorld();
afterAll(endAll);

const LABELS = { 'app.kubernetes.io/managed-by': 'fleet', 'fleet/generation': '1', 'fleet/body': 'x' };

/** Reads a followed log to its end, over a connection. */
async function follow(id: string): Promise<string> {
  const server = createServer(fleet.world.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // the server listens
  const { secret } = await fleet.world.aToken({ role: 'viewer' });
  const url = `http://127.0.0.1:${port}/api/v1/deployments/${id}/logs?all=true&follow=true`;
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${secret}` } });
  const text = await answer.text();
  server.closeAllConnections();
  server.close();
  return text;
}

/** A frame of stdout. */
function frameOf(text: string): Buffer {
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** A deployment with instances on an engine, each with a log. */
async function aDeployment(logs: Readonly<Record<string, string>>) {
  const queries: Record<string, string>[] = [];
  let id = '';
  const engine = anEngine((req, res) => {
    const url = new URL(req.url ?? '', 'http://engine');
    const labels = (ordinal: number) => ({ ...LABELS, 'fleet/deployment': id, 'fleet/ordinal': String(ordinal) });
    const names = Object.keys(logs);
    if (url.pathname.endsWith('/containers/json')) {
      const listed = names.map((name, at) => ({ Id: name, Labels: labels(at), State: 'running' }));
      return res.end(JSON.stringify(listed));
    }
    const [, name = '', what] = /\/containers\/([^/]+)\/(json|logs)$/.exec(url.pathname) ?? [];
    if (what === 'logs') {
      queries.push(Object.fromEntries(url.searchParams));
      return res.end(frameOf(logs[name] ?? ''));
    }
    if (what === undefined) return res.writeHead(404).end('{}');
    const at = '2026-01-01T00:00:00Z';
    const State = { Status: 'running', Running: true, ExitCode: 0, StartedAt: at, FinishedAt: at };
    const HostConfig = { RestartPolicy: { Name: 'on-failure' } };
    const Config = { Labels: labels(names.indexOf(name)) };
    return res.end(JSON.stringify({ Id: name, Name: `/${name}`, State, Config, HostConfig }));
  });
  await fleet.aHost({ endpoint: await serve(engine) });
  ({ id } = await fleet.deployed());
  const withInstances = (names: readonly string[]) => ({
    instances: names.map((name) => ({ name, phase: 'running', message: '', restarts: 0 })),
  });
  const update = (data: object) => fleet.client.deployment.update({ where: { id }, data });
  await update({ phase: 'running', ...withInstances(Object.keys(logs)) });
  const read = (query: string) => fleet.operator.get(`/api/v1/deployments/${id}/logs?${query}`);
  return { id, read, queries, update, withInstances };
}

test('the logs of all instances have the name of the instance in each line', async () => {
  const { read, queries } = await aDeployment({ 'd-0': 'one\ntwo\n', 'd-1': 'three\n' });
  const { status, text } = await read('all=true&tail=5&timestamps=true');
  expect({ status, text }).toEqual({ status: 200, text: 'd-0 | one\nd-0 | two\nd-1 | three\n' });
  expect(queries).toEqual([0, 1].map(() => expect.objectContaining({ tail: '5', timestamps: 'true' })));
});

test('the log of a part of an application is that of its deployment, with the same parameters', async () => {
  const { queries, update } = await aDeployment({ 'd-0': 'one\n', 'd-1': 'two\n' });
  const application = { id: randomUUID(), name: 'blog', created_by: 'test' };
  await fleet.client.application.create({ data: application });
  await update({ application_id: application.id, part: 'web' });
  const read = (query: string) => fleet.operator.get(`/api/v1/applications/${application.id}/logs?${query}`);
  const { status, text } = await read('part=web&all=true&tail=5');
  expect({ status, text }).toEqual({ status: 200, text: 'd-0 | one\nd-1 | two\n' });
  expect(queries).toEqual([0, 1].map(() => expect.objectContaining({ tail: '5' })));
  for (const query of ['part=database', 'all=true']) {
    const refused = await read(query);
    expect({ query, status: refused.status, path: refused.body.errors[0].path }).toEqual({
      query,
      status: 400,
      path: 'part',
    });
  }
});

test('the logs of all instances are followed, also of a later one, until the deployment is stopped', async () => {
  const logs: Record<string, string> = { 'd-0': 'one\n', 'd-1': 'two\n' };
  const { id, queries, update, withInstances } = await aDeployment(logs);
  const reading = follow(id);
  await eventually('both logs are followed', () => queries.length === 2);
  logs['d-2'] = 'three\n';
  await update(withInstances(['d-0', 'd-1', 'd-2']));
  await eventually('the log of the later instance is followed', () => queries.length === 3);
  await update({ desired_state: 'stopped' });
  expect((await reading).split('\n').sort()).toEqual(['', 'd-0 | one', 'd-1 | two', 'd-2 | three']);
});

test('the log of the first instance that runs is read, or before its restart of one that was started again', async () => {
  const { read, update } = await aDeployment({ 'd-0': 'zero\n', 'd-1': 'one\n', 'd-2': 'two\n' });
  const phases = ['crashed', 'running', 'running'];
  const instances = phases.map((phase, at) => ({ name: `d-${at}`, phase, message: '', restarts: at === 2 ? 3 : 0 }));
  await update({ instances });
  expect((await read('')).text).toBe('one\n');
  expect((await read('instance=d-0')).text).toBe('zero\n');
  await update({ instances: instances.map((instance) => ({ ...instance, phase: 'stopped' })) });
  expect((await read('')).text).toBe('zero\n');
});

test.each([
  ['container=main', 'container'],
  ['all=true&instance=d-0', 'instance'],
  ['previous=true&follow=true', 'previous'],
  ['since=yesterday', 'since'],
  ['since=', 'since'],
  ['since=10', 'since'],
  ['since=1m1h', 'since'],
  ['since=-5m', 'since'],
])('the query %s is rejected with 400', async (query, path) => {
  const { read } = await aDeployment({ 'd-0': '' });
  const { status, body } = await read(query);
  expect({ status, paths: body.errors.map((error: { path: string }) => error.path) }).toEqual({
    status: 400,
    paths: [path],
  });
});

test('the logs of more instances than a request may follow are rejected with 400', async () => {
  const { read, update, withInstances } = await aDeployment({ 'd-0': '' });
  await update(withInstances(Array.from({ length: 21 }, (_, ordinal) => `d-${ordinal}`)));
  const { status, body } = await read('all=true&follow=true');
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [
      {
        path: 'follow',
        message: 'must not be combined with all for more than 20 instances; the deployment has 21',
      },
    ],
  });
});

test.each([
  ['90s', 90],
  ['10m', 600],
  ['1h30m', 5400],
  ['2d', 172_800],
])('a log can be read since a duration before now: %s', async (since, seconds) => {
  const { read, queries } = await aDeployment({ 'd-0': '' });
  const before = Math.floor(Date.now() / 1000) - seconds;
  expect((await read(`since=${since}`)).status).toBe(200);
  const after = Math.floor(Date.now() / 1000) - seconds;
  const asked = Number(queries[0]?.since);
  expect(asked).toBeGreaterThanOrEqual(before);
  expect(asked).toBeLessThanOrEqual(after);
});
