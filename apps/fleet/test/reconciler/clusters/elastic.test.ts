// A GPU template that is deployed from zero: the cluster adds a node when its pod is pending.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, LONG_TEST_MS } from '@svc/testing';
import { describeWithCluster } from '@svc/testing/cluster';
import { requiredOf, starterTemplates } from '../../deployments/templates/catalog.ts';
import { type AnyCluster, aNamespace, aRealCluster, aSimulatedCluster, startFleetOn } from './any-cluster.ts';
import { removeNodes, startAutoscaler } from './autoscaler.ts';

/** A service with one GPU. */
const TEMPLATES = starterTemplates.filter(({ slug }) => slug === 'llama-cpp-cuda');

const POOL = {
  name: 'gpu',
  capacity: { cpu: '8', memory: '64Gi', 'nvidia.com/gpu': '1' },
  labels: { 'nvidia.com/gpu.product': 'NVIDIA-L4', 'nvidia.com/gpu.memory': '24576' },
  taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }],
  max: 1,
};

function testFromZero(connect: () => Promise<AnyCluster>): void {
  let cluster: AnyCluster;
  let fleet: Awaited<ReturnType<typeof startFleetOn>>;
  let autoscaler: ReturnType<typeof startAutoscaler>;
  let presentNodes: number;

  beforeAll(async () => {
    cluster = await connect();
    const { core } = await cluster.client.apis();
    await core.createNamespace({ body: { metadata: { name: cluster.address.namespace } } });
    presentNodes = (await core.listNode({})).items.length;
    fleet = await startFleetOn(cluster, TEMPLATES, {
      elastic: {
        max_nodes: presentNodes + 1,
        per_replica: { cpu: '8', memory: '64Gi', gpu_count: 1 },
        gpus: [{ model: 'NVIDIA-L4', vram: '24Gi', count: 1 }],
      },
    });
    autoscaler = startAutoscaler(cluster.client, POOL);
  });
  afterAll(async () => {
    await autoscaler?.stop();
    await fleet?.stop();
    await removeNodes(cluster.client, autoscaler?.added ?? []);
    await cluster?.stop();
  });

  const [request] = TEMPLATES.map((template) => ({ template: template.slug, env: requiredOf(template) }));

  test(
    'a template with a GPU is planned, deployed and running on a node that is added for it',
    async () => {
      const plan = await fleet.plan({ name: 'first', ...request });
      expect({ ok: plan.ok, refusals: plan.refusals }).toEqual({ ok: true, refusals: [] });
      expect(plan.placement.candidates[0].reasons[0]).toMatch(/^needs a new node: /);
      const { id } = await fleet.deploy({ name: 'first', ...request });
      await fleet.deploymentIs(id, 'running');
      expect(autoscaler.added).toHaveLength(1);
      const { core } = await cluster.client.apis();
      const labelSelector = `fleet/deployment=${id}`;
      const { items } = await core.listNamespacedPod({ namespace: cluster.address.namespace, labelSelector });
      expect(items.map(({ spec }) => spec?.nodeName)).toEqual(autoscaler.added);
    },
    LONG_TEST_MS,
  );

  test('the limits count what is present: another one is refused, and so is a plan of two replicas', async () => {
    await eventually('the check has found the new node', async () => (await fleet.checked()).capacity.gpu_count === 1);
    const plan = await fleet.plan({ name: 'second', ...request });
    expect({ ok: plan.ok, reasons: plan.placement.candidates[0].reasons }).toEqual({
      ok: false,
      reasons: [
        expect.stringContaining('needs 1 new node, and the limit'),
        expect.stringContaining('and the limits of the elastic cluster permit 0'),
      ],
    });
  });

  test(
    'after the deletion of the deployment, another one uses the present node',
    async () => {
      const { body } = await fleet.api.get('/api/v1/deployments?name=first');
      await fleet.removed(body.deployments[0].id);
      const plan = await fleet.plan({ name: 'third', ...request });
      expect(plan.placement.candidates[0].reasons[0]).toMatch(/^fits: /);
    },
    LONG_TEST_MS,
  );
}

describe('an elastic cluster with a simulated API server', () => testFromZero(() => aSimulatedCluster(aNamespace())));

describeWithCluster('an elastic cluster', (cluster) => testFromZero(async () => aRealCluster(cluster(), aNamespace())));
