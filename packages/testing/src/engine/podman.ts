import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROGRAM_PATH, programAt } from './at-hand.ts';
import { runProgram, type Settings } from './program.ts';
import { retry, type Started, startService } from './ready.ts';

const CONFIG = path.resolve(import.meta.dirname, '../../../../infra/ci/containers.conf');

/** The folder in which CNI plugins record the addresses of containers, by network, for all engines of a machine. */
const RECORDED_ADDRESSES = '/var/lib/cni/networks';

/** The programs that Podman uses for networks. */
export type NetworkBackend = 'cni' | 'netavark';

interface Options {
  readonly insecureRegistry?: string | undefined;
  /** Default: that of Debian. */
  readonly networkBackend?: NetworkBackend | undefined;
}

/** Starts a Podman engine with all data in a folder, also its networks. */
export async function startPodman(folder: string, options: Options): Promise<Started> {
  const settings = await settingsIn(folder, options);
  const storage = ['--root', path.join(folder, 'root'), '--runroot', path.join(folder, 'run')];
  const byHand = (...args: readonly string[]) => runProgram('podman', [...storage, ...args], settings);
  const socket = path.join(folder, 'engine.sock');
  const args = [...storage, 'system', 'service', '--time=0', `unix://${socket}`];
  const start = () => startService({ file: 'podman', args, socket, ...settings });
  let stopService = await start();
  const remove = (...which: readonly string[]) => byHand('rm', '--force', '--time', '0', ...which);
  return {
    endpoint: `unix://${socket}`,
    byHand,
    discard: async (...names) => {
      await remove(...names);
    },
    restart: async () => {
      await stopService();
      stopService = await start();
    },
    // The service can hold locks of containers while it handles requests that their clients have
    // abandoned.
    stop: async () => {
      await stopService();
      await retry(() => remove('--all'), 3);
      const names = (await byHand('network', 'ls', '--format', '{{.Name}}')).split('\n').filter(isCreated);
      if (names.length > 0) await byHand('network', 'rm', '--force', ...names);
      for (const name of names) await rm(path.join(RECORDED_ADDRESSES, name), { recursive: true, force: true });
    },
  };
}

/** The default network exists without a file, and other engines of the machine have it as well. */
const isCreated = (network: string): boolean => network !== '' && network !== 'podman';

async function settingsIn(folder: string, { insecureRegistry, networkBackend }: Options): Promise<Settings> {
  const config = path.join(folder, 'containers.conf');
  const network = [
    '[network]',
    `network_config_dir = "${path.join(folder, 'networks')}"`,
    ...(networkBackend ? [`network_backend = "${networkBackend}"`] : []),
  ];
  const programs =
    networkBackend === 'netavark'
      ? `helper_binaries_dir = ["${path.dirname(programAt('netavark') ?? '')}", "/usr/libexec/podman", "/usr/lib/podman"]\n`
      : '';
  await writeFile(config, `${await readFile(CONFIG, 'utf8')}${programs}\n${network.join('\n')}\n`);
  const registries = path.join(folder, 'registries.conf');
  const insecure = insecureRegistry && `[[registry]]\nlocation = "${insecureRegistry}"\ninsecure = true\n`;
  await writeFile(registries, insecure ?? '');
  const temporary = path.join(folder, 'tmp');
  await mkdir(temporary);
  const env = { PATH: `${await programsIn(folder)}:${PROGRAM_PATH}`, HOME: folder, TMPDIR: temporary };
  return {
    cwd: folder, // some engines write files to their working directory
    env: { ...env, CONTAINERS_CONF: config, CONTAINERS_REGISTRIES_CONF: registries },
  };
}

/**
 * Podman searches the packages of its programs each time that it is asked for its state. This takes five times as long as
 * all the rest, and no test needs the versions of packages. @returns a folder with a `dpkg-query` that knows no package
 */
async function programsIn(folder: string): Promise<string> {
  const programs = path.join(folder, 'programs');
  await mkdir(programs);
  await writeFile(path.join(programs, 'dpkg-query'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return programs;
}
