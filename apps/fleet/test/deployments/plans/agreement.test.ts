// Decisions about several deployments equal those that are made and stored one after the other.
import { byDepth, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { isRefused, type Requested } from '../../../src/deployments/plans/several.ts';
import { deployments } from '../../../src/deployments/rows.ts';
import { readRow } from '../../../src/resources/kind.ts';
import { startDeploymentWorld } from '../world.ts';
import { choiceOf, creation, plansIn, reasonsOf } from './world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;
const { plan } = plansIn(fleet);

const RUNS = byDepth({ short: 15, full: 150, long: 1500 });

const one = <const T>(...values: T[]) => fc.constantFrom(...values);
const NAMES = ['a', 'b', 'c'] as const;
const ENVIRONMENTS = [
  {},
  { SECRET: { generate: 32 } },
  { SECRET: { deployment: 'a', variable: 'SECRET' } },
  { SECRET: { deployment: 'old', variable: 'SECRET' } },
] as const;

const step = fc.oneof(
  fc.record({
    kind: one('create'),
    name: one(...NAMES),
    workload: one('plain', 'gpu', 'stateful'),
    env: one(...ENVIRONMENTS),
    replicas: one(1, 2),
    usesVolume: fc.boolean(),
    stopped: fc.boolean(),
  }),
  fc.record({
    kind: one('change'),
    name: one('old', 'other'),
    env: one(...ENVIRONMENTS),
    replicas: one(1, 3),
    stopped: fc.boolean(),
  }),
  fc.record({ kind: one('delete'), name: one('old', 'other') }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Two hosts, three workloads, a volume, and two deployments that their engines have received. */
async function establish() {
  await fleet.empty();
  await fleet.aHost({ cpus: 6, gpuCount: 2 });
  await fleet.aHost({ cpus: 3 });
  const env_schema = [{ name: 'SECRET' }];
  const data = [{ name: 'data', mountPath: '/data' }];
  const ids = {
    plain: (await fleet.aWorkload({ env_schema, ports: [{ containerPort: 80 }] })).id,
    gpu: (await fleet.aWorkload({ env_schema, gpu_count: 1 })).id,
    stateful: (await fleet.aWorkload({ env_schema, volume_mounts: data })).id,
  };
  const old = await fleet.deployed({ name: 'old', workload_id: ids.plain, env: { SECRET: { generate: 32 } } });
  const bound = { SECRET: { deployment: 'old', variable: 'SECRET' } };
  const other = await fleet.deployed({ name: 'other', workload_id: ids.gpu, env: bound });
  await client.deployment.updateMany({ data: { sent_to_engine: true } });
  return { workloads: ids, volume: (await fleet.aVolume()).id, deployments: { old: old.id, other: other.id } };
}
type Established = Awaited<ReturnType<typeof establish>>;

const bodyOf = (given: Step, { workloads, volume }: Established) => {
  if (given.kind === 'delete') return {};
  const { env, replicas } = given;
  const desired_state = given.stopped ? ('stopped' as const) : ('running' as const);
  if (given.kind === 'change') return { env, replicas, desired_state };
  const volumes = given.workload === 'stateful' && given.usesVolume ? { data: { storage_id: volume } } : {};
  return { name: given.name, workload_id: workloads[given.workload], env, replicas, volumes, desired_state };
};

/** The result of a step that the API performs. */
async function performed(given: Step, established: Established) {
  const body = bodyOf(given, established);
  const id = given.kind === 'create' ? '' : established.deployments[given.name];
  const answer =
    given.kind === 'create'
      ? await fleet.deploy(body)
      : given.kind === 'change'
        ? await fleet.change(id, body)
        : await fleet.remove(id);
  if (answer.status >= 300) return { reasons: answer.body.errors };
  if (given.kind === 'delete') return { reasons: [], choice: undefined };
  const row = await client.deployment.findUniqueOrThrow({
    where: { id: answer.body.deployment.id },
    include: { allocated_gpus: true },
  });
  const gpus = row.allocated_gpus.map(({ gpu_id }) => gpu_id).toSorted();
  return { reasons: [], choice: { target: row.host_id ?? undefined, gpus: given.stopped ? undefined : gpus } };
}

/** A deployment is changed at most once by a plan. */
const distinct = (steps: readonly Step[]) =>
  steps.filter(
    ({ kind, name }, index) =>
      kind === 'create' || steps.findIndex((each) => each.kind !== 'create' && each.name === name) === index,
  );

test(
  'a plan makes the same decisions as requests that are made one after the other',
  async () => {
    let accepted = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (given) => {
        const established = await establish();
        const steps = distinct(given);
        const planned = await plan(async ({ transaction }) => {
          const rowOf = (name: 'old' | 'other') => readRow(transaction, deployments, established.deployments[name]);
          return Promise.all(
            steps.map(async (each): Promise<Requested> => {
              const body = bodyOf(each, established);
              if (each.kind === 'create') return creation({ ...body, name: each.name });
              if (each.kind === 'delete')
                return { kind: 'deletion', before: await rowOf(each.name), keepsWorkload: false };
              const { stopped, env, replicas } = each;
              const desiredState = stopped ? 'stopped' : 'running';
              const change = { operation: 'update' as const, message: 'updated', env, replicas, desiredState } as const;
              return { kind: 'change', before: await rowOf(each.name), change };
            }),
          );
        });
        const results = [];
        for (const each of steps) results.push(await performed(each, established));
        for (const [index, result] of results.entries()) {
          const decided = planned[index];
          if (!decided) throw new Error('a decision is missing');
          expect({ steps, index, reasons: reasonsOf(decided) }).toEqual({ steps, index, reasons: result.reasons });
          if (isRefused(decided)) {
            refused += 1;
            continue;
          }
          accepted += 1;
          const isDecided = decided.kind !== 'deletion' && decided.decision !== undefined;
          if (isDecided)
            expect({ steps, index, choice: choiceOf(decided) }).toEqual({ steps, index, choice: result.choice });
        }
      }),
      seeded({ numRuns: RUNS }),
    );
    expect(accepted).toBeGreaterThan(refused / 10);
    expect(refused).toBeGreaterThan(0);
  },
  LONG_TEST_MS,
);
