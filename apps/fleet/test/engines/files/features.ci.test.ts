// What a workload says about the file system and the program of its container, on a real engine.
import { expect, test } from '@jest/globals';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { describeWithEngine, engineKind } from '@svc/testing/engine';
import type { DockerClient } from '../../../src/engines/docker/client.ts';
import { logs } from '../../../src/engines/docker/logs.ts';
import { reconcile } from '../../../src/engines/docker/reconcile.ts';
import { Transient } from '../../../src/engines/errors.ts';
import { aDeployment, aMachine, aScript, type Deployment, reconcileTo, running, SLEEP } from '../world.ts';

const LONG = `/opt/${'a-long-folder/'.repeat(12)}end`;
const REPORT = [
  'echo "$0: $1"; pwd; /bin/busybox id -u; /bin/busybox id -g',
  `cat /etc/app/app.conf ${LONG}`,
  "/bin/busybox stat -c '%a %u:%g' /etc/app/app.conf /etc/app/report",
  SLEEP,
].join('\n');
const file = (path: string, content: string, mode = '0444') => ({ path, content, mode });
const placed: Partial<WorkloadSpec> = {
  entrypoint: ['/bin/sh', '/etc/app/report'],
  command: ['two words'],
  working_dir: '/tmp',
  run_as: '1000:2000',
  files: [file('/etc/app/report', REPORT, '0555'), file('/etc/app/app.conf', 'größe = 1\n'), file(LONG, 'long\n')],
};
const WRITES = [
  'try() { touch "$1/new" 2>/dev/null && echo "$1 is writable" || echo "$1 is read-only"; }',
  'try /; try /tmp; try /data; try /view; try /cache',
  '/bin/busybox df -k /cache | /bin/busybox tail -n 1 | while read -r _ size _; do echo "$size KiB"; done',
  'ls /cache; cat /etc/app/app.conf 2>/dev/null',
  SLEEP,
].join('\n');

describeWithEngine('a container', () => {
  const machine = aMachine();

  const linesOf = async ({ id, name }: Deployment) => {
    const lines: string[] = [];
    for await (const line of logs(machine().client, { deploymentId: id, name: name() })) lines.push(line);
    return lines;
  };
  const remove = ({ fence }: Deployment, volumes: readonly string[] = []) =>
    reconcile(machine().client, { kind: 'gone', volumes }, fence(99));

  test('runs the entry point in its directory as its user, with its files, which a change replaces', async () => {
    const { client } = machine();
    const deployment = await aDeployment(aScript('', placed));
    const wanted = running(await deployment.manifest());
    await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    expect(await linesOf(deployment)).toEqual([
      '/etc/app/report: two words',
      '/tmp',
      '1000',
      '2000',
      'größe = 1',
      'long',
      '444 0:0',
      '555 0:0',
    ]);
    const again = await reconcile(client, wanted, deployment.fence());
    expect(again.actions).toEqual([]);

    const files = [
      file('/etc/app/report', `cat /etc/app/app.conf\n${SLEEP}`),
      file('/etc/app/app.conf', 'größe = 2\n'),
    ];
    const changed = running(await deployment.manifest({ generation: 8 }, { files }));
    const replaced = await reconcileTo(client, { wanted: changed, fence: deployment.fence(8), phase: 'running' });
    expect(replaced.actions).toEqual([`created ${deployment.name()} again: its files have changed`]);
    expect(await linesOf(deployment)).toEqual(['größe = 2']);
    await remove(deployment);
  });

  test('does not start without its files, also if the fleet was interrupted or the files changed meanwhile', async () => {
    const { client } = machine();
    const deployment = await aDeployment(
      aScript('', { ...placed, files: [file('/etc/app/report', `echo one\n${SLEEP}`)] }),
    );
    const before = running(await deployment.manifest());
    const failed = await reconcile(withoutArchives(client), before, deployment.fence());
    expect(failed).toMatchObject({ reason: 'EngineError', instances: [{ phase: 'created' }] });
    expect(failed.message).toMatch(/^The files of .* could not be placed/);
    await reconcileTo(client, { wanted: before, fence: deployment.fence(), phase: 'running' });
    expect(await linesOf(deployment)).toEqual(['one']);
    await remove(deployment);

    await reconcile(withoutArchives(client), before, deployment.fence());
    const files = [file('/etc/app/report', `echo two\n${SLEEP}`)];
    const after = running(await deployment.manifest({ generation: 8 }, { files }));
    await reconcileTo(client, { wanted: after, fence: deployment.fence(8), phase: 'running' });
    expect(await linesOf(deployment)).toEqual(['two']);
    await remove(deployment);
  });

  test('writes only to writable volumes and temporary directories, if its file system is read-only', async () => {
    const { client } = machine();
    const deployment = await aDeployment(
      aScript(WRITES, {
        read_only_root: true,
        files: engineKind() === 'podman' ? [file('/etc/app/app.conf', 'a = 1\n')] : [],
        run_as: '0',
        volume_mounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'data', mountPath: '/view', read_only: true },
        ],
        tmpfs: [{ path: '/cache', size: '8Mi' }],
      }),
    );
    const wanted = running(await deployment.manifest());
    const { volumes } = await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    expect(await linesOf(deployment)).toEqual([
      '/ is read-only',
      engineKind() === 'podman' ? '/tmp is writable' : '/tmp is read-only', // Podman always adds some directories in memory
      '/data is writable',
      '/view is read-only',
      '/cache is writable',
      '8192 KiB',
      'new',
      ...(engineKind() === 'podman' ? ['a = 1'] : []),
    ]);
    await remove(deployment, volumes);
  });

  test('has an empty temporary directory, to which each user can write', async () => {
    const { client } = machine();
    const script = `/bin/busybox stat -c '%a %u' /cache; ls /cache; touch /cache/new && echo written; ${SLEEP}`;
    const spec = aScript(script, { run_as: '1000', tmpfs: [{ path: '/cache', size: '4Mi' }] });
    const deployment = await aDeployment(spec);
    const wanted = running(await deployment.manifest());
    await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
    expect(await linesOf(deployment)).toEqual(['1777 0', 'written']);
    await remove(deployment);
  });
});

/** A client whose engine accepts no archives. */
function withoutArchives(client: DockerClient): DockerClient {
  const failing: DockerClient = {
    ...viewOf(client),
    request: async (request) => {
      if (request.method !== 'PUT') return client.request(request);
      throw new Transient('EngineError', 'The engine rejected a request (500).', {
        status: 500,
        engineMessage: 'full',
      });
    },
    withSignal: () => failing,
    withLeaseCheck: () => failing,
  };
  return failing;
}

/** The members of a client, which are accessors of its class. */
const viewOf = (client: DockerClient): DockerClient => ({
  address: client.address,
  timing: client.timing,
  versionHandshake: () => client.versionHandshake(),
  request: (request) => client.request(request),
  read: (request, schema) => client.read(request, schema),
  open: (request) => client.open(request),
  withSignal: (signal) => client.withSignal(signal),
  withLeaseCheck: (assertLease) => client.withLeaseCheck(assertLease),
  close: () => client.close(),
});
