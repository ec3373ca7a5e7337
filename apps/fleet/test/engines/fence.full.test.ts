import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { aDeployment, aMachine, aScript, idsOf, reconcileTo, running, SLEEP } from './world.ts';

const sleeper = aScript(SLEEP);

describeWithEngine('a reconciliation on a real engine', () => {
  const machine = aMachine();
  const stranger = (name: string, ...labels: readonly string[]) =>
    machine().podman.byHand(
      ...['run', '--detach', '--name', name, ...labels.flatMap((label) => ['--label', label])],
      ...[machine().podman.image, '/bin/sleep', '1000'],
    );

  test('leaves alone a container that has its name or only some of its labels', async () => {
    const { client, podman } = machine();
    const deployment = await aDeployment(sleeper);
    const named = await stranger(deployment.name());
    const ours = `fleet/deployment=${deployment.id}`;
    const managed = 'app.kubernetes.io/managed-by=fleet';
    const rest = ['fleet/ordinal=5', 'fleet/generation=1', 'fleet/body=x'];
    const alike = [
      await stranger('alike-1', ours),
      await stranger('alike-2', ours, managed),
      await stranger('alike-3', ours, ...rest),
      await stranger('alike-4', managed, ...rest, `fleet/deployment=${randomUUID()}`),
      await stranger('alike-5', managed, ...rest, `${ours}-and-more`),
    ];
    const found = await reconcile(client, running(await deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'NameConflict', next: 'retry', actions: [] });
    expect(found.message).toBe(
      `A container named ${deployment.name()} exists that does not belong to this deployment. It was not changed.`,
    );
    expect(await reconcile(client, { kind: 'gone', volumes: [] }, deployment.fence())).toMatchObject({
      phase: 'gone',
      actions: [],
    });
    const left = (await podman.byHand('ps', '--no-trunc', '--quiet')).split('\n');
    expect([...left].sort()).toEqual([named, ...alike].sort());
    await podman.discard(...left);
  });

  test('neither uses nor removes a volume that does not belong to the deployment', async () => {
    const { client, podman } = machine();
    const deployment = await aDeployment(aScript(SLEEP, { volume_mounts: [{ name: 'data', mountPath: '/data' }] }));
    const manifest = await deployment.manifest();
    const [name = ''] = manifest.volumes.map(({ Name }) => Name);
    await podman.byHand('volume', 'create', name);
    const found = await reconcile(client, running(manifest), deployment.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'NameConflict', actions: [] });
    expect(await reconcile(client, { kind: 'gone', volumes: [name] }, deployment.fence())).toMatchObject({
      actions: [],
    });
    expect(await podman.byHand('volume', 'ls', '--quiet')).toBe(name);
  });

  test('of an earlier generation changes nothing', async () => {
    const { client } = machine();
    const deployment = await aDeployment(sleeper);
    await reconcileTo(client, {
      wanted: running(await deployment.manifest({ generation: 8 })),
      fence: deployment.fence(8),
      phase: 'running',
    });
    const before = await idsOf(machine(), deployment);
    const late = running(
      await deployment.manifest({ generation: 7, replicas: 2, restarted_at: '2026-01-01T00:00:00Z' }),
    );
    for (const wanted of [late, { kind: 'stopped' as const }, { kind: 'gone' as const, volumes: [] }]) {
      expect(await reconcile(client, wanted, deployment.fence(7))).toMatchObject({
        supersededBy: 8,
        actions: [],
        next: 'soon',
      });
    }
    expect(await idsOf(machine(), deployment)).toEqual(before);
  });

  test('that runs several times in parallel creates each container once', async () => {
    const { client } = machine();
    const deployment = await aDeployment(sleeper, { replicas: 3 });
    const wanted = running(await deployment.manifest());
    const found = await Promise.all([1, 2, 3].map(() => reconcile(client, wanted, deployment.fence())));
    expect(found.map(({ reason }) => reason)).toEqual([null, null, null]);
    const made = found.flatMap(({ actions }) => actions).filter((action) => action.startsWith('created'));
    expect([...new Set(made)].sort()).toEqual([0, 1, 2].map((ordinal) => `created ${deployment.name(ordinal)}`));
    const settled = await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    expect(settled.instances).toHaveLength(3);
    expect(Object.keys(await idsOf(machine(), deployment))).toEqual(expect.any(Array));
    expect(Object.keys(await idsOf(machine(), deployment)).sort()).toEqual(
      [0, 1, 2].map((ordinal) => deployment.name(ordinal)),
    );
  });

  test('that several workers run repeatedly reaches the same state', async () => {
    const { client } = machine();
    const deployment = await aDeployment(sleeper, { replicas: 2 });
    const together = (o: Parameters<typeof reconcileTo>[1]) => Promise.all([1, 2, 3].map(() => reconcileTo(client, o)));
    await together({ wanted: running(await deployment.manifest()), fence: deployment.fence(), phase: 'running' });
    const before = await idsOf(machine(), deployment);
    const next = running(await deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' }));
    await together({ wanted: next, fence: deployment.fence(8), phase: 'running' });
    const after = await idsOf(machine(), deployment);
    expect(Object.keys(after).sort()).toEqual([deployment.name(0), deployment.name(1)]);
    expect(Object.values(after).filter((id) => Object.values(before).includes(id))).toEqual([]);
    await together({ wanted: { kind: 'gone', volumes: [] }, fence: deployment.fence(9), phase: 'gone' });
    expect(await idsOf(machine(), deployment)).toEqual({});
  });

  test('ends when its signal is aborted', async () => {
    const { client } = machine();
    const deployment = await aDeployment(sleeper);
    const reason = new Error('the lease is lost');
    const fence = { ...deployment.fence(), signal: AbortSignal.abort(reason) };
    await expect(reconcile(client, running(await deployment.manifest()), fence)).rejects.toBe(reason);
    expect(await idsOf(machine(), deployment)).toEqual({});
  });
});
