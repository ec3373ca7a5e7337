import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import path from 'node:path';
import { PROGRAM_PATH } from './at-hand.ts';
import type { Settings } from './program.ts';

const CONFIG = path.resolve(import.meta.dirname, '../../../../infra/ci/containers.conf');

/** What a Podman that keeps everything in a folder is run with. */
export async function settingsIn(folder: string, insecureRegistry: string | undefined): Promise<Settings> {
  const registries = path.join(folder, 'registries.conf');
  const insecure = insecureRegistry && `[[registry]]\nlocation = "${insecureRegistry}"\ninsecure = true\n`;
  await writeFile(registries, insecure ?? '');
  const temporary = path.join(folder, 'tmp');
  await mkdir(temporary);
  const env = { PATH: PROGRAM_PATH, HOME: folder, TMPDIR: temporary };
  return {
    cwd: folder, // some engines leave files where they were started
    env: { ...env, CONTAINERS_CONF: CONFIG, CONTAINERS_REGISTRIES_CONF: registries },
  };
}

/** Starts the API of Podman at a socket. @returns what ends it */
export async function startService(args: readonly string[], socket: string, settings: Settings) {
  const service = spawn('podman', [...args, 'system', 'service', '--time=0', `unix://${socket}`], {
    ...settings,
    stdio: 'ignore',
  });
  const ended = once(service, 'exit');
  const stop = async () => {
    service.kill();
    await ended;
  };
  for (let left = 300; !(await answersAt(socket)); left -= 1) {
    if (left === 0) await stop();
    if (service.exitCode !== null || left === 0) throw new Error('the API of Podman did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return stop;
}

/** A socket that is there tells nothing yet: Podman has been seen to be asked before it listened. */
const answersAt = (socketPath: string) =>
  new Promise<boolean>((resolve) => {
    const request = get({ socketPath, path: '/_ping', timeout: 5000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
