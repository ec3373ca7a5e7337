// Every template of the starter catalog in a namespace with policies: the plan names what the cluster refuses, and the others run.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Template } from '@svc/contract';
import type { DryRun } from '@svc/contract/fleet';
import { byDepth, eventually, LONG_TEST_MS } from '@svc/testing';
import { describeWithCluster } from '@svc/testing/cluster';
import { violationsOf } from '../../../../../infra/cluster/policies/pod-security.mjs';
import { mapConcurrently } from '../../../src/engines/concurrency.ts';
import type { KubernetesClient } from '../../../src/engines/kubernetes/client.ts';
import { requiredOf, secretsOf, starterTemplates } from '../../deployments/templates/catalog.ts';
import { type AnyCluster, aNamespace, aRealCluster, aSimulatedCluster, startFleetOn } from './any-cluster.ts';
import { removeNodes, startAutoscaler } from './autoscaler.ts';

/** Nodes for templates that need more than the nodes of the cluster have. */
const POOL = {
  name: 'large',
  capacity: { cpu: '64', memory: '512Gi', 'nvidia.com/gpu': '8' },
  labels: {
    'nvidia.com/gpu.product': 'NVIDIA-H200',
    'nvidia.com/gpu.memory': '143771',
    'nvidia.com/gpu.present': 'true',
    'kubernetes.io/arch': 'amd64',
  },
  taints: [],
  max: 4,
};
const ELASTIC = {
  max_nodes: 20,
  per_replica: { cpu: '64', memory: '512Gi', gpu_count: 8 },
  gpus: [{ model: 'NVIDIA-H200', vram: '140Gi', count: 32 }],
};

/** What each policy says when it refuses an object. */
const RULES = [
  /violates PodSecurity "restricted:latest": \w+/,
  /the label "team" is required by the policy of this namespace/,
  /must have a tag other than "latest"/,
  /maximum (?:cpu|memory) usage per Container is /,
  /must be less than or equal to cpu limit/,
  /^(?:requests|limits)\.\w+: 1 replica needs? .* are free/,
];

/** The policies of the test cluster (infra/cluster) that a namespace has. */
const NAMESPACES = {
  'with quotas, limit ranges and webhooks': {
    'cluster.test/deny': 'latest-tag',
    'cluster.test/mutate': 'annotation',
  },
  'that also requires a label and enforces Pod Security restricted': {
    'cluster.test/deny': 'latest-tag',
    'cluster.test/mutate': 'annotation',
    'cluster.test/require-label': 'team',
    'pod-security.kubernetes.io/enforce': 'restricted',
  },
} as const;

type Labels = Readonly<Record<string, string>>;

async function prepare(client: KubernetesClient, labels: Labels): Promise<void> {
  const { core } = await client.apis();
  const { namespace } = client.address;
  await core.createNamespace({ body: { metadata: { name: namespace, labels } } });
  const hard = { 'requests.cpu': '80', 'limits.cpu': '160', 'requests.memory': '400Gi', 'limits.memory': '400Gi' };
  await core.createNamespacedResourceQuota({
    namespace,
    body: { metadata: { name: 'compute' }, spec: { hard: { ...hard, pods: '50' } } },
  });
  const container = {
    type: 'Container',
    _default: { cpu: '16', memory: '2Gi' },
    defaultRequest: { cpu: '100m', memory: '64Mi' },
    max: { cpu: '16', memory: '64Gi' },
  };
  await core.createNamespacedLimitRange({
    namespace,
    body: { metadata: { name: 'containers' }, spec: { limits: [container] } },
  });
}

/** Templates from all parts of the catalog. */
const SAMPLE = byDepth({ short: 6, full: starterTemplates.length, long: starterTemplates.length });
const sample = starterTemplates.filter(
  (_, index) =>
    Math.floor((index * SAMPLE) / starterTemplates.length) !==
    Math.floor(((index - 1) * SAMPLE) / starterTemplates.length),
);

const requestOf = (template: Template) => ({
  name: `the-${template.slug}`,
  template: template.slug,
  env: requiredOf(template),
  labels: { team: 'ml' },
});

interface Planned {
  readonly template: Template;
  readonly manifest: readonly Manifest[];
  readonly dryRun: readonly DryRun[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly labels?: Labels };
  readonly spec?: { readonly template?: object };
}

const refusalsOf = ({ dryRun }: Planned) => dryRun.filter(({ result }) => result === 'refused');

/** Whether a template complies with the policies that need no amounts, by the manifest of its plan. */
function complies({ manifest }: Planned, labels: Labels): boolean {
  const isLabelled = manifest.every(({ metadata }) => metadata.labels?.team !== undefined);
  const pods = manifest.flatMap(({ spec }) => spec?.template ?? []);
  const isRestricted = pods.every((pod) => violationsOf('restricted', pod).length === 0);
  return (
    (isLabelled || !('cluster.test/require-label' in labels)) &&
    (isRestricted || !('pod-security.kubernetes.io/enforce' in labels))
  );
}

