// A plan and the creation with the same body always have the same result.
import { randomUUID } from 'node:crypto';
import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { aTemplate } from '../../a-template.ts';
import { type Body, reasonsOf, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;

const RUNS = byDepth({ short: 30, full: 300, long: 3000 });

const one = <const T>(...values: T[]) => fc.constantFrom(...values);
const often = <const T>(usual: T, ...others: T[]) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 5 }, { arbitrary: one(...others), weight: 1 });
const NAMES = ['a', 'b', 'c'] as const;

const state = fc.record({
  hosts: fc.array(
    fc.record({
      cpus: often(8, 1),
      gpuCount: often(2, 0),
      reachability: often('online', 'unreachable'),
      /** The number of free host ports; undefined: all. */
      freePorts: often(undefined, 0, 1),
    }),
    { minLength: 0, maxLength: 2 },
  ),
  hasSecret: often(true, false),
  tier: often('pro', 'free'),
  workloads: fc.subarray([...NAMES]),
});

const request = fc.record({
  name: one(...NAMES),
  source: often('plain', 'demanding', 'absent', 'workload', 'unknown workload'),
  revision: often(undefined, 2),
  replicas: often(1, 2, 9),
  env: one<object>(
    { NAME: 'x' },
    { NAME: 'x' },
    {},
    { OTHER: 'x' },
    { NAME: { generate: 32 } },
    { NAME: { secret: 'password', key: 'PASSWORD' } },
    { NAME: { deployment: 'a', variable: 'NAME' } },
  ),
  volumes: often({}, { data: { size: '1Gi' } }, { data: { storage_id: randomUUID() } }, { other: {} }),
  target: often('any', 'first', 'unknown'),
  desired_state: often('running', 'stopped'),
  /** What happens to the deployment after its creation. */
  after: often('stays', 'is deleted', 'is being deleted', 'is deleted without its workload'),
});
type State = typeof state extends fc.Arbitrary<infer S> ? S : never;
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

const free = { node_selector: {}, required_network_types: [], registry_credentials: null, volume_mounts: [] };
const optional = { name: 'NAME', required: false, default_value: '', description: '' };
const templates = [
  aTemplate({ slug: 'plain', ...free, secret_refs: [], env_schema: [optional] }),
  aTemplate({
    slug: 'demanding',
    ...free,
    min_tier: 'pro',
    gpu_count: 1,
    cpu_request: '2',
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
    ports: [
      { containerPort: 80, protocol: 'TCP' },
      { containerPort: 81, protocol: 'TCP' },
    ],
  }),
];

/**
 * Establishes the state. The host ports that are not free are allocated to a stopped deployment.
 */
async function establish({ hosts, hasSecret, tier, workloads }: State) {
  await fleet.empty();
  await client.$executeRaw`UPDATE catalog_sync SET organization = jsonb_build_object('tier', ${tier}::text)`;
  if (hasSecret) await fleet.aSecret('password', { PASSWORD: 'hidden' });
  const madeHosts: string[] = [];
  for (const { freePorts, ...host } of hosts) {
    const { id } = await fleet.aHost(host);
    madeHosts.push(id);
    if (freePorts === undefined) continue;
    const target = { host_id: id };
    const { id: user } = await fleet.deployed({ desired_state: 'stopped', target });
    await client.$executeRaw`
      INSERT INTO allocated_ports (host_id, protocol, host_port, deployment_id, ordinal, container_port)
      SELECT ${id}::uuid, 'TCP', port, ${user}::uuid, 0, port FROM generate_series(${20_000 + freePorts}::int, 29999) port`;
  }
  const madeWorkloads: string[] = [];
  for (const name of workloads) {
    madeWorkloads.push((await fleet.aWorkload({ name, env_schema: [{ name: 'NAME', required: true }] })).id);
  }
  return { hosts: madeHosts, workloads: madeWorkloads };
}

type Established = Awaited<ReturnType<typeof establish>>;

function bodyOf({ source, target, after: _, ...rest }: Request, { hosts, workloads }: Established): Body {
  const [firstHost = randomUUID()] = hosts;
  const [firstWorkload = randomUUID()] = workloads;
  const targets = { any: null, first: { host_id: firstHost }, unknown: { host_id: randomUUID() } };
  const { revision, ...body } = { ...rest, target: targets[target] };
  if (source === 'workload') return { ...body, workload_id: firstWorkload, ...(revision && { revision }) };
  return source === 'unknown workload' ? { ...body, workload_id: randomUUID() } : { ...body, template: source };
}

type Answer = Awaited<ReturnType<typeof fleet.plan>>;

const resultOfPlan = (plan: Answer) => {
  if (plan.status !== 200) return { ok: false, code: plan.body.code, reasons: plan.body.errors };
  if (plan.body.ok) return { ok: true };
  const codes = new Set<string>(plan.body.refusals.map(({ code }: { code: string }) => code));
  return { ok: false, code: codes.size === 1 ? [...codes][0] : 'deployment_refused', reasons: reasonsOf(plan) };
};

const resultOfCreation = (answer: Answer) =>
  answer.status === 201 ? { ok: true } : { ok: false, code: answer.body.code, reasons: answer.body.errors };

async function change(id: string, { after }: Request) {
  if (after === 'stays') return;
  if (after === 'is being deleted') await client.deployment.update({ where: { id }, data: { sent_to_engine: true } });
  const query = after === 'is deleted without its workload' ? '?keep_workload=true' : '';
  expect((await fleet.operator.delete(`/api/v1/deployments/${id}${query}`)).status).toBe(200);
}

test(
  'a plan is ok exactly if the creation succeeds, and otherwise both state the same code and reasons',
  async () => {
    await fleet.publish(...templates);
    const results = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(state, fc.array(request, { minLength: 1, maxLength: 5 }), async (given, requests) => {
        const established = await establish(given);
        for (const each of requests) {
          const body = bodyOf(each, established);
          const planned = resultOfPlan(await fleet.plan(body));
          const answer = await fleet.deploy(body);
          expect({ body, planned }).toEqual({ body, planned: resultOfCreation(answer) });
          const result = planned.ok ? 'ok' : `${answer.body.code}`;
          results.set(result, (results.get(result) ?? 0) + 1);
          if (planned.ok) await change(answer.body.deployment.id, each);
        }
      }),
      seeded({ numRuns: RUNS }),
    );
    // The requests reach each kind of decision.
    expect([...results.keys()]).toEqual(
      expect.arrayContaining(['ok', 'name_taken', 'no_placement', 'unknown_target', 'deployment_refused']),
    );
  },
  LONG_TEST_MS,
);
