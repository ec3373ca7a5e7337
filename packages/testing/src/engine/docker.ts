import path from 'node:path';
import { PROGRAM_PATH } from './at-hand.ts';
import { runProgram } from './program.ts';
import { retry, type Started, startService } from './ready.ts';

/**
 * Starts a Docker engine with all data in a folder. It uses the network of the machine, so only one
 * can run at a time.
 */
export async function startDocker(folder: string, insecureRegistry: string | undefined): Promise<Started> {
  const settings = { cwd: folder, env: { PATH: PROGRAM_PATH, HOME: folder } };
  const socket = path.join(folder, 'engine.sock');
  const endpoint = `unix://${socket}`;
  const args = [
    '--host',
    endpoint,
    '--pidfile',
    path.join(folder, 'pid'),
    '--storage-driver',
    'vfs',
    '--data-root',
    path.join(folder, 'root'),
    '--exec-root',
    path.join(folder, 'run'),
    ...(insecureRegistry ? ['--insecure-registry', insecureRegistry] : []),
  ];
  const byHand = (...rest: readonly string[]) => runProgram('docker', ['--host', endpoint, ...rest], settings);
  const start = () => startService({ file: 'dockerd', args, socket, ...settings });
  let stopService = await start();
  const restart = async () => {
    await stopService();
    stopService = await start();
  };
  const discard = async (...names: readonly string[]) => {
    if (names.length > 0) await byHand('rm', '--force', ...names);
  };
  const removeAll = async () => discard(...(await byHand('ps', '--all', '--quiet')).split('\n').filter(Boolean));
  return { endpoint, byHand, discard, restart, stop: () => retry(removeAll).finally(() => stopService()) };
}