/** The instances of a deployment, and the node of each. */
interface Placed {
  readonly instances: readonly { readonly node: string | null }[];
}

/** Whether a deployment runs on real nodes. The autoscaler adds simulated ones, whose logs are simulated as well. */
const isOnRealNodes = ({ instances }: Placed) => instances.every(({ node }) => node?.startsWith(POOL.name) === false);

function testPolicies(connect: (namespace: string) => Promise<AnyCluster>, { isReal = false } = {}): void {
  describe.each(Object.entries(NAMESPACES))('a namespace %s', (_, labels: Labels) => {
    let cluster: AnyCluster;
    let fleet: Awaited<ReturnType<typeof startFleetOn>>;
    let autoscaler: ReturnType<typeof startAutoscaler>;
    let planned: Planned[];

    beforeAll(async () => {
      cluster = await connect(aNamespace());
      await prepare(cluster.client, labels);
      fleet = await startFleetOn(cluster, sample, { elastic: ELASTIC });
      for (const [name, values] of Object.entries(secretsOf(sample)))
        await fleet.good(fleet.api.post('/api/v1/secrets', { name, values }));
      autoscaler = startAutoscaler(cluster.client, POOL);
    });
    afterAll(async () => {
      await autoscaler?.stop();
      await fleet?.stop();
      await removeNodes(cluster.client, autoscaler?.added ?? []);
      await cluster?.stop();
    });

    test(
      'plans each template, and names the rule of each refusal',
      async () => {
        planned = await mapConcurrently(sample, async (template) => {
          const { ok, refusals, manifest, dry_run: dryRun } = await fleet.plan(requestOf(template));
          expect({ slug: template.slug, ok, refusals }).toEqual({ slug: template.slug, ok: true, refusals: [] });
          return { template, manifest, dryRun };
        });
        for (const plan of planned) {
          const { slug } = plan.template;
          expect({ slug, notChecked: plan.dryRun.filter(({ result }) => result === 'not_checked') }).toEqual({
            slug,
            notChecked: [],
          });
          const unknown = refusalsOf(plan).filter(({ message }) => !RULES.some((rule) => rule.test(message)));
          expect({ slug, unknown }).toEqual({ slug, unknown: [] });
          if (!complies(plan, labels)) expect({ slug, refused: refusalsOf(plan) }).not.toEqual({ slug, refused: [] });
        }
      },
      LONG_TEST_MS,
    );

    test(
      'runs and updates the templates that it accepts',
      async () => {
        const accepted = planned.filter((plan) => refusalsOf(plan).length === 0);
        expect(accepted.length > 0).toBe(planned.some((plan) => complies(plan, labels)));
        await mapConcurrently(accepted, async ({ template }) => {
          const { id } = await fleet.deploy(requestOf(template));
          const runs = async () =>
            eventually(`${template.slug} runs`, () => fleet.deployment(id), {
              until: ({ phase, generation, observed_generation }) =>
                observed_generation === generation &&
                (phase === 'running' || (template.kind === 'job' && phase === 'stopped')),
            });
          const { generation, ...placed } = await runs();
          const user = template.run_as;
          if (isReal && user !== null && isOnRealNodes(placed)) {
            // The stand-ins of infra/cluster print it.
            const { text } = await fleet.api.get(`/api/v1/deployments/${id}/logs`);
            const printed = `stand-in runs as ${user.includes(':') ? user : `${user}:`}`;
            expect({ slug: template.slug, log: text }).toEqual({
              slug: template.slug,
              log: expect.stringContaining(printed),
            });
          }
          await fleet.ask(id, 'restart');
          expect((await runs()).generation).toBe(generation + 1);
          await fleet.removed(id);
        });
      },
      LONG_TEST_MS,
    );

    test(
      'refuses at the deployment what the plan said that it refuses',
      async () => {
        const [refused] = planned.filter((plan) => refusalsOf(plan).length > 0 && plan.template.kind !== 'job');
        if (!refused) return expect(planned.every((plan) => complies(plan, labels))).toBe(true);
        const [{ message: sentence } = { message: '' }] = refusalsOf(refused);
        const { id } = await fleet.deploy(requestOf(refused.template));
        const { message } = await eventually('the refusal is reported', () => fleet.deployment(id), {
          until: ({ phase }) => ['failed', 'retrying', 'degraded'].includes(phase),
        });
        const [rule] = RULES.flatMap((each) => each.exec(sentence)?.[0] ?? []);
        expect(message).toContain(rule);
        await fleet.removed(id);
      },
      LONG_TEST_MS,
    );
  });
}

describe('policies with a simulated API server:', () => testPolicies((namespace) => aSimulatedCluster(namespace)));

describeWithCluster('policies of a cluster:', (cluster) =>
  testPolicies(async (namespace) => aRealCluster(cluster(), namespace), { isReal: true }),
);
