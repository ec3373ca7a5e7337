// Runs the programs of a real node in its namespaces, at the request of `RealNode`. Nothing here changes the machine: the folders and kernel
// settings that the programs write are replaced in the mount namespace.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CNI_FOLDER, pathWith, programIn } from '../lab/build.mjs';
import { addressOf, configureNode } from '../lab/network.mjs';
import { Programs } from '../lab/programs.mjs';
import { hierarchies } from './cgroups.mjs';
import { containerdConfig, kubeletConfig, networkConfig, PAUSE_IMAGE, registryFiles } from './config.mjs';

/**
 * `number` and `name` of the node, and the number `nodes` of all real nodes; the output folder of build.sh; the folder of the node and that of
 * its log files; `containerdSocket`; the `archives` of images; the file `ca`; the kubeconfigs of the kubelet and of kube-proxy; `reservedMemory`
 * in bytes, which pods cannot use.
 */
const settings = JSON.parse(process.argv[2]);
const { number, name, nodes, build, folder, logFolder, containerdSocket, archives, ca, reservedMemory } = settings;
const at = (...names) => path.join(folder, ...names);
const file = (target, content) => {
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
  return target;
};
const mount = (...args) => execFileSync('mount', args);

/** The settings of the kernel that the kubelet changes, and that have no namespace. */
const KERNEL_SETTINGS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];
/** The folders of the machine in which the programs write. */
const OWN_FOLDERS = ['/var/lib', '/var/log'];
const SOCKET_ATTEMPTS = 300;

const programs = new Programs(logFolder, (message) => {
  console.error(`${name}: ${message}`);
  process.exit(1);
});

function replaceMounts() {
  const groups = hierarchies();
  // The programs also find mounts that others hide.
  execFileSync('umount', ['--recursive', '--lazy', '/sys']);
  mount('-t', 'sysfs', 'sysfs', '/sys');
  mount('-t', 'tmpfs', 'tmpfs', '/sys/fs/cgroup');
  for (const { controllers, mountPoint } of groups) {
    mkdirSync(mountPoint);
    mount(
      '-t',
      'cgroup',
      '-o',
      controllers.startsWith('name=') ? `none,${controllers}` : controllers,
      'cgroup',
      mountPoint,
    );
  }
  for (const each of OWN_FOLDERS) {
    mkdirSync(at('root', each), { recursive: true });
    mount('--bind', at('root', each), each);
  }
  mount('-t', 'tmpfs', 'tmpfs', '/run');
  // Otherwise the kubelet reports all processes of the machine that ran out of memory.
  mount('--bind', '/dev/null', '/dev/kmsg');
  for (const each of KERNEL_SETTINGS) {
    const target = `/proc/sys/${each}`;
    if (existsSync(target)) mount('--bind', file(at('kernel', each), readFileSync(target)), target);
  }
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  // The kubelet propagates mounts of volumes between containers.
  mount('--make-rshared', '/');
}

async function startPrograms() {
  const env = { ...process.env, PATH: pathWith(build), TMPDIR: at('tmp') };
  mkdirSync(at('tmp'), { recursive: true });
  for (const [target, content] of registryFiles()) file(at('registries', target), content);
  file(at('cni/pods.conflist'), networkConfig(number));
  file(at('resolv.conf'), '');

  const config = containerdConfig({
    at,
    socket: containerdSocket,
    cni: path.join(build, CNI_FOLDER),
    runc: programIn(build, 'runc'),
  });
  programs.run('containerd', programIn(build, 'containerd'), ['--config', file(at('containerd.toml'), config)], env);
  const ctr = (...args) =>
    spawnSync(programIn(build, 'ctr'), ['--address', containerdSocket, '--namespace', 'k8s.io', ...args]);
  for (let left = SOCKET_ATTEMPTS; ctr('version').status !== 0; left -= 1) {
    if (left === 0) throw new Error('containerd does not answer');
    await pause(100);
  }
  for (const archive of archives) {
    const { status, stderr } = ctr('images', 'import', archive);
    if (status !== 0) throw new Error(`the import of ${archive} failed: ${stderr}`);
  }

  programs.run(
    'kubelet',
    programIn(build, 'kubelet'),
    [
      ...[
        '--config',
        file(at('kubelet.json'), kubeletConfig({ number, ca, resolvConf: at('resolv.conf'), reservedMemory })),
      ],
      ...['--kubeconfig', settings.kubeletKubeconfig, '--hostname-override', name, '--node-ip', addressOf(number)],
      ...['--container-runtime=remote', '--container-runtime-endpoint', `unix://${containerdSocket}`],
      ...['--pod-infra-container-image', PAUSE_IMAGE, '--volume-plugin-dir', at('volume-plugins')],
    ],
    env,
  );
  programs.run(
    'kube-proxy',
    programIn(build, 'kube-proxy'),
    [
      ...['--kubeconfig', settings.proxyKubeconfig, '--hostname-override', name, '--bind-address', addressOf(number)],
      ...['--proxy-mode=iptables', '--masquerade-all'],
      // The limits of connection tracking belong to the machine.
      ...[
        '--conntrack-max-per-core=0',
        '--conntrack-tcp-timeout-established=0',
        '--conntrack-tcp-timeout-close-wait=0',
      ],
    ],
    env,
  );
}

async function perform({ program, action }) {
  if (program !== 'node') return programs.act(program, action);
  replaceMounts();
  configureNode(number, nodes);
  await startPrograms();
}

process.on('message', async ({ request, ...wanted }) => {
  try {
    await perform(wanted);
    process.send({ request });
  } catch (error) {
    process.send({ request, error: error.message });
  }
});
process.on('disconnect', () => process.exit());
process.send({});
