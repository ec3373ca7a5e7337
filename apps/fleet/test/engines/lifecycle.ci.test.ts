import { expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { describeWithEngine, engineKind } from '@svc/testing/engine';
import { check } from '../../src/engines/docker/check.ts';
import { logs } from '../../src/engines/docker/logs.ts';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { secretsWithValues } from '../../src/render/secrets.ts';
import { aDeployment, aMachine, aScript, idsOf, reconcileTo, running, SERVE } from './world.ts';

const PASSWORD = 'c4n4ry-password';
const served = aScript(SERVE, {
  env: [{ name: 'GREETING', value: 'hello' }],
  secret_refs: [{ name: 'password', env: 'PASSWORD' }],
  ports: [{ containerPort: 8080, protocol: 'TCP' }],
  volume_mounts: [{ name: 'data', mountPath: '/data' }],
  memory_request: '64Mi',
});
const secrets = secretsWithValues([{ name: 'password', version: 1, values: { PASSWORD } }]);

describeWithEngine('the driver on a real engine', () => {
  const machine = aMachine();

  test('reports version and capacity of the engine', async () => {
    expect(await check(machine().client)).toEqual({
      engine: engineKind(),
      engine_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      identity: expect.stringMatching(/^[\w:.-]+$/),
      api_version: expect.stringMatching(/^1\.4\d$/),
      arch: expect.stringMatching(/^(?:amd64|arm64)$/),
      cpu_millis: expect.any(Number),
      memory_bytes: expect.any(Number),
    });
  });

  test('a shell without a handler of SIGTERM ends with it, because it is not the first process', async () => {
    const { client, podman } = machine();
    const deployment = await aDeployment(aScript('echo started; sleep 1000; echo ended'));
    const wanted = running(await deployment.manifest());
    await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    await podman.byHand('stop', deployment.name());
    // 137 would be SIGKILL after the grace period.
    expect(await podman.byHand('inspect', deployment.name(), '--format', '{{.State.ExitCode}}')).toBe('143');
    await podman.discard(deployment.name());
  });

  test('creates, replaces, stops, starts and deletes a deployment, and keeps its volume until deletion', async () => {
    const { client, podman } = machine();
    const deployment = await aDeployment(served, { secrets });
    // A container runs before its program listens.
    const get = async (address: string, file = '') => {
      const read = () =>
        fetch(`http://${address}/${file}`).then(
          (answer) => answer.text(),
          () => undefined,
        );
      return eventually('the program responds', read, { until: (text) => text !== undefined });
    };

    const manifest = await deployment.manifest();
    const up = await reconcileTo(client, { wanted: running(manifest), fence: deployment.fence(), phase: 'running' });
    const [volume = ''] = up.volumes;
    expect(up.actions).toEqual([`created the volume ${volume}`, `created ${deployment.name()}`]);
    const instance = { name: deployment.name(), phase: 'running', message: 'is running', restarts: 0, ordinal: 0 };
    expect(up.instances).toMatchObject([{ ...instance, current: true, ready: true }]);
    const port = { container_port: 8080, protocol: 'TCP', address: expect.any(String), scope: 'loopback' };
    expect(up.endpoints).toEqual([{ ...port, instance: deployment.name(), ready: true, current: true }]);
    const [{ address } = { address: '' }] = up.endpoints;
    expect(await get(address)).toBe(`hello ${PASSWORD}\n`);
    expect(JSON.stringify(up)).not.toContain(PASSWORD);
    const lines: string[] = [];
    for await (const line of logs(client, { deploymentId: deployment.id, name: deployment.name() })) lines.push(line);
    expect(lines).toEqual(['ready']);

    const [before] = Object.values(await idsOf(machine(), deployment));
    const again = await reconcile(client, running(manifest), deployment.fence());
    expect(again.phase).toBe('running');
    expect(again.actions).toEqual([]);
    expect(await idsOf(machine(), deployment)).toEqual({ [deployment.name()]: before });

    const restarted = await deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' });
    const anew = await reconcileTo(client, {
      wanted: running(restarted),
      fence: deployment.fence(8),
      phase: 'running',
    });
    expect(anew.actions).toEqual([`created ${deployment.name()} again: a restart was requested`]);
    expect(await get(address, 'starts')).toBe('start\nstart\n');

    const changed = await deployment.manifest({ generation: 9, env: [{ name: 'GREETING', value: 'good day' }] });
    await reconcileTo(client, { wanted: running(changed), fence: deployment.fence(9), phase: 'running' });
    expect(await get(address)).toBe(`good day ${PASSWORD}\n`);

    const stopped = await reconcileTo(client, {
      wanted: { kind: 'stopped' },
      fence: deployment.fence(10),
      phase: 'stopped',
    });
    expect(stopped.actions).toEqual([`removed ${deployment.name()}`]);
    expect(await idsOf(machine(), deployment)).toEqual({});
    expect(await podman.byHand('volume', 'ls', '--quiet')).toContain(volume);

    const wanted = running(changed, { bound: [volume] });
    const started = await reconcileTo(client, { wanted, fence: deployment.fence(11), phase: 'running' });
    expect(started.actions).toEqual([`created ${deployment.name()}`]);
    expect(await get(address, 'starts')).toBe('start\n'.repeat(4));

    const gone = { wanted: { kind: 'gone' as const, volumes: [volume] }, fence: deployment.fence(12) };
    const end = await reconcileTo(client, { ...gone, phase: 'gone' });
    expect(end.actions).toEqual([`removed ${deployment.name()}`, `removed the volume ${volume}`]);
    expect(await podman.byHand('volume', 'ls', '--quiet')).not.toContain(volume);
    expect(await reconcile(client, gone.wanted, gone.fence)).toMatchObject({
      phase: 'gone',
      actions: [],
      next: 'settled',
    });
  });
});
