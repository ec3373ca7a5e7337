import { afterAll, expect, test } from '@jest/globals';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { describeWithEngine } from '@svc/testing/engine';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { secretsWithValues } from '../../src/render/secrets.ts';
import { CUSTOMER, startRegistry } from './registry.ts';
import { aDeployment, aMachine, aScript, reconcileTo, running, SLEEP } from './world.ts';

describeWithEngine('an image that is not on the engine', () => {
  let registry: Awaited<ReturnType<typeof startRegistry>>;
  const machine = aMachine(async () => {
    registry = await startRegistry();
    return { insecureRegistry: registry.address };
  });
  afterAll(() => registry.stop());

  const from = (image_name: string, given: Partial<WorkloadSpec> = {}) =>
    aScript(SLEEP, { registry_url: registry.address, image_name, image_tag: '1', ...given });
  const withCredentials = { registry_credentials: 'pull-secret' };
  const asCustomer = (password = CUSTOMER.password) =>
    secretsWithValues([{ name: 'pull-secret', version: 1, values: { ...CUSTOMER, password } }]);

  test('is pulled once', async () => {
    const deployment = await aDeployment(from('busybox', withCredentials), { secrets: asCustomer() });
    const o = { wanted: running(await deployment.manifest()), fence: deployment.fence(), phase: 'running' as const };
    const { actions } = await reconcileTo(machine().client, o);
    expect(actions).toEqual([`pulled ${o.wanted.manifest.image}`, `created ${deployment.name()}`]);
    const again = await aDeployment(from('busybox', withCredentials), { secrets: asCustomer() });
    const other = { wanted: running(await again.manifest()), fence: again.fence(), phase: 'running' as const };
    expect((await reconcileTo(machine().client, other)).actions).toEqual([`created ${again.name()}`]);
  });

  test('and not in its registry is reported as not found, and running containers stay', async () => {
    const { client } = machine();
    const deployment = await aDeployment(from('busybox', withCredentials), { secrets: asCustomer() });
    await reconcileTo(client, {
      wanted: running(await deployment.manifest()),
      fence: deployment.fence(),
      phase: 'running',
    });
    const next = running(await deployment.manifest({ generation: 8 }, { image_tag: '2' }));
    expect(await reconcile(client, next, deployment.fence(8))).toMatchObject({
      phase: 'degraded',
      reason: 'ImageNotFound',
      next: 'settled',
      actions: [],
      instances: [{ phase: 'running' }],
    });
    const other = await aDeployment(from('nothing', withCredentials), { secrets: asCustomer() });
    const found = await reconcile(client, running(await other.manifest()), other.fence());
    expect(found).toMatchObject({ phase: 'failed', reason: 'ImageNotFound', instances: [{ phase: 'missing' }] });
  });

  test('is pulled with valid credentials, and a rejection does not contain the password', async () => {
    const { client } = machine();
    const spec = from('private/busybox', withCredentials);
    const wrong = await aDeployment(spec, { secrets: asCustomer('c4n4ry-wrong') });
    const refused = await reconcile(client, running(await wrong.manifest()), wrong.fence());
    expect(refused).toMatchObject({ phase: 'failed', reason: 'AuthFailed', next: 'settled' });
    expect(JSON.stringify(refused)).not.toMatch(/c4n4ry/);
    const right = await aDeployment(spec, { secrets: asCustomer() });
    await reconcileTo(client, { wanted: running(await right.manifest()), fence: right.fence(), phase: 'running' });
  });

  test('is pulled again later if its registry is unreachable', async () => {
    const deployment = await aDeployment(from('busybox', { registry_url: '127.0.0.1:1' }));
    const found = await reconcile(machine().client, running(await deployment.manifest()), deployment.fence());
    expect(found).toMatchObject({ phase: 'retrying', reason: 'ImagePullFailed', next: 'retry' });
  });
});
