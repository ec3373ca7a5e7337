// What a container can do by default, on a real engine.
import { expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { logs } from '../../src/engines/docker/logs.ts';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { aDeployment, aMachine, aScript, type Machine, reconcileTo, reconcileUntil, running, SLEEP } from './world.ts';

const BUSYBOX = '/bin/busybox';

/** Runs a script in a container, and returns the lines of its output. */
async function linesOf({ client }: Machine, script: string, given: Parameters<typeof aScript>[1] = {}) {
  const deployment = await aDeployment(aScript(`( ${script} ) 2>&1; ${SLEEP}`, given));
  const wanted = running(await deployment.manifest());
  await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
  const lines: string[] = [];
  for await (const line of logs(client, { deploymentId: deployment.id, name: deployment.name() })) lines.push(line);
  await reconcile(client, { kind: 'gone', volumes: [] }, deployment.fence());
  return lines;
}

describeWithEngine('a container of a workload that requests nothing', () => {
  const machine = aMachine();

  test('can do what images need that start as root and change to another user', async () => {
    const script = [
      `mkdir -p /etc /data && echo user:x:1000:1000::/data:/bin/sh >/etc/passwd && echo user:x:1000: >/etc/group`,
      `${BUSYBOX} chown 1000:1000 /data && echo chown`,
      `${BUSYBOX} chmod 700 /data && ls /data && echo reads the directory of another user`,
      `${BUSYBOX} su user -c 'touch /data/file && echo su'`,
      `${BUSYBOX} httpd -p 80 -h / && echo binds port 80`,
      `${BUSYBOX} su user -c '${BUSYBOX} sleep 100 & echo $! >/data/pid'; ${BUSYBOX} kill $(cat /data/pid) && echo kill`,
      `${BUSYBOX} chroot / ${BUSYBOX} echo chroot`,
    ].join('; ');
    expect(await linesOf(machine(), script)).toEqual([
      'chown',
      'reads the directory of another user',
      'su',
      'binds port 80',
      'kill',
      'chroot',
    ]);
  });

  test('cannot create devices, open raw sockets or mount file systems', async () => {
    const attempts = ['mknod /tmp/disk b 8 0', 'ping -c 1 127.0.0.1', 'mount -t tmpfs none /tmp'];
    const script = attempts.map((attempt) => `${BUSYBOX} ${attempt} >/dev/null 2>&1 && echo did ${attempt}`).join('; ');
    expect(await linesOf(machine(), `${script}; echo end`)).toEqual(['end']);
  });

  test('has exactly the documented capabilities', async () => {
    const [line = ''] = await linesOf(machine(), `${BUSYBOX} grep CapEff /proc/self/status`);
    // Bits of linux/capability.h, without 13 (NET_RAW) and 27 (MKNOD).
    const bits = [0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 29, 31];
    const expected = bits.reduce((sum, bit) => sum + 2n ** BigInt(bit), 0n);
    expect(BigInt(`0x${line.split(/\s+/)[1]}`)).toBe(expected);
  });

  test('gains no capabilities from an image that does not run as root', async () => {
    const { podman } = machine();
    await podman.byHand('create', '--name', 'unprivileged', podman.image, 'sleep');
    await podman.byHand('commit', '--change', 'USER=1000', 'unprivileged', 'localhost/svc-test/unprivileged:1');
    await podman.byHand('rm', 'unprivileged');
    const image_name = 'svc-test/unprivileged';
    const lines = await linesOf(machine(), `${BUSYBOX} grep -E "Cap(Eff|Prm|Amb)" /proc/self/status`, { image_name });
    expect(lines.map((line) => Number(line.split(/\s+/)[1]))).toEqual([0, 0, 0]);
  });

  test('has shared memory of the size that SVC_SHM_SIZE states', async () => {
    const env = [{ name: 'SVC_SHM_SIZE', value: '96Mi' }];
    const script = `${BUSYBOX} df -m /dev/shm | ${BUSYBOX} tail -n 1; echo "size: $SVC_SHM_SIZE"`;
    const [usage = '', variable] = await linesOf(machine(), script, { env });
    expect(usage.split(/\s+/)[1]).toBe('96');
    expect(variable).toBe('size: ');
  });
});

describeWithEngine('a container with a health check', () => {
  const machine = aMachine();
  const SERVER = `mkdir -p /www && echo ok >/www/health && ln -s busybox /bin/wget; httpd -p 8080 -h /www; ${SLEEP}`;

  const started = async (check: string) => {
    const deployment = await aDeployment(aScript(SERVER, { env: [{ name: 'SVC_HEALTH_CHECK', value: check }] }));
    const o = { wanted: running(await deployment.manifest()), fence: deployment.fence() };
    const reachedBy = (phase: string, message: RegExp) =>
      reconcileUntil(machine().client, {
        ...o,
        isThere: ({ instances: [first] }) => first?.phase === phase && message.test(first.message),
      });
    const checkNow = () =>
      machine()
        .podman.byHand('healthcheck', 'run', deployment.name())
        .then(
          () => true,
          () => false,
        );
    return { reachedBy, checkNow };
  };

  // Podman runs checks on its own only on machines with systemd.
  test.each(['http:8080/health', 'tcp:8080', 'exec:ls /www/health'])(
    'is starting until the check %s passes, and then running',
    async (check) => {
      const { reachedBy, checkNow } = await started(check);
      const waiting = await reachedBy('starting', /its health check has not passed yet/);
      expect(waiting).toMatchObject({ phase: 'starting', endpoints: [] });
      while (!(await checkNow())); // the program may need a moment to start
      expect(await reachedBy('running', /^is running$/)).toMatchObject({ phase: 'running' });
    },
  );

  test.each(['http:8080/absent', 'tcp:8081', 'exec:ls /absent'])(
    'stays starting while the check %s fails',
    async (check) => {
      const { reachedBy, checkNow } = await started(check);
      await reachedBy('starting', /its health check has not passed yet/);
      expect(await checkNow()).toBe(false);
      expect(await reachedBy('starting', /its health check has not passed yet/)).toMatchObject({ phase: 'starting' });
    },
  );

  test('is running if its engine does not run the check', async () => {
    const { reachedBy } = await started('tcp:8081');
    await reachedBy('running', /its engine does not run its health check/);
  });
});
