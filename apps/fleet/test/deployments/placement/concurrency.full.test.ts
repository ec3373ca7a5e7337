import { type Answered, fromFull, seed } from '@svc/testing';
import { randomFrom } from '../../random.ts';
import { startDeploymentWorld } from '../world.ts';
import { overcommitted } from './capacity.ts';

const fleet = await startDeploymentWorld();
const ROUNDS = fromFull({ full: 3, long: 50 });
const { oneOf } = randomFrom(seed);

const AT_ONCE = 40;
const GPUS = [10, 8, 4, 2, 1];
const GPU_COUNT = GPUS.reduce((sum, count) => sum + count, 0);

const workload = {
  gpu_count: 1,
  cpu_request: '100m',
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
};

const someHosts = () => Promise.all(GPUS.map((gpuCount, index) => fleet.aHost({ name: `host-${index}`, gpuCount })));
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** Repeats a request while the response is 503. Such a request has changed nothing. */
async function repeatWhileUnavailable(send: () => Promise<Answered>): Promise<Answered> {
  for (let tries = 1; tries <= 50; tries++) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
  throw new Error('all responses were 503');
}

test(
  `${GPU_COUNT} of ${AT_ONCE} simultaneous deployments get the ${GPU_COUNT} GPUs (rounds: ${ROUNDS})`,
  async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      await fleet.client.$executeRaw`TRUNCATE hosts, workloads, deployments, volumes CASCADE`;
      await someHosts();
      const { id: workload_id } = await fleet.aWorkload(workload);
      const answers = await Promise.all(
        times(AT_ONCE, (index) => repeatWhileUnavailable(() => fleet.deploy({ name: `d-${index}`, workload_id }))),
      );
      const made = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status, body }) => status === 422 && body.code === 'no_placement');
      expect({ made: made.length, refused: refused.length }).toEqual({ made: GPU_COUNT, refused: AT_ONCE - GPU_COUNT });
      expect(await fleet.client.deployment.count()).toBe(GPU_COUNT);
      expect(await fleet.client.allocatedGpu.count()).toBe(GPU_COUNT);
      expect(await fleet.client.volume.count()).toBe(GPU_COUNT);
      expect(await overcommitted(fleet.world.database)).toEqual([]);
    }
  },
  20_000 + ROUNDS * 20_000,
);

/** Changes one of the known deployments at random, or creates one. */
function changeAtRandom(known: string[], workload_id: string): Promise<Answered> {
  const act = oneOf(['create', 'create', 'scale', 'scale', 'stop', 'start', 'restart', 'rollback', 'delete']);
  if (act === 'create' || known.length === 0) {
    const replicas = oneOf([1, 1, 2, 3]);
    return fleet.deploy({ workload_id, replicas, desired_state: oneOf(['running', 'running', 'stopped']) });
  }
  const id = oneOf(known);
  if (act === 'delete') return fleet.remove(id);
  const body = act === 'scale' ? { replicas: oneOf([1, 2, 3, 5]) } : act === 'rollback' ? {} : undefined;
  return fleet.ask(id, act, body);
}

test(
  `simultaneous operations never allocate a resource twice or beyond the capacity (rounds: ${ROUNDS}, seed ${seed})`,
  async () => {
    await someHosts();
    const { id: workload_id } = await fleet.aWorkload({ ...workload, volume_mounts: [] });
    const known: string[] = [];
    const statuses = new Set<number>();
    for (let round = 1; round <= ROUNDS; round++) {
      const lane = async () => {
        for (let step = 1; step <= 10; step++) {
          const { status, body } = await changeAtRandom(known, workload_id);
          statuses.add(status);
          if (status === 201) known.push(body.deployment.id);
        }
      };
      await Promise.all(times(8, lane));
      expect(await overcommitted(fleet.world.database)).toEqual([]);
      const sums = await fleet.client.deployment.aggregate({ _sum: { gpu_count: true } });
      const shown = await Promise.all((await fleet.client.host.findMany()).map(({ id }) => fleet.host(id)));
      expect(shown.reduce((sum, { allocated }) => sum + allocated.gpu_count, 0)).toBe(sums._sum.gpu_count ?? 0);
    }
    expect([...statuses].filter((status) => ![200, 201, 404, 422, 503].includes(status))).toEqual([]);
    for (const status of [200, 201, 422]) expect(statuses).toContain(status);
  },
  20_000 + ROUNDS * 20_000,
);
