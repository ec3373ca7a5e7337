import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { pass } from '../../src/engines/docker/reconcile.ts';
import type { Observation } from '../../src/engines/observation.ts';
import { revealed } from '../../src/render/secrets.ts';
import { aDeployment, aMachine, aScript, idsOf, passTo, passUntil, running, SERVE, SLEEP } from './world.ts';

describeWithEngine('on a real engine', () => {
  const machine = aMachine();

  describe('a program', () => {
    test('that exits again and again is a crash loop, and is started again only with retry', async () => {
      const { client, podman } = machine();
      const it = await aDeployment(aScript('exit 7'));
      const o = { wanted: running(await it.manifest()), fence: it.fence() };
      const isGivenUp = ({ instances: [instance] }: Observation) =>
        instance?.restarts === 3 && instance.message.startsWith('does not stay up');
      await passUntil(client, { ...o, isThere: isGivenUp });
      const found = await pass(client, o.wanted, o.fence);
      expect(found).toMatchObject({ phase: 'retrying', reason: 'CrashLoop', next: 'retry', actions: [] });
      expect(found.message).toBe(`${it.name()} does not stay up (exit code 7). 0 of 1 up.`);
      const startedAt = () => podman.byHand('inspect', '--format', '{{.State.StartedAt}}', it.name());
      const before = await startedAt();
      expect(await pass(client, o.wanted, o.fence)).toMatchObject({ actions: [], next: 'retry' });
      expect(await startedAt()).toBe(before);
      const retried = await pass(client, { ...o.wanted, retry: true }, o.fence);
      expect(retried.actions).toEqual([`started ${it.name()} again: it does not stay up (exit code 7)`]);
      expect(await startedAt()).not.toBe(before);
    });

    test('that exceeds its memory limit is reported as OOMKilled', async () => {
      const it = await aDeployment(aScript('x=0123456789abcdef; while :; do x=$x$x; done', { memory_request: '16Mi' }));
      const o = { wanted: running(await it.manifest()), fence: it.fence(), phase: 'retrying' as const };
      const found = await passTo(machine().client, o);
      expect(found).toMatchObject({ reason: 'OOMKilled', next: 'retry' });
      expect(found.message).toMatch(/\(exit code 137\): it was killed, as happens .* more than its 16 MiB of memory/);
    });

    test('that is missing is an invalid spec', async () => {
      const it = await aDeployment(aScript('', { command: ['/bin/no-such-program'] }));
      const found = await pass(machine().client, running(await it.manifest()), it.fence());
      expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', next: 'settled' });
      expect(found.message).toContain('/bin/no-such-program');
    });

    test('without a command is an invalid spec', async () => {
      const it = await aDeployment(aScript('', { command: [] }));
      const found = await pass(machine().client, running(await it.manifest()), it.fence());
      expect(found).toMatchObject({ phase: 'failed', reason: 'InvalidSpec', instances: [{ phase: 'missing' }] });
    });
  });

  describe('a job', () => {
    test.each([
      ['with exit code 0 is stopped', 'exit 0', { phase: 'stopped', reason: null, message: 'Its work is done.' }],
      ['with another exit code has failed', 'exit 4', { phase: 'failed', reason: 'JobFailed' }],
    ] as const)('%s, and is not started again', async (_title, script, expected) => {
      const { client } = machine();
      const it = await aDeployment(aScript(script, { kind: 'job' }));
      const o = { wanted: running(await it.manifest(), { retry: true }), fence: it.fence() };
      expect(await passTo(client, { ...o, phase: expected.phase })).toMatchObject({ ...expected, next: 'settled' });
      expect(await pass(client, o.wanted, o.fence)).toMatchObject({ ...expected, actions: [] });
    });
  });

  describe('a missing resource', () => {
    test('a port in use is reported, and used when it is free', async () => {
      const { client } = machine();
      const it = await aDeployment(aScript(SERVE, { ports: [{ containerPort: 8080, protocol: 'TCP' }] }));
      const wanted = running(await it.manifest());
      const [{ HostPort } = { HostPort: '' }] =
        wanted.manifest.containers[0]?.body.HostConfig.PortBindings['8080/tcp'] ?? [];
      const stranger = createServer();
      await new Promise<void>((resolve) => stranger.listen(Number(HostPort), '127.0.0.1', resolve));
      const found = await pass(client, wanted, it.fence());
      expect(found).toMatchObject({ phase: 'retrying', reason: 'PortConflict', next: 'retry', endpoints: [] });
      expect(found.message).toBe(
        `Port ${HostPort} of the machine, which ${it.name()} needs, is taken by something else.`,
      );
      await new Promise((resolve) => stranger.close(resolve));
      const up = await passTo(client, { wanted, fence: it.fence(), phase: 'running' });
      expect(up.actions).toEqual([`started ${it.name()}`]);
    });

    test('nothing runs without a requested GPU', async () => {
      const it = await aDeployment(aScript(SLEEP, { gpu_count: 1 }));
      const found = await pass(machine().client, running(await it.manifest()), it.fence());
      expect(found).toMatchObject({ phase: 'failed', reason: 'GpuMissing', next: 'settled' });
      expect(await idsOf(machine(), it)).toEqual({});
    });

    test('a bound volume that is gone is lost, and not created again', async () => {
      const { client, podman } = machine();
      const it = await aDeployment(aScript(SLEEP, { volume_mounts: [{ name: 'data', mountPath: '/data' }] }));
      const o = { wanted: running(await it.manifest()), fence: it.fence() };
      const { volumes: bound } = await passTo(client, { ...o, phase: 'running' });
      await podman.discard(it.name());
      await podman.byHand('volume', 'rm', '--force', ...bound);
      const found = await pass(client, { ...o.wanted, bound }, o.fence);
      expect(found).toMatchObject({ phase: 'failed', reason: 'VolumeLost', next: 'settled', volumes: [] });
      expect(await podman.byHand('volume', 'ls', '--quiet')).toBe('');
    });
  });

  describe('the values of variables', () => {
    test('are masked in messages of the engine', async () => {
      const secrets = revealed([{ name: 'password', version: 1, values: { PASSWORD: '/bin/c4n4ry-value' } }]);
      const spec = { secret_refs: [{ name: 'password', env: 'PASSWORD' }], command: ['/bin/c4n4ry-value'] };
      const it = await aDeployment(aScript('', spec), { secrets });
      const found = await pass(machine().client, running(await it.manifest()), it.fence());
      expect(found.message).toContain('•••');
      expect(JSON.stringify(found)).not.toContain('c4n4ry');
    });
  });
});
