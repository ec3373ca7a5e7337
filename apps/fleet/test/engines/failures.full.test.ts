import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import type { Observation } from '../../src/engines/observation.ts';
import { secretsWithValues } from '../../src/render/secrets.ts';
import { aDeployment, aMachine, aScript, idsOf, reconcileTo, reconcileUntil, running, SERVE, SLEEP } from './world.ts';

/** The engine itself reports a missing program only to a container without an init process. */
const WITHOUT_INIT = { env: [{ name: 'SVC_INIT', value: 'false' }] };

describeWithEngine('the driver on a real engine', () => {
  const machine = aMachine();

  describe('for a program', () => {
    test('reports repeated exits as a crash loop, and starts the program again only after the given time', async () => {
      const { client, podman } = machine();
      const deployment = await aDeployment(aScript('exit 7'));
      const o = { wanted: running(await deployment.manifest()), fence: deployment.fence() };
      const isGivenUp = ({ instances: [instance] }: Observation) =>
        instance?.restarts === 3 && instance.message.startsWith('has crashed');
      await reconcileUntil(client, { ...o, isThere: isGivenUp });
      const found = await reconcile(client, o.wanted, o.fence);
      expect(found).toMatchObject({ phase: 'degraded', reason: 'CrashLoop', next: 'retry', actions: [] });
      expect(found.message).toBe(`${deployment.name()} has crashed (exit code 7). 0 of 1 up.`);
      const startedAt = () => podman.byHand('inspect', '--format', '{{.State.StartedAt}}', deployment.name());
      const before = await startedAt();
      for (const wanted of [o.wanted, { ...o.wanted, retryAfter: 3_600_000 }])
        expect(await reconcile(client, wanted, o.fence)).toMatchObject({ actions: [], next: 'retry' });
      expect(await startedAt()).toBe(before);
      const retried = await reconcile(client, { ...o.wanted, retryAfter: 0 }, o.fence);
      expect(retried.actions).toEqual([]); // an attempt of a crash loop is no event
      expect(await startedAt()).not.toBe(before);
    });

    test('reports OOMKilled after it exceeded its memory limit, if the engine reports that', async () => {
      const { client, podman } = machine();
      const deployment = await aDeployment(
        aScript('x=0123456789abcdef; while :; do x=$x$x; done', { memory_request: '16Mi' }),
      );
      const o = { wanted: running(await deployment.manifest()), fence: deployment.fence(), phase: 'degraded' as const };
      const found = await reconcileTo(client, o);
      // Podman with cgroups v1 does not report it.
      const isReported =
        (await podman.byHand('inspect', '--format', '{{.State.OOMKilled}}', deployment.name())) === 'true';
      expect(found).toMatchObject({ reason: isReported ? 'OOMKilled' : 'CrashLoop', next: 'retry' });
      const reported = '(exit code 137): it was killed because it exceeded its memory limit of 16 MiB';
      expect(found.message).toContain(isReported ? reported : '(exit code 137, as after SIGKILL)');
    });

    test('reports an invalid spec if the program does not exist', async () => {
      const deployment = await aDeployment(aScript('', { command: ['/bin/no-such-program'] }), WITHOUT_INIT);
      const found = await reconcile(machine().client, running(await deployment.manifest()), deployment.fence());
      expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
      expect(found.message).toContain('/bin/no-such-program');
    });

    test('reports an invalid spec without a command', async () => {
      const deployment = await aDeployment(aScript('', { command: [] }));
      const found = await reconcile(machine().client, running(await deployment.manifest()), deployment.fence());
      expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', instances: [{ phase: 'missing' }] });
    });
  });

  describe('for a job', () => {
    test.each([
      [
        'with the exit code 0 reports stopped',
        'exit 0',
        { phase: 'stopped', reason: null, message: 'It has completed.' },
      ],
      ['with another exit code reports failed', 'exit 4', { phase: 'failed', reason: 'JobFailed' }],
    ] as const)('%s, and does not start it again', async (_title, script, expected) => {
      const { client } = machine();
      const deployment = await aDeployment(aScript(script, { kind: 'job' }));
      const o = { wanted: running(await deployment.manifest(), { retryAfter: 0 }), fence: deployment.fence() };
      expect(await reconcileTo(client, { ...o, phase: expected.phase })).toMatchObject({
        ...expected,
        next: 'settled',
      });
      expect(await reconcile(client, o.wanted, o.fence)).toMatchObject({ ...expected, actions: [] });
    });
  });

  describe('for a missing resource', () => {
    test('reports a port conflict, and uses the port when it is free', async () => {
      const { client } = machine();
      const deployment = await aDeployment(aScript(SERVE, { ports: [{ containerPort: 8080, protocol: 'TCP' }] }));
      const wanted = running(await deployment.manifest());
      const [{ HostPort } = { HostPort: '' }] =
        wanted.manifest.containers[0]?.body.HostConfig.PortBindings['8080/tcp'] ?? [];
      const stranger = createServer();
      await new Promise<void>((resolve) => stranger.listen(Number(HostPort), '127.0.0.1', resolve));
      const found = await reconcile(client, wanted, deployment.fence());
      expect(found).toMatchObject({ phase: 'retrying', reason: 'PortConflict', next: 'retry', endpoints: [] });
      expect(found.message).toBe(
        `Port ${HostPort} of the host, which ${deployment.name()} requires, is already in use.`,
      );
      await new Promise((resolve) => stranger.close(resolve));
      const up = await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
      expect(up.actions).toEqual([`started ${deployment.name()}`]);
    });

    test('creates no container without a requested GPU', async () => {
      const deployment = await aDeployment(aScript(SLEEP, { gpu_count: 1 }));
      const found = await reconcile(machine().client, running(await deployment.manifest()), deployment.fence());
      expect(found).toMatchObject({ phase: 'failed', reason: 'GpuMissing', next: 'settled' });
      expect(await idsOf(machine(), deployment)).toEqual({});
    });

    test('reports a missing bound volume as lost, and does not create it again', async () => {
      const { client, podman } = machine();
      const deployment = await aDeployment(aScript(SLEEP, { volume_mounts: [{ name: 'data', mountPath: '/data' }] }));
      const o = { wanted: running(await deployment.manifest()), fence: deployment.fence() };
      const { volumes: bound } = await reconcileTo(client, { ...o, phase: 'running' });
      await podman.discard(deployment.name());
      await podman.byHand('volume', 'rm', '--force', ...bound);
      const found = await reconcile(client, { ...o.wanted, bound }, o.fence);
      expect(found).toMatchObject({ phase: 'failed', reason: 'VolumeLost', next: 'settled', volumes: [] });
      expect(await podman.byHand('volume', 'ls', '--quiet')).toBe('');
    });
  });

  describe('for messages of the engine', () => {
    test('redacts the values of variables', async () => {
      const secrets = secretsWithValues([{ name: 'password', version: 1, values: { PASSWORD: '/bin/c4n4ry-value' } }]);
      const spec = { secret_refs: [{ name: 'password', env: 'PASSWORD' }], command: ['/bin/c4n4ry-value'] };
      const deployment = await aDeployment(aScript('', spec), { secrets, ...WITHOUT_INIT });
      const found = await reconcile(machine().client, running(await deployment.manifest()), deployment.fence());
      expect(found.message).toContain('•••');
      expect(JSON.stringify(found)).not.toContain('c4n4ry');
    });
  });
});
