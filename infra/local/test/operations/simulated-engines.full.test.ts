// The simulated hosts of the bench (bench/fleet/engines.mjs), used by a fleet as in production.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { repository } from '../../src/settings.ts';
import { aDeployment, type Deployment } from '../sync/deployment.ts';

const ENGINES = path.join(repository, 'bench/fleet/engines.mjs');
const TIMEOUT_MS = 60_000;

let engines: ChildProcess;
let control: string;
let endpoint: string;
let fleet: Deployment;
let token: string;
let id: string;

beforeAll(async () => {
  engines = fork(ENGINES, [], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = await once(engines.stdout ?? engines, 'data');
  const started: { control: string; endpoints: string[] } = JSON.parse(String(line));
  control = started.control;
  endpoint = started.endpoints[0] ?? '';
  fleet = await aDeployment();
  await fleet.start('fleet', { OUTBOUND_ALLOW: 'http,loopback' });
  token = JSON.parse(await fleet.command('fleet', 'create-token', '--name', 'admin', '--role', 'admin')).secret;
});
afterAll(async () => {
  engines?.kill();
  await fleet?.stop();
});

async function send(method: string, at: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(`${fleet.urls.fleet}/api/v1${at}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

async function good(method: string, at: string, body?: object) {
  const response = await send(method, at, body);
  const text = await response.text();
  expect({ at, text, ok: response.ok }).toEqual({ at, text, ok: true });
  return JSON.parse(text);
}

const ask = async (method: string, at: string, body: object = {}) =>
  (await fetch(control + at, { method, ...(method === 'POST' && { body: JSON.stringify(body) }) })).json();
/** The body of a response. Its members are asserted by the tests. */
const bodyOf = async (response: Promise<Response>) => JSON.parse(await (await response).text());
const engine = (method: string, at: string, body?: object) =>
  fetch(endpoint.replace('tcp:', 'http:') + at, { method, ...(body && { body: JSON.stringify(body) }) });
const containers = async () => (await engine('GET', '/containers/json?all=true')).json() as Promise<Found[]>;

interface Found {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly State: string;
}

async function untilIs(phase: string) {
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await delay(200)) {
    const { deployment } = await good('GET', `/deployments/${id}`);
    if (deployment.phase === phase && deployment.observed_generation === deployment.generation) return deployment;
  }
  throw new Error(`the deployment is not ${phase}: ${JSON.stringify(await good('GET', `/deployments/${id}`))}`);
}

// Each test continues where the previous one ended.

test('a deployment reaches running', async () => {
  const [{ host }, { workload }] = [
    await good('POST', '/hosts', { name: 'machine', engine: 'docker', endpoint, network_types: ['mesh'] }),
    await good('POST', '/workloads', {
      ...{ name: 'app', image_name: 'team/app', ports: [{ containerPort: 80 }] },
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    }),
  ];
  const created = await good('POST', '/deployments', { name: 'app', workload_id: workload.id });
  id = created.deployment.id;
  const { endpoints, target, instances } = await untilIs('running');
  expect(target.host_id).toBe(host.id);
  expect(endpoints).toHaveLength(1);
  expect(instances).toEqual([expect.objectContaining({ phase: 'running', message: 'is running' })]);
  expect(await containers()).toEqual([expect.objectContaining({ State: 'running' })]);
  expect(await ask('GET', '/first-calls')).toEqual({ [id]: expect.any(Number) });
  expect(await ask('GET', '/calls')).toMatchObject({ 'POST /containers/create': 1, 'POST /volumes/create': 1 });
});

test('its log is read, and its events are streamed from the past and from now on', async () => {
  const [name] = (await containers()).flatMap(({ Names }) => Names.map((each) => each.slice(1)));
  expect(await (await send('GET', `/deployments/${id}/logs`)).text()).toContain(`${name} has started`);
  const filters = encodeURIComponent(JSON.stringify({ type: ['container'], label: [`fleet/deployment=${id}`] }));
  const until = Date.now() / 1000 + 1;
  const streamed = engine('GET', `/events?since=0&until=${until}&filters=${filters}`).then((response) =>
    response.text(),
  );
  await delay(200);
  await engine('POST', `/containers/${name}/pause`);
  await engine('POST', `/containers/${name}/unpause`);
  const actions = (await streamed)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).Action);
  expect(actions).toEqual(['create', 'start', 'pause', 'unpause']);
});

test('requests that a real engine rejects are rejected', async () => {
  const [found] = await containers();
  const name = found?.Names[0]?.slice(1);
  const { Mounts } = (await bodyOf(engine('GET', `/containers/${name}/json`))).HostConfig;
  const statuses = [
    await engine('POST', `/containers/create?name=${name}`, { Image: 'docker.io/team/app:latest' }),
    await engine('POST', '/containers/create?name=other', { Image: 'missing' }),
    await engine('DELETE', `/containers/${name}`),
    await engine('DELETE', `/volumes/${Mounts[0].Source}`),
    await engine('GET', '/volumes/missing'),
    await engine('POST', '/unknown'),
  ].map(({ status }) => status);
  expect(statuses).toEqual([409, 404, 409, 409, 404, 404]);
});

test('a restart replaces its container, and it is stopped and started again', async () => {
  const [before] = await containers();
  await good('POST', `/deployments/${id}/restart`);
  await untilIs('running');
  const [after, ...others] = await containers();
  expect(others).toEqual([]);
  expect(after?.Id).not.toBe(before?.Id);
  await good('POST', `/deployments/${id}/stop`);
  await untilIs('stopped');
  expect(await containers()).toEqual([]);
  await good('POST', `/deployments/${id}/start`);
  await untilIs('running');
});

test('another deployment is scaled', async () => {
  const { workload } = await good('POST', '/workloads', {
    name: 'web',
    image_name: 'team/web',
    ports: [{ containerPort: 80 }],
  });
  const { deployment } = await good('POST', '/deployments', { name: 'web', workload_id: workload.id });
  const previous = id;
  id = deployment.id;
  await good('POST', `/deployments/${id}/scale`, { replicas: 3 });
  await untilIs('running');
  expect(await containers()).toHaveLength(4);
  await good('POST', `/deployments/${id}/scale`, { replicas: 1 });
  await untilIs('running');
  expect(await containers()).toHaveLength(2);
  await good('DELETE', `/deployments/${id}`);
  id = previous;
});

test('a host that hangs answers only after it resumes', async () => {
  await ask('POST', '/hang', { hosts: [0] });
  let isAnswered = false;
  const answer = engine('GET', '/version').then((response) => {
    isAnswered = true;
    return response.status;
  });
  await delay(300);
  expect(isAnswered).toBe(false);
  await ask('POST', '/resume', { hosts: [0] });
  expect(await answer).toBe(200);
});

test('a deletion removes its containers and its volume', async () => {
  await good('DELETE', `/deployments/${id}`);
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await delay(200))
    if ((await containers()).length === 0 && (await send('GET', `/deployments/${id}`)).status === 404) break;
  expect(await containers()).toEqual([]);
  expect((await bodyOf(engine('GET', '/volumes'))).Volumes).toEqual([]);
  const creations = (await ask('GET', '/creations')) as { removedAt: number | null }[];
  expect(creations).toHaveLength(6);
  expect(creations.filter(({ removedAt }) => removedAt === null)).toEqual([]);
});
