import { setTimeout as wait } from 'node:timers/promises';
import { figure, fromFull } from '@svc/testing';
import { moreAcknowledged, queryOn, type RunningService, startLoad, statusesOf } from '@svc/testing/faults';
import { anAdminToken, prepareFleetFaults } from '../../faults/identity-world.ts';
import { openCreations } from './creation-ledger.ts';

const { aDatabase, aFleet } = prepareFleetFaults();
const ROUNDS = fromFull({ full: 3, long: 20 });
/** The number of changes that are acknowledged before each kill. */
const SOME_CHANGES = 20;

/**
 * Hosts with more GPUs than the test allocates. Neither hosts nor deployments become due, because
 * there is no engine.
 */
const HOSTS = `
  CREATE FUNCTION never_due() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN NEW.due_at := now() + interval '1 day'; RETURN NEW; END $$;
  CREATE TRIGGER never_due BEFORE INSERT OR UPDATE ON deployments FOR EACH ROW EXECUTE FUNCTION never_due();
  INSERT INTO hosts
    (id, name, engine, endpoint, by_admin, created_by, reachability, check_at, cpu_millis, memory_bytes, gpus)
  SELECT gen_random_uuid(), 'host-' || n, 'docker', 'unix:///run/engine.sock', true, 'test', 'online',
    now() + interval '1 day', 1e9, 1e15,
    (SELECT jsonb_agg(jsonb_build_object('id', 'gpu-' || g, 'model', '', 'vram', '')) FROM generate_series(1, 200) g)
  FROM generate_series(1, 20) n`;

/** Creates a workload with one GPU and one volume. @returns the id of the workload */
async function aWorkload({ url }: RunningService, secret: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/workloads`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name: 'web',
      image_name: 'team/app',
      gpu_count: 1,
      volume_mounts: [{ name: 'data', mountPath: '/data' }],
    }),
  });
  const { workload } = (await answer.json()) as { workload: { id: string } };
  return workload.id;
}

test(
  `a fleet that is killed while it creates deployments keeps each acknowledged one, and none partially (rounds: ${ROUNDS})`,
  async () => {
    const databaseUrl = await aDatabase();
    const query = queryOn(databaseUrl);
    await query(HOSTS);
    let fleet: RunningService = await aFleet({ databaseUrl });
    const secret = await anAdminToken(databaseUrl);
    const ledger = openCreations({ url: () => fleet.url, secret, workloadId: await aWorkload(fleet, secret) });
    for (let round = 1; round <= ROUNDS; round++) {
      const load = startLoad(['a', 'b', 'c', 'd'].map((lane) => ledger.writer(`round-${round}-${lane}`)));
      try {
        await moreAcknowledged(ledger, SOME_CHANGES);
        await wait(Math.random() * 100); // at any point of a request
      } finally {
        fleet.child.kill('SIGKILL');
        await fleet.ended;
        await load.stop();
      }
      expect(statusesOf(load.seen).filter((status) => ![0, 200, 201, 503].includes(status))).toEqual([]);
      expect(statusesOf(load.seen)).toEqual(expect.arrayContaining([0, 201]));
      fleet = await aFleet({ databaseUrl, port: fleet.port });
      expect(await ledger.lost(query)).toEqual([]);
    }
    figure(`fleet killed ${ROUNDS} times: ${ledger.acknowledged()} creations and deletions acknowledged, none lost`);
  },
  30_000 + ROUNDS * 10_000,
);
