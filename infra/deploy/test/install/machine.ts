import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '@svc/testing';
import { programAt } from '@svc/testing/engine';
import { namespaceProblem } from './release.ts';

const BOOT = path.join(import.meta.dirname, 'boot.sh');
/** The releases of Debian for which the packages are. */
const CODENAMES = ['bookworm', 'trixie'];

interface Mirror {
  readonly url: string;
  readonly codename: string;
}

/** The mirror of Debian that apt of this machine is configured with. */
function mirror(): Mirror | undefined {
  const format = '$(CREATED_BY) $(REPO_URI) $(CODENAME)';
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', format], { encoding: 'utf8' });
  const found = (stdout ?? '').split('\n').map((line) => line.split(' '));
  const [, url, codename] = found.find(([kind, , name = '']) => kind === 'Packages' && CODENAMES.includes(name)) ?? [];
  return url && codename ? { url, codename } : undefined;
}

/** Why no Debian with systemd can be booted on this machine, or undefined. */
export function machineProblem(): string | undefined {
  const missing = ['debootstrap', 'unshare', 'nsenter', 'pivot_root', 'findmnt'].filter((name) => !programAt(name));
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  if (mirror() === undefined) return `apt has no mirror of Debian (${CODENAMES.join(', ')})`;
  return namespaceProblem() ?? controlGroupProblem();
}

/** The control groups of the kernel must permit a group whose processes manage it. */
function controlGroupProblem(): string | undefined {
  const script = `
    groups=$(findmnt --noheadings --output TARGET --types cgroup2 | head -n 1)
    [ -n "$groups" ] && mkdir "$groups/svc-probe" && rmdir "$groups/svc-probe"
    unshare --mount --cgroup mount -t cgroup2 cgroup2 /mnt`;
  const { status, stderr } = spawnSync('sh', ['-euc', script], { encoding: 'utf8' });
  return status === 0 ? undefined : `the control groups do not permit systemd: ${stderr.trim()}`;
}

/** A Debian whose first process is systemd. */
export interface Machine {
  /** Runs a script of bash as root. @returns its output @throws an error with its output if it fails */
  run(script: string): string;
  stop(): Promise<void>;
}

/**
 * Writes a minimal Debian with systemd to a folder. It contains neither services nor tools beyond it.
 * @param prepare runs commands in it, with the network of this machine, before it is booted
 */
export async function installDebian(
  root: string,
  prepare: (chroot: (script: string) => string) => void,
): Promise<void> {
  const found = mirror();
  if (found === undefined) throw new Error('apt has no mirror of Debian');
  const options = ['--variant=minbase', '--include=systemd,systemd-sysv,init-system-helpers'];
  execFileSync(programAt('debootstrap') ?? '', [...options, found.codename, root, found.url], { stdio: 'pipe' });
  fs.writeFileSync(path.join(root, 'etc/apt/sources.list'), `deb ${found.url} ${found.codename} main\n`);
  fs.copyFileSync('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'));
  fs.writeFileSync(path.join(root, 'etc/dpkg/dpkg.cfg.d/test'), 'force-unsafe-io\n'); // nothing must survive a power failure
  prepare((script) => textOf('chroot', [root, ...shell(script)]));
}

/** Boots the Debian in a folder. Resolves when its services have started. */
export async function boot(root: string): Promise<Machine> {
  const name = `svc-${process.pid}`;
  const launcher = spawn(BOOT, [root, name], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const run = (script: string) => {
    const pid = firstProcessOf(launcher);
    if (pid === undefined) throw new Error(`systemd does not run:\n${output}`);
    const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--root', '--wd'];
    return textOf('nsenter', ['--target', String(pid), ...namespaces, ...shell(script)]);
  };
  const hasStarted = () => {
    try {
      return /running|degraded/.test(run('systemctl is-system-running || true'));
    } catch {
      return false; // systemd does not listen yet
    }
  };
  await eventually('systemd has started the services', async () => hasStarted(), { until: Boolean });
  return {
    run,
    stop: async () => {
      const ended = once(launcher, 'exit');
      launcher.kill('SIGKILL');
      await ended;
      await eventually('the control group is empty', async () => removeGroup(name), { until: Boolean });
    },
  };
}

const shell = (script: string) => [
  ...['/usr/bin/env', '-i', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root'],
  ...['LANG=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive', 'bash', '-euo', 'pipefail', '-c', `cd /root\n${script}`],
];

function textOf(program: string, args: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: [...stdio],
  });
  if (status !== 0) throw new Error(`${args.at(-1)}\nended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** The id of systemd: the child of `unshare`, which replaces the script. */
function firstProcessOf({ pid }: ChildProcess): number | undefined {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? undefined : Number(children.split(' ')[0]);
}

/** Removes the control group and those below it. @returns false while one of them has processes */
function removeGroup(name: string): boolean {
  const script = `
    groups=$(findmnt --noheadings --output TARGET --types cgroup2 | head -n 1)
    find "$groups/${name}" -depth -type d -exec rmdir {} +`;
  return spawnSync('sh', ['-euc', script], { stdio: 'ignore' }).status === 0;
}
