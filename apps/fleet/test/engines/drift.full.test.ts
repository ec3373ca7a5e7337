import { describe, expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { aDeployment, aMachine, aScript, idsOf, reconcileTo, reconcileUntil, running, SLEEP } from './world.ts';

const sleeper = aScript(SLEEP);

describeWithEngine('the driver on a real engine', () => {
  const machine = aMachine();

  describe('after a manual change', () => {
    test('corrects each container with one action', async () => {
      const { client, podman } = machine();
      const deployment = await aDeployment(sleeper, { replicas: 3 });
      const o = { wanted: running(await deployment.manifest()), fence: deployment.fence(), phase: 'running' as const };
      await reconcileTo(client, o);
      await podman.byHand('stop', '--time', '1', deployment.name(0));
      await podman.discard(deployment.name(1));
      await podman.byHand('pause', deployment.name(2));
      const { actions } = await reconcileTo(client, { ...o, wanted: { ...o.wanted, settled: true } });
      expect([...actions].sort()).toEqual([
        `created ${deployment.name(1)} again: it was missing`,
        `resumed ${deployment.name(2)}: it was paused`,
        `started ${deployment.name(0)} again: it has stopped (exit code 0)`,
      ]);
      expect(await reconcile(client, { kind: 'gone', volumes: [] }, deployment.fence())).toMatchObject({
        phase: 'gone',
      });
    });

    test('removes a surplus container', async () => {
      const { client, podman } = machine();
      const deployment = await aDeployment(sleeper);
      const o = { wanted: running(await deployment.manifest()), fence: deployment.fence(), phase: 'running' as const };
      await reconcileTo(client, o);
      await podman.byHand('rename', deployment.name(), `${deployment.name()}-away`);
      const { actions } = await reconcileTo(client, o);
      expect([...actions].sort()).toEqual([`created ${deployment.name()}`, `removed ${deployment.name()}-away`]);
      expect(Object.keys(await idsOf(machine(), deployment))).toEqual([deployment.name()]);
    });
  });

  describe('for a new generation', () => {
    test('leaves existing containers alone when the number of replicas changes', async () => {
      const { client } = machine();
      const deployment = await aDeployment(sleeper);
      const to = async (replicas: number, generation: number) => {
        const wanted = running(await deployment.manifest({ replicas, generation }));
        return reconcileTo(client, { wanted, fence: deployment.fence(generation), phase: 'running' });
      };
      await to(2, 7);
      const two = await idsOf(machine(), deployment);
      await to(3, 8);
      const three = await idsOf(machine(), deployment);
      expect(three).toEqual({ ...two, [deployment.name(2)]: expect.any(String) });
      const { actions } = await to(1, 9);
      expect([...actions].sort()).toEqual([`removed ${deployment.name(1)}`, `removed ${deployment.name(2)}`]);
      expect(await idsOf(machine(), deployment)).toEqual({ [deployment.name(0)]: two[deployment.name(0)] });
    });

    test('replaces the containers one by one, each after the previous one is up', async () => {
      const { client } = machine();
      const deployment = await aDeployment(sleeper, { replicas: 3 });
      await reconcileTo(client, {
        wanted: running(await deployment.manifest()),
        fence: deployment.fence(),
        phase: 'running',
      });
      const wanted = running(await deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' }));
      const least: number[] = [];
      const { actions } = await reconcileUntil(client, {
        wanted,
        fence: deployment.fence(8),
        isThere: ({ phase, instances, actions }) => {
          expect(actions.length).toBeLessThanOrEqual(1);
          least.push(instances.filter((instance) => instance.phase === 'running').length);
          return phase === 'running';
        },
      });
      expect(actions).toEqual(
        [0, 1, 2].map((ordinal) => `created ${deployment.name(ordinal)} again: a restart was requested`),
      );
      expect(Math.min(...least)).toBe(2);
    });

    test('stops after the first container that crashes, and the others keep running', async () => {
      const { client } = machine();
      const deployment = await aDeployment(sleeper, { replicas: 2 });
      await reconcileTo(client, {
        wanted: running(await deployment.manifest()),
        fence: deployment.fence(),
        phase: 'running',
      });
      const before = await idsOf(machine(), deployment);
      const wanted = running(await deployment.manifest({ generation: 8 }, { command: ['/bin/sh', '-c', 'exit 3'] }));
      const o = { wanted, fence: deployment.fence(8) };
      const found = await reconcileTo(client, { ...o, phase: 'degraded' });
      expect(found).toMatchObject({ reason: 'CrashLoop', next: 'retry' });
      await reconcile(client, o.wanted, o.fence);
      const after = await idsOf(machine(), deployment);
      expect(after[deployment.name(0)]).not.toBe(before[deployment.name(0)]);
      expect(after[deployment.name(1)]).toEqual(before[deployment.name(1)]);
    });
  });
});
