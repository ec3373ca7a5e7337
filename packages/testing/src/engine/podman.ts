import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROGRAM_PATH } from './at-hand.ts';
import { runProgram, type Settings } from './program.ts';
import { retry, type Started, startService } from './ready.ts';

const CONFIG = path.resolve(import.meta.dirname, '../../../../infra/ci/containers.conf');

/** Starts a Podman engine with all data in a folder. */
export async function startPodman(folder: string, insecureRegistry: string | undefined): Promise<Started> {
  const settings = await settingsIn(folder, insecureRegistry);
  const storage = ['--root', path.join(folder, 'root'), '--runroot', path.join(folder, 'run')];
  const byHand = (...args: readonly string[]) => runProgram('podman', [...storage, ...args], settings);
  const socket = path.join(folder, 'engine.sock');
  const args = [...storage, 'system', 'service', '--time=0', `unix://${socket}`];
  const stopService = await startService({ file: 'podman', args, socket, ...settings });
  const remove = (...which: readonly string[]) => byHand('rm', '--force', '--time', '0', ...which);
  return {
    endpoint: `unix://${socket}`,
    byHand,
    discard: async (...names) => {
      await remove(...names);
    },
    // The service can hold locks of containers while it handles requests that their clients have
    // abandoned.
    stop: async () => {
      await stopService();
      await retry(() => remove('--all'), 3);
    },
  };
}

async function settingsIn(folder: string, insecureRegistry: string | undefined): Promise<Settings> {
  const registries = path.join(folder, 'registries.conf');
  const insecure = insecureRegistry && `[[registry]]\nlocation = "${insecureRegistry}"\ninsecure = true\n`;
  await writeFile(registries, insecure ?? '');
  const temporary = path.join(folder, 'tmp');
  await mkdir(temporary);
  const env = { PATH: `${await programsIn(folder)}:${PROGRAM_PATH}`, HOME: folder, TMPDIR: temporary };
  return {
    cwd: folder, // some engines write files to their working directory
    env: { ...env, CONTAINERS_CONF: CONFIG, CONTAINERS_REGISTRIES_CONF: registries },
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
