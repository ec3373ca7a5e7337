import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from '@svc/testing';
import { readDesired } from '../../../src/reconciler/desired.ts';
import { returnToGood } from '../../../src/reconciler/rollout/restore.ts';
import { updateAutomatically } from '../../../src/reconciler/updates/automatic.ts';
import { startImageChecks } from '../../../src/reconciler/updates/image-checks.ts';
import { anEngine, endAll, serve } from '../../engines/servers.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import { aPlainTemplate, namesIn, withTemplate } from '../templates/advised.ts';
import { type Body, startDeploymentWorld } from '../world.ts';
import { observed, passesOf, workerContextOf } from './passes.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { claimOf, pass } = passesOf(fleet);
const { publish, reset, deployed } = withTemplate(fleet, aPlainTemplate());

const digestOf = (name: string): string => `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0')}`;
const [first, second, third] = [digestOf('1'), digestOf('2'), digestOf('3')];

const PODMAN = { 'Api-Version': '1.41', 'Libpod-Api-Version': '4.3.1' };

/** What the registry answers to engines. */
let latest = first;
let refusal: readonly [status: number, message: string] | undefined;
/** The requests to engines, and those that are answered later. */
let asked: IncomingMessage[] = [];
let unanswered: ServerResponse[] | undefined;

const answer = (res: ServerResponse): void => {
  if (refusal) res.writeHead(refusal[0]).end(JSON.stringify({ message: refusal[1] }));
  else res.end(JSON.stringify({ Descriptor: { digest: latest }, Platforms: [] }));
};
const docker = anEngine((req, res) => {
  asked.push(req);
  if (unanswered) unanswered.push(res);
  else answer(res);
});
/** It has pulled the tag when it is asked for its image. */
const podman = anEngine((req, res) => {
  asked.push(req);
  if (req.method === 'POST') res.end('{"status": "done"}');
  else res.end(JSON.stringify({ Id: `id of ${latest}`, RepoDigests: [`docker.io/team/app@${latest}`] }));
}, PODMAN);

const checks: { stop(): Promise<void> }[] = [];
/** Starts the checks of a replica. */
function aReplica(timings: Partial<typeof SHORT_TIMINGS.reconciler> = {}): void {
  const { database, sealer, log, services } = world;
  const given = { ...SHORT_TIMINGS.reconciler, imageChecks: 50, ...timings };
  checks.push(startImageChecks({ database, sealer, log, hosts: services.engineRuntime.hosts, timings: given }));
}

beforeEach(async () => {
  reset();
  latest = first;
  refusal = undefined;
  unanswered = undefined;
  asked = [];
});
afterAll(() => world.services.engineRuntime.stop());
afterEach(async () => {
  await Promise.all(checks.splice(0).map((each) => each.stop()));
  await endAll();
});

const onDocker = async () => ({ host_id: (await fleet.aHost({ endpoint: await serve(docker) })).id });

const updates = { ready_seconds: 0 };

/** Passes in which the deployment runs an image. */
async function runs(id: string, digest: string): Promise<void> {
  const { image } = await fleet.deployment(id);
  const host_image = { reference: image.reference, id: `id of ${digest}`, digest };
  await client.deployment.update({ where: { id }, data: { host_image, pull_requested: false } });
  await pass(id, observed({ imageDigest: digest }));
  await pass(id, observed({ imageDigest: digest }));
}

/** A deployment whose first generation is good, and runs the first image. */
async function running(given: Body = {}): Promise<string> {
  const { id } = await (given.template ? deployed : fleet.deployed)({ updates, ...given });
  await runs(id, first);
  return id;
}
const check = async (id: string) => {
  const { status, body } = await fleet.ask(id, 'check-image');
  expect(status).toBe(200);
  return body.deployment;
};
const updateOf = async (id: string) => (await fleet.deployment(id)).update;
const upgradePlan = async (id: string) => (await fleet.plan({ deployment_id: id, upgrade: true })).body;
/** Updates a deployment as it is planned. */
async function upgrade(id: string): Promise<Body> {
  const { digest } = await upgradePlan(id);
  const answered = await fleet.ask(id, 'upgrade', { expected: digest });
  expect(answered.status).toBe(200);
  return answered.body.deployment;
}
const isImageOf = async (id: string): Promise<string> => {
  const manifest: Body[] = await fleet.manifest(id);
  return String(manifest.find(({ kind }) => kind === 'Image')?.name);
};

