// The cluster repeats everything that it received wherever it can. Secrets must appear in no
// response, event, plan, manifest, log line or table in plain text. The last test searches the
// results of all others.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import {
  crashing,
  evicted,
  running,
  unschedulable,
  waiting,
} from '../../../engines/kubernetes/api-server/controller/pod-status.ts';
import { REFUSALS, type Request } from '../echo.ts';
import { startCanaryWorld } from './canary-world.ts';

describe('redacting a secret that a cluster repeats', () => {
  let world: Awaited<ReturnType<typeof startCanaryWorld>>;
  beforeAll(async () => {
    world = await startCanaryWorld();
  });
  afterAll(() => world?.end());

  test.each([
    ['unauthorized', 'AuthFailed'],
    ['forbidden', 'InvalidSpec'],
    ['notAllowed', 'AuthFailed'],
    ['conflict', 'FieldConflict'],
    ['invalid', 'InvalidSpec'],
    ['undeclared', 'InvalidSpec'],
    ['broken', 'EngineError'],
  ] as const)('works in the rejection of an object (%s)', async (how, reason) => {
    const { echoes, deployed, is, ids, recovers } = world;
    const name = how.toLowerCase();
    const isMeant = ({ method, path }: Request) => method === 'PATCH' && path.includes(`/${name}-`);
    await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, async () => {
      const id = await deployed(name);
      await is(id, reason === 'EngineError' ? 'retrying' : 'failed', reason);
    });
    await recovers(ids.at(-1) ?? '');
  });

  test('works in the rejection of a list', async () => {
    const { request, is, shown, deployed, echoes, recovers } = world;
    const id = await deployed('listed');
    await is(id, 'running');
    for (const [how, expectedReason] of [
      ['invalid', 'InvalidSpec'],
      ['undeclared', 'EngineError'],
      ['conflict', 'EngineError'],
    ] as const) {
      const isMeant = ({ method, query }: Request) => method === 'GET' && query.labelSelector?.includes(id) === true;
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, async () => {
        await request('POST', `deployments/${id}/restart`, {});
        await eventually('the list is rejected', async () => (await shown(id)).reason === expectedReason);
      });
      await recovers(id);
    }
  });

  test('works in the status of a pod and its events', async () => {
    const { deployed, is, lab, told, podOf, reconcileNow, shown, recovers } = world;
    const id = await deployed('quoting');
    await is(id, 'running');
    const words = told.lab.join(' ');
    const podStates = [
      [waiting('CreateContainerConfigError', words), 'InvalidSpec'],
      [crashing({ exitCode: 128, message: `exec: "${words}": executable file not found` }), 'InvalidSpec'],
      [waiting('ErrImagePull', `failed to pull: ${words}: not found`), 'ImageNotFound'],
      [evicted(words), null],
      [unschedulable(words), 'Unschedulable'],
    ] as const;
    for (const [podState, reason] of podStates) {
      lab.controls.isFrozen = true; // the controller replaces no pod
      lab.setPodStatus(podState, podOf(id).metadata.name);
      lab.warn(podOf(id), words);
      await reconcileNow(id);
      await eventually(`the reason is ${reason}`, async () => (await shown(id)).reason === reason);
      expect(JSON.stringify((await shown(id)).instances)).toContain('•••');
    }
    lab.controls.isFrozen = false;
    lab.setPodStatus(running(), podOf(id).metadata.name);
    await recovers(id);
  });

  test('works in the status of a pod with a former value of the secret', async () => {
    const { request, shown, ids, lab, podOf, told, tell, recovers } = world;
    const [id = ''] = ids;
    const { generation } = await shown(id);
    const { secrets } = (await request('GET', 'secrets')).body;
    const secret = secrets.find(({ name }: { name: string }) => name === 'pass');
    const quoting = crashing({ exitCode: 128, message: `exec: "${told.lab.join(' ')}": executable file not found` });
    lab.controls.isFrozen = true;
    lab.setPodStatus(quoting, podOf(id).metadata.name);
    await request('PUT', `secrets/${secret.id}`, { values: { PASSWORD: tell('second value', 'lab', 'certified') } });
    await eventually('the new generation is observed', async () => {
      const seen = await shown(id);
      return seen.observed_generation > generation && seen.instances[0].phase === 'crashed';
    });
    lab.controls.isFrozen = false;
    lab.setPodStatus(running());
    await recovers(id);
  });

  test('works in the rejection of a log', async () => {
    const { ids, echoes, request } = world;
    const [id] = ids;
    for (const [how, status] of [
      ['notAllowed', 404],
      ['invalid', 404],
      ['broken', 503],
    ] as const) {
      const isMeant = ({ path }: Request) => path.endsWith('/log');
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, async () => {
        expect((await request('GET', `deployments/${id}/logs`)).status).toBe(status);
      });
    }
  });

  test('works in the rejections of a check', async () => {
    const { echoes, check, clusterId } = world;
    for (const how of ['unauthorized', 'notAllowed', 'invalid', 'undeclared', 'broken'] as const) {
      const isMeant = ({ path }: Request) => /nodes$|selfsubjectaccessreviews$/.test(path);
      await echoes.lab.whileRefusing({ isMeant, refusing: REFUSALS[how] }, () => check(clusterId));
    }
    expect((await check(clusterId)).reachability).toBe('online');
  });

  test('works in the rejection of a deletion', async () => {
    const { request, shown, is, ids, echoes, reconcileNow, lab, check, clusterId } = world;
    const [first = '', second = ''] = ids;
    const removing = { isMeant: ({ method }: Request) => method === 'DELETE', refusing: REFUSALS.broken };
    await echoes.lab.whileRefusing(removing, async () => {
      await request('POST', `deployments/${first}/stop`, {});
      await request('DELETE', `deployments/${second}`);
      for (const id of [first, second])
        await eventually('the deletion is rejected', async () => (await shown(id)).reason === 'EngineError');
    });
    for (const id of [first, second]) await reconcileNow(id);
    await is(first, 'stopped');
    await eventually(
      'the deployment is deleted',
      async () => (await request('GET', `deployments/${second}`)).status === 404,
    );
    const labels = { 'fleet/deployment': second, 'app.kubernetes.io/managed-by': 'fleet' };
    lab.put('services', { metadata: { name: 'left', labels } });
    await echoes.lab.whileRefusing(removing, () => check(clusterId));
    await check(clusterId);
    expect(lab.objects('services').map(({ metadata }) => metadata.name)).not.toContain('left');
  });

  test('leaves it in no response, log line or table', async () => {
    const { request, readAll, lab, check, clusterId, ids, search } = world;
    const [workload] = (await request('GET', 'workloads')).body.workloads;
    const plan = await request('POST', 'deployments/plan', { name: 'planned', workload_id: workload.id });
    expect(JSON.stringify(plan.body.manifest)).toContain('"kind":"Secret"');
    await lab.stop();
    expect(await check(clusterId)).toMatchObject({ reachability: 'unreachable' });
    await readAll(ids.filter((id) => id !== ids[1])); // the second one is deleted
    const { found, haystacks } = await search();
    // The searched text is complete.
    expect(haystacks['public.deployment_events, in the end']).toContain('The engine reported');
    expect(haystacks.output).toContain('comparing a target with the database failed');
    expect(found).toEqual([]);
  });
});
