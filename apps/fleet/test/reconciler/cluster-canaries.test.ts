// A cluster that repeats everything it was sent, wherever it can. Secrets appear in no answer, event, plan, manifest, log line
// or table in clear text. The last test searches the results of all others.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { crashing, evicted, running, unschedulable, waiting } from '../engines/kubernetes/api-server/fates.ts';
import { startCanaryWorld } from './cluster-canary-world.ts';
import { REFUSALS, type Request } from './cluster-echo.ts';
import { eventually } from './words.ts';

describe('a secret that a cluster repeats', () => {
  let world: Awaited<ReturnType<typeof startCanaryWorld>>;
  beforeAll(async () => {
    world = await startCanaryWorld();
  }, 120_000);
  afterAll(() => world?.end(), 60_000);

  test.each([
    ['unauthorized', 'AuthFailed'],
    ['forbidden', 'InvalidSpec'],
    ['notAllowed', 'AuthFailed'],
    ['conflict', 'FieldConflict'],
    ['invalid', 'InvalidSpec'],
    ['undeclared', 'InvalidSpec'],
    ['broken', 'EngineError'],
  ] as const)(
    'in the refusal of an object (%s)',
    async (how, reason) => {
      const { echoes, deployed, is, ids, recovers } = world;
      const name = how.toLowerCase();
      const isMeant = ({ method, path }: Request) => method === 'PATCH' && path.includes(`/${name}-`);
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, async () => {
        const id = await deployed(name);
        await is(id, reason === 'EngineError' ? 'retrying' : 'failed', reason);
      });
      await recovers(ids.at(-1) ?? '');
    },
    120_000,
  );

  test('in the refusal of a list', async () => {
    const { heard, is, shown, deployed, echoes, recovers } = world;
    const id = await deployed('listed');
    await is(id, 'running');
    for (const [how, said] of [
      ['invalid', 'InvalidSpec'],
      ['undeclared', 'EngineError'],
      ['conflict', 'EngineError'],
    ] as const) {
      const isMeant = ({ method, query }: Request) => method === 'GET' && query.labelSelector?.includes(id) === true;
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, async () => {
        await heard('POST', `deployments/${id}/restart`, {});
        await eventually('the list is refused', async () => (await shown(id)).reason === said);
      });
      await recovers(id);
    }
  }, 120_000);

  test('in the status of a pod and its events', async () => {
    const { deployed, is, lab, told, podOf, lookNow, shown, recovers } = world;
    const id = await deployed('quoting');
    await is(id, 'running');
    const words = told.lab.join(' ');
    const fates = [
      [waiting('CreateContainerConfigError', words), 'InvalidSpec'],
      [crashing({ exitCode: 128, message: `exec: "${words}": executable file not found` }), 'InvalidSpec'],
      [waiting('ErrImagePull', `failed to pull: ${words}: not found`), 'ImageNotFound'],
      [evicted(words), null],
      [unschedulable(words), 'Unschedulable'],
    ] as const;
    for (const [fate, reason] of fates) {
      lab.hands.isFrozen = true; // no pod is replaced
      lab.become(fate, podOf(id).metadata.name);
      lab.warn(podOf(id), words);
      await lookNow(id);
      await eventually(`it says ${reason}`, async () => (await shown(id)).reason === reason);
      expect(JSON.stringify((await shown(id)).instances)).toContain('•••');
    }
    lab.hands.isFrozen = false;
    lab.become(running(), podOf(id).metadata.name);
    await recovers(id);
  }, 120_000);

  test('in the status of a pod with a former value of the secret', async () => {
    const { heard, shown, ids, lab, podOf, told, tell, recovers } = world;
    const [id = ''] = ids;
    const { generation } = await shown(id);
    const { secrets } = (await heard('GET', 'secrets')).body;
    const secret = secrets.find(({ name }: { name: string }) => name === 'pass');
    const quoting = crashing({ exitCode: 128, message: `exec: "${told.lab.join(' ')}": executable file not found` });
    lab.hands.isFrozen = true;
    lab.become(quoting, podOf(id).metadata.name);
    await heard('PUT', `secrets/${secret.id}`, { values: { PASSWORD: tell('second value', 'lab', 'certified') } });
    await eventually('it is seen', async () => {
      const seen = await shown(id);
      return seen.observed_generation > generation && seen.instances[0].phase === 'crashed';
    });
    lab.hands.isFrozen = false;
    lab.become(running());
    await recovers(id);
  }, 120_000);

  test('in the refusal of a log', async () => {
    const { ids, echoes, heard } = world;
    const [id] = ids;
    for (const [how, status] of [
      ['notAllowed', 404],
      ['invalid', 404],
      ['broken', 503],
    ] as const) {
      const isMeant = ({ path }: Request) => path.endsWith('/log');
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, async () => {
        expect((await heard('GET', `deployments/${id}/logs`)).status).toBe(status);
      });
    }
  }, 120_000);

  test('in the refusals of a check', async () => {
    const { echoes, check, clusterId } = world;
    for (const how of ['unauthorized', 'notAllowed', 'invalid', 'undeclared', 'broken'] as const) {
      const isMeant = ({ path }: Request) => /nodes$|selfsubjectaccessreviews$/.test(path);
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, () => check(clusterId));
    }
    expect((await check(clusterId)).reachability).toBe('online');
  }, 120_000);

  test('in the refusal of a deletion', async () => {
    const { heard, shown, is, ids, echoes, lookNow, lab, check, clusterId } = world;
    const [first = '', second = ''] = ids;
    const removing = { isMeant: ({ method }: Request) => method === 'DELETE', refusing: REFUSALS.broken };
    await echoes.lab.whileRefusing(removing, async () => {
      await heard('POST', `deployments/${first}/stop`, {});
      await heard('DELETE', `deployments/${second}`);
      for (const id of [first, second])
        await eventually('it is refused', async () => (await shown(id)).reason === 'EngineError');
    });
    for (const id of [first, second]) await lookNow(id);
    await is(first, 'stopped');
    await eventually('it is gone', async () => (await heard('GET', `deployments/${second}`)).status === 404);
    const labels = { 'fleet/deployment': second, 'app.kubernetes.io/managed-by': 'fleet' };
    lab.put('services', { metadata: { name: 'left', labels } });
    await echoes.lab.whileRefusing(removing, () => check(clusterId));
    await check(clusterId);
    expect(lab.objects('services').map(({ metadata }) => metadata.name)).not.toContain('left');
  }, 120_000);

  test('appears in no answer, log line or table', async () => {
    const { heard, readAll, lab, check, clusterId, ids, search } = world;
    const [workload] = (await heard('GET', 'workloads')).body.workloads;
    const plan = await heard('POST', 'deployments/plan', { name: 'planned', workload_id: workload.id });
    expect(JSON.stringify(plan.body.manifest)).toContain('"kind":"Secret"');
    await lab.stop();
    expect(await check(clusterId)).toMatchObject({ reachability: 'unreachable' });
    await readAll(ids.filter((id) => id !== ids[1])); // the second one is deleted
    const { found, haystacks } = await search();
    // The searched text is complete.
    expect(haystacks['public.deployment_events, in the end']).toContain('The engine says');
    expect(haystacks.output).toContain('what is gone could not be looked for');
    expect(found).toEqual([]);
  }, 120_000);
});