/** The generation fails, and a worker returns to the last good one. */
async function fail(id: string): Promise<void> {
  const failure = { phase: 'failed', reason: 'ImageNotFound', message: 'No such image.' } as const;
  await pass(id, observed(failure, { ready: false, phase: 'missing' }));
  const claim = await claimOf(id);
  const desired = await readDesired(world.database, world.sealer, claim);
  if (!desired) throw new Error('the deployment is gone');
  await returnToGood(context, claim, desired.row);
  await pass(id, observed({ imageDigest: first }));
  await pass(id, observed({ imageDigest: first }));
}

const context = { ...workerContextOf(fleet), updateConcurrency: 5 };
const search = () => updateAutomatically(context, new AbortController().signal);

const ofImage = { kinds: ['image'], to_version: null, to_digest: second, held: null };

test('a check finds that the tag has moved, and the update runs exactly the planned digest', async () => {
  aReplica();
  const id = await running({ name: 'web', target: await onDocker(), workload: { image_tag: '1.27' } });
  expect((await check(id)).image).toEqual({
    reference: 'docker.io/team/app:1.27',
    digest: first,
    latest_digest: first,
    checked_at: expect.any(String),
    checking: false,
    check_error: null,
  });
  expect(await updateOf(id)).toBeNull();
  latest = second;
  expect((await check(id)).update).toEqual(ofImage);
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual(
    Array(2).fill('GET /v1.47/distribution/docker.io/team/app:1.27/json'),
  );
  expect(await namesIn(fleet, 'deployments', 'update=available')).toEqual(['web']);
  const plan = await upgradePlan(id);
  expect(plan).toMatchObject({
    ok: true,
    template: null,
    image: { reference: 'docker.io/team/app:1.27', from_digest: first, to_digest: second },
    values: [{ path: 'image', from: 'docker.io/team/app:1.27', to: `docker.io/team/app@${second}` }],
    replaces_instances: true,
    rollout: { extra_instances: 1 },
  });
  latest = third;
  await check(id);
  const stale = await fleet.ask(id, 'upgrade', { expected: plan.digest });
  expect(stale).toMatchObject({ status: 409, body: { code: 'plan_outdated' } });
  expect(await upgrade(id)).toMatchObject({ generation: 2, revision: 1, update: null });
  expect(await isImageOf(id)).toBe(`docker.io/team/app@${third}`);
  expect((await fleet.events(id))[0].message).toBe(`updated to the image ${third.slice(0, 19)} of its tag`);
  expect(await client.deployment.findUnique({ where: { id } })).toMatchObject({ pull_requested: true });
  await runs(id, third);
  expect(await fleet.deployment(id)).toMatchObject({ update: null, image: { digest: third, latest_digest: third } });
});

test('Podman pulls the tag to know its image, and the same image with another digest is no update', async () => {
  aReplica();
  const { id: host_id } = await fleet.aHost({ engine: 'podman', endpoint: await serve(podman) });
  const id = await running({ target: { host_id } });
  latest = second;
  expect((await check(id)).update).toEqual(ofImage);
  expect(asked[0]?.url).toBe('/v1.41/images/create?fromImage=docker.io%2Fteam%2Fapp%3Alatest');
  await client.deployment.update({
    where: { id },
    data: { host_image: { reference: '', id: `id of ${second}`, digest: first } },
  });
  expect(await fleet.deployment(id)).toMatchObject({ update: null, image: { latest_digest: first } });
});

test('a tag is checked once for all deployments of a host, with the credentials of one that has them', async () => {
  await fleet.aSecret('pull', { username: 'me', password: 'hunter-2' }, { kind: 'registry', server: 'docker.io' });
  const target = await onDocker();
  const ids = [await running({ target }), await running({ target, workload: { registry_credentials: 'pull' } })];
  const pinned = await running({ target, workload: { image_digest: first } });
  latest = second;
  await Promise.all(ids.map((id) => fleet.ask(id, 'check-image')));
  aReplica();
  for (const id of ids)
    await eventually('the update is known', () => updateOf(id), { until: (update) => update !== null });
  expect(await updateOf(pinned)).toBeNull();
  expect(asked).toHaveLength(1);
  const auth = JSON.parse(Buffer.from(String(asked[0]?.headers['x-registry-auth']), 'base64url').toString());
  expect(auth).toMatchObject({ username: 'me', password: 'hunter-2' });
});

test('only tags that deployments follow are checked without a request', async () => {
  const target = await onDocker();
  const tagOf = (image_tag: string, from: string) => running({ target, workload: { image_tag }, updates: { from } });
  await tagOf('manual', 'manual');
  await tagOf('template', 'template');
  const followed = [await tagOf('image', 'image'), await tagOf('all', 'all')];
  latest = second;
  aReplica();
  for (const id of followed)
    await eventually('the tag is checked', async () => (await fleet.deployment(id)).update !== null);
  expect(asked.map(({ url }) => /app:(\w+)/.exec(url ?? '')?.[1]).toSorted()).toEqual(['all', 'image']);
});

