import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { startReconciler } from '../../src/reconciler/reconciler.ts';
import { aNetworkStore, anEngine, endAll, serve } from '../engines/servers.ts';
import { SHORT_TIMINGS } from '../timings.ts';
import { startDeploymentWorld } from './world.ts';

afterEach(endAll);
const fleet = await startDeploymentWorld();
const digest = `sha256:${'ab'.repeat(32)}`;

/** Whether the last change requests a pull. The worker of a host would fulfil the request. */
async function requestsPull(id: string) {
  const { pull_requested } = await fleet.client.deployment.findUniqueOrThrow({ where: { id } });
  await fleet.client.deployment.update({ where: { id }, data: { pull_requested: false } });
  return pull_requested;
}

test('a creation, a restart, a start and a new revision request a pull, and other changes do not', async () => {
  await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload({ env_schema: [{ name: 'NAME' }] });
  const { id } = await fleet.deployed({ workload_id });
  expect(await requestsPull(id)).toBe(true);
  const after = async (change: Promise<{ readonly status: number }>) => {
    expect((await change).status).toBe(200);
    return requestsPull(id);
  };
  expect(await after(fleet.ask(id, 'scale', { replicas: 2 }))).toBe(false);
  expect(await after(fleet.change(id, { env: { NAME: 'new' } }))).toBe(false);
  expect(await after(fleet.change(id, { labels: { a: 'b' }, pull: 'always' }))).toBe(false);
  expect(await after(fleet.ask(id, 'restart'))).toBe(true);
  expect(await after(fleet.ask(id, 'stop'))).toBe(false);
  expect(await after(fleet.ask(id, 'start'))).toBe(true);
  await fleet.operator.put(`/api/v1/workloads/${workload_id}`, { image_tag: '2' });
  expect(await after(fleet.change(id, { revision: 2 }))).toBe(true);
  expect(await after(fleet.ask(id, 'rollback', { generation: 6 }))).toBe(true);
  const stopped = await fleet.deployed({ desired_state: 'stopped' });
  expect(await requestsPull(stopped.id)).toBe(false);
});

test('another pull applies to the next requested change on a host, and is a change on a cluster', async () => {
  const host = await fleet.aHost();
  const onHost = await fleet.deployed({ target: { host_id: host.id } });
  expect(onHost).toMatchObject({ pull: 'auto', image: { reference: 'docker.io/team/app:latest', digest: null } });
  const kept = (await fleet.change(onHost.id, { pull: 'never' })).body.deployment;
  expect(kept).toMatchObject({ pull: 'never', generation: 1, version: 2 });
  const cluster = await fleet.aCluster();
  const onCluster = await fleet.deployed({ target: { cluster_id: cluster.id } });
  const changed = (await fleet.change(onCluster.id, { pull: 'missing' })).body.deployment;
  expect(changed).toMatchObject({ pull: 'missing', generation: 2, phase: 'pending' });
});

test.each([
  ['auto', 'latest', null, 'Always'],
  ['auto', '1', null, 'IfNotPresent'],
  ['auto', 'latest', digest, 'IfNotPresent'],
  ['always', '1', null, 'Always'],
  ['missing', 'latest', null, 'IfNotPresent'],
  ['never', '1', null, 'Never'],
])(
  'a plan for a cluster with pull %s, the tag %s and the digest %s has the policy %s',
  async (pull, tag, image_digest, policy) => {
    await fleet.aCluster();
    const { id } = await fleet.aWorkload({ image_tag: tag, image_digest });
    const { body } = await fleet.plan({ workload_id: id, pull });
    expect(body.ok).toBe(true);
    const [container] = body.manifest.find(({ kind }: { kind: string }) => kind === 'Deployment').spec.template.spec
      .containers;
    const image = image_digest === null ? `docker.io/team/app:${tag}` : `docker.io/team/app@${digest}`;
    expect(container).toMatchObject({ image, imagePullPolicy: policy });
  },
);

test('an unknown pull is refused with the allowed ones', async () => {
  const { status, body } = await fleet.deploy({ template: 'any', pull: 'sometimes' });
  expect(status).toBe(400);
  expect(body.errors[0]).toMatchObject({ path: 'pull', message: expect.stringContaining('always') });
});

test('a pull is not repeated if the host becomes unreachable after it', async () => {
  const calls: string[] = [];
  const answerNetwork = aNetworkStore();
  const countOf = (call: string) => calls.filter((each) => each === call).length;
  const endpoint = await serve(
    anEngine((req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://engine');
      const call = `${req.method} ${pathname.replace('/v1.47', '')}`;
      calls.push(call);
      if (answerNetwork(req, res)) return;
      if (call === 'POST /containers/create') req.socket.destroy();
      else if (call === 'GET /containers/json') res.end('[]');
      else if (call === 'POST /images/create') res.end('{}');
      else if (countOf('POST /images/create') === 0) res.writeHead(404).end('{}');
      else res.end('{"Id": "sha256:1"}');
    }),
  );
  await fleet.aHost({ endpoint });
  const { id } = await fleet.deployed({ pull: 'always' });
  const { database, sealer, log, services } = fleet.world;
  const { hosts, clusters } = services.engineRuntime;
  const timings = SHORT_TIMINGS.reconciler;
  const { defaultLimits } = services;
  const reconciler = startReconciler({
    database,
    sealer,
    log,
    hosts,
    clusters,
    defaultLimits,
    concurrency: 1,
    timings,
  });
  try {
    await eventually('two creations are tried', async () => countOf('POST /containers/create') >= 2);
  } finally {
    await reconciler.stop();
    await services.engineRuntime.stop();
  }
  expect(countOf('POST /images/create')).toBe(1);
  expect(await fleet.client.deployment.findUnique({ where: { id } })).toMatchObject({
    pull_requested: false,
    host_image: { id: 'sha256:1' },
  });
});
