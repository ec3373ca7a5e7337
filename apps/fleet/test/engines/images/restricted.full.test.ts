// What a container with the security profile restricted can do, on a real engine.
import { expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { logs } from '../../../src/engines/docker/logs.ts';
import { reconcile } from '../../../src/engines/docker/reconcile.ts';
import { aDeployment, aMachine, aScript, reconcileTo, running, SLEEP } from '../world.ts';

const BUSYBOX = '/bin/busybox';
const STATUS = `${BUSYBOX} id; ${BUSYBOX} grep -E "Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs" /proc/self/status`;
const NOTHING = [
  'CapPrm:\t0000000000000000',
  'CapEff:\t0000000000000000',
  'CapBnd:\t0000000000000000',
  'CapAmb:\t0000000000000000',
  'NoNewPrivs:\t1',
];

describeWithEngine('a restricted container', () => {
  const machine = aMachine();

  async function linesOf(given: Parameters<typeof aScript>[1]) {
    const { client } = machine();
    const deployment = await aDeployment(aScript(`${STATUS}; ${SLEEP}`, { security_profile: 'restricted', ...given }));
    const wanted = running(await deployment.manifest());
    await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    const lines: string[] = [];
    for await (const line of logs(client, { deploymentId: deployment.id, name: deployment.name() })) lines.push(line);
    await reconcile(client, { kind: 'gone', volumes: [] }, deployment.fence());
    return lines;
  }

  test('runs as the user of the workload, without capabilities', async () => {
    const [ids = '', ...status] = await linesOf({ run_as: '1000:2000' });
    expect(ids).toMatch(/^uid=1000\b.* gid=2000\b/);
    expect(status).toEqual(NOTHING);
  });

  test('runs as the user of its image, without capabilities', async () => {
    const { podman } = machine();
    await podman.byHand('create', '--name', 'restricted', podman.image, 'sleep');
    await podman.byHand('commit', '--change', 'USER=65532', 'restricted', 'localhost/svc-test/restricted:1');
    await podman.byHand('rm', 'restricted');
    const [ids = '', ...status] = await linesOf({ image_name: 'svc-test/restricted' });
    expect(ids).toMatch(/^uid=65532\b/);
    expect(status).toEqual(NOTHING);
  });

  test('is not created from an image that runs as root', async () => {
    const deployment = await aDeployment(aScript(SLEEP, { security_profile: 'restricted' }));
    const seen = await reconcile(machine().client, running(await deployment.manifest()), deployment.fence());
    expect(seen).toMatchObject({
      phase: 'failed',
      reason: 'InvalidSpec',
      message: expect.stringMatching(/runs as root/),
    });
    expect(seen.instances).toMatchObject([{ phase: 'missing' }]);
  });
});