test('two replicas together make at most two checks at the same time on a host', async () => {
  const target = await onDocker();
  unanswered = [];
  for (const image_tag of ['1', '2', '3', '4'])
    await running({ target, workload: { image_tag }, updates: { from: 'image' } });
  aReplica();
  aReplica();
  await eventually('two checks wait', async () => unanswered?.length === 2);
  const waiting = async () => client.imageCheck.count({ where: { lease_until: { gt: new Date() } } });
  expect(await waiting()).toBe(2);
  for (let answered = 0; answered < 4; answered += 1) {
    const response = await eventually('a check waits', async () => unanswered?.shift(), {
      until: (found) => found !== undefined,
    });
    expect(await waiting()).toBeLessThanOrEqual(2);
    if (response) answer(response);
  }
  await eventually('all are checked', async () => (await client.imageCheck.count({ where: { digest: first } })) === 4);
  expect(asked).toHaveLength(4);
});

test('a check of a worker that was killed is repeated', async () => {
  const id = await running({ target: await onDocker() });
  unanswered = [];
  aReplica({ lease: 300 });
  expect((await check(id)).image).toMatchObject({ checking: true, checked_at: null });
  const key = { image_name: 'team/app' };
  await client.imageCheck.updateMany({ where: key, data: { lease_owner: '00000000-0000-0000-0000-000000000000' } });
  const repeated = await eventually('another check waits', async () => unanswered?.[1], {
    until: (found) => found !== undefined,
  });
  unanswered = undefined;
  if (repeated) answer(repeated);
  await eventually('it is checked', async () => (await fleet.deployment(id)).image.latest_digest === first);
});

test('a failed check states why without the credentials, and what was known stays', async () => {
  await fleet.aSecret('pull', { username: 'me', password: 'hunter-2' }, { kind: 'registry', server: 'docker.io' });
  aReplica();
  const id = await running({ target: await onDocker(), workload: { registry_credentials: 'pull' } });
  latest = second;
  await check(id);
  refusal = [401, 'unauthorized: the password hunter-2 is wrong'];
  const { image, update } = await check(id);
  expect(image).toMatchObject({
    latest_digest: second,
    check_error: expect.stringContaining('unauthorized: the password ••• is wrong'),
  });
  expect(image.check_error).not.toContain('hunter-2');
  expect(update).toEqual(ofImage);
  refusal = undefined;
  expect((await check(id)).image.check_error).toBeNull();
  await client.secret.updateMany({ data: { server: 'registry.example.com' } });
  expect((await check(id)).image.check_error).toMatch(/registry\.example\.com and is not sent to docker\.io/);
  expect(asked).toHaveLength(3);
});

test('a tag that cannot be checked is refused with the reason', async () => {
  const target = await onDocker();
  const { id: cluster_id } = await fleet.aCluster();
  const reasons: [Body, string][] = [
    [{ target: { cluster_id } }, 'the API of a cluster does not tell which image a tag names in its registry'],
    [{ target, workload: { image_digest: first } }, 'selects the image by a digest'],
    [{ target, pull: 'never' }, 'it never pulls its image'],
    [{ target, desired_state: 'stopped' }, 'it is stopped'],
  ];
  for (const [given, reason] of reasons) {
    const { id } = await fleet.deployed(given);
    const { status, body } = await fleet.ask(id, 'check-image');
    expect([status, body.code]).toEqual([409, 'not_supported']);
    expect(body.detail).toContain(reason);
  }
  const { id } = await fleet.deployed({ target });
  expect((await fleet.viewer.post(`/api/v1/deployments/${id}/check-image`)).status).toBe(403);
  expect(await client.imageCheck.count()).toBe(0);
});

test('a restart keeps the image of an update, except where a restart pulls the tag', async () => {
  aReplica();
  const target = await onDocker();
  const tagged = await running({ target, workload: { image_tag: '1.27' } });
  const newest = await running({ target });
  latest = second;
  for (const id of [tagged, newest]) {
    await check(id);
    await upgrade(id);
    await runs(id, second);
    expect(await isImageOf(id)).toBe(`docker.io/team/app@${second}`);
    await fleet.ask(id, 'restart');
  }
  expect(await isImageOf(tagged)).toBe(`docker.io/team/app@${second}`);
  expect(await isImageOf(newest)).toBe('docker.io/team/app:latest');
  const { workload_id } = await fleet.deployment(tagged);
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { image_tag: '1.28' });
  await fleet.change(tagged, { revision: 2 });
  expect(await isImageOf(tagged)).toBe('docker.io/team/app:1.28');
});

