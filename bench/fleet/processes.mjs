// A fleet with its database and simulated hosts, as separate processes.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { sendOnce } from '../shared/client.mjs';
import { startPostgres } from '../shared/database.mjs';
import { end, peakMemoryOf } from '../shared/processes.mjs';
import { createService } from '../shared/services.mjs';

/** The options of Node in the container image of the fleet. */
const NODE_OPTIONS = '--max-old-space-size=1024';

/** Starts simulated hosts. `ask` sends a request to their control port. */
export async function startEngines({ hosts, cpus }) {
  const file = path.join(import.meta.dirname, 'engines.mjs');
  const child = fork(file, ['--hosts', `${hosts}`, '--cpus', `${cpus}`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  while (!output.endsWith('\n')) output += (await once(child.stdout, 'data'))[0];
  const { control, endpoints } = JSON.parse(output);
  const ask = async (method, at, body) => JSON.parse((await sendOnce(control, { method, path: at, body })).body);
  return { endpoints, ask, stop: () => end(child) };
}

/**
 * Starts a fleet. `startReplica` starts a further process on the same database.
 * @param settings further settings
 */
export async function startFleet(settings = {}) {
  const postgres = await startPostgres({ autovacuum: true });
  let service;
  const stop = async () => {
    await service?.stop();
    await postgres.stop();
  };
  const startReplica = async () => {
    const replica = await service.start();
    return { ...replica, memory: () => peakMemoryOf(replica.pid), kill: () => replica.stop('SIGKILL') };
  };
  const tokenOf = async (role) =>
    JSON.parse(await service.command('create-token', '--name', role, '--role', role)).secret;
  try {
    const databaseUrl = await postgres.create('fleet');
    service = createService({
      app: 'fleet',
      environment: {
        NODE_OPTIONS,
        DATABASE_URL: databaseUrl,
        RATE_LIMIT: 'off',
        HUB_SYNC_INTERVAL: '0',
        OUTBOUND_ALLOW: 'http,loopback',
        ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
        ...settings,
      },
    });
    const replica = await startReplica();
    const tokens = { admin: await tokenOf('admin'), viewer: await tokenOf('viewer') };
    return { replica, tokens, databaseUrl, databaseCpu: postgres.cpu, startReplica, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