test('a rollback requests the digest that the generation ran, and is not undone automatically', async () => {
  aReplica();
  const id = await running({ target: await onDocker(), updates: { ...updates, from: 'image' } });
  latest = second;
  await check(id);
  await upgrade(id);
  await runs(id, second);
  const { body } = await fleet.ask(id, 'rollback');
  expect(body.deployment).toMatchObject({ generation: 3, revision: 1 });
  expect(await isImageOf(id)).toBe(`docker.io/team/app@${first}`);
  await runs(id, first);
  expect(await updateOf(id)).toEqual(ofImage);
  await search();
  expect(await fleet.deployment(id)).toMatchObject({ generation: 3, update: { held: { reason: 'RolledBack' } } });
});

test('an update that fails returns to the image that ran, and is held until the tag moves again', async () => {
  aReplica();
  const id = await running({ name: 'web', target: await onDocker() });
  latest = second;
  await check(id);
  await upgrade(id);
  await fail(id);
  expect(await fleet.deployment(id)).toMatchObject({
    generation: 3,
    rollout: { state: 'rolled_back' },
    image: { digest: first },
  });
  expect(await isImageOf(id)).toBe('docker.io/team/app:latest');
  expect(await client.deployment.findUnique({ where: { id } })).toMatchObject({
    pull_requested: false,
    host_image: { digest: first },
  });
  expect((await updateOf(id)).held).toMatchObject({ reason: 'ImageNotFound', generation: 2 });
  expect(await namesIn(fleet, 'deployments', 'update=held')).toEqual(['web']);
  const { digest, held } = await upgradePlan(id);
  expect(held).toMatchObject({ generation: 2 });
  expect((await fleet.ask(id, 'upgrade', { expected: digest })).body.code).toBe('update_held');
  latest = third;
  expect((await check(id)).update).toEqual({ ...ofImage, to_digest: third });
  expect((await upgradePlan(id)).held).toBeNull();
});

test('the policy states what is updated automatically, and a digest that has failed is not tried again', async () => {
  aReplica();
  const target = await onDocker();
  await publish({ image_name: 'team/app', registry_url: 'docker.io', image_tag: '1' });
  const policies = ['manual', 'template', 'image', 'all'];
  const ids: string[] = [];
  for (const from of policies) ids.push(await running({ template: 'tool', target, updates: { ...updates, from } }));
  await publish({ version: '1.1.0', env: [{ name: 'MODE', value: 'careful' }] });
  latest = second;
  for (const id of ids) await check(id);
  expect((await updateOf(ids[0] ?? '')).kinds).toEqual(['template', 'image']);
  await search();
  const states = await Promise.all(
    ids.map(async (id) => {
      const { generation, revision } = await fleet.deployment(id);
      return [generation, revision, await isImageOf(id)];
    }),
  );
  const [old, moved] = ['docker.io/team/app:1', `docker.io/team/app@${second}`];
  expect(states).toEqual([
    [1, 1, old],
    [2, 2, old],
    [2, 1, moved],
    [2, 2, moved],
  ]);
  const [, , followed = ''] = ids;
  const [event] = await fleet.events(followed);
  expect(event).toMatchObject({
    actor: 'fleet',
    message: `updated to the image ${second.slice(0, 19)} of its tag automatically`,
  });
  await fail(followed);
  await search();
  expect((await fleet.deployment(followed)).generation).toBe(3);
  latest = third;
  await check(followed);
  await search();
  expect((await fleet.deployment(followed)).generation).toBe(3);
  expect((await updateOf(followed)).held).toMatchObject({ reason: 'Returned' });
  await fleet.ask(followed, 'restart');
  await runs(followed, first);
  await search();
  expect(await isImageOf(followed)).toBe(`docker.io/team/app@${third}`);
});

test('an update of a deployment without a template changes only the image', async () => {
  aReplica();
  const id = await running({ target: await onDocker() });
  expect(await fleet.plan({ deployment_id: id, upgrade: true })).toMatchObject({
    status: 422,
    body: { code: 'no_template' },
  });
  const { workload_id } = await fleet.deployment(id);
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { command: ['serve'] });
  latest = second;
  await check(id);
  expect((await upgradePlan(id)).values).toEqual([expect.objectContaining({ path: 'image' })]);
  expect(await upgrade(id)).toMatchObject({ revision: 1, generation: 2 });
});
