import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { startLocalIssuer, startProcess } from '@svc/testing';
import { ask, type prepareFaults, queryOn } from '@svc/testing/faults';
import { z } from 'zod';
import { startSlowLink } from './slow-link.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
type App = 'hub' | 'fleet';
const mainOf = (app: App) => path.join(root, 'apps', app, 'dist/main.js');
const ENGINES = path.join(root, 'bench/fleet/engines.mjs');
const AUDIENCE = 'https://hub.example.test';

/** Runs a command of a service. @returns the JSON that it prints */
async function command(app: App, environment: Readonly<Record<string, string>>, ...args: string[]) {
  const { ended, output } = startProcess(mainOf(app), args, environment);
  if ((await ended) !== 0) throw new Error(output());
  return JSON.parse(output());
}

/**
 * A hub and a fleet as in production, each with its own PostgreSQL server, and a simulated host on which a deployment runs.
 * @param disk a folder for the database of the fleet; by default one on the usual disk
 */
export function preparePlanted(
  disk: string | undefined,
  { closers, aPostgres, aService }: ReturnType<typeof prepareFaults>,
) {
  return async () => {
    const [hubPostgres, fleetPostgres] = [await aPostgres(), await aPostgres(disk)];
    const issuer = await startLocalIssuer(AUDIENCE);
    closers.push(issuer.close);
    const hubSettings = { DATABASE_URL: hubPostgres.databaseUrl, OIDC_ISSUER: issuer.issuer, OIDC_AUDIENCE: AUDIENCE };
    const hub = await aService({ main: mainOf('hub'), environment: hubSettings });
    await command('hub', hubSettings, 'create-organization', '--name', 'Planted', '--slug', 'planted');
    const { key } = await command('hub', hubSettings, 'create-api-key', '--organization', 'planted', '--name', 'fleet');

    const link = await startSlowLink(fleetPostgres.databaseUrl);
    closers.push(link.close);
    const fleetSettings = {
      ...{ DATABASE_URL: link.databaseUrl, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` },
      ...{ HUB_URL: hub.url, HUB_API_KEY: key, OUTBOUND_ALLOW: 'http,loopback' },
    };
    const fleet = await aService({ main: mainOf('fleet'), environment: fleetSettings });
    const args = ['create-token', '--name', 'admin', '--role', 'admin'];
    const { secret } = await command('fleet', fleetSettings, ...args);
    const request = (method: string, at: string, body?: object) =>
      ask(`${fleet.url}/api/v1${at}`, { method, authorization: `Bearer ${secret}`, ...(body && { body }) });
    const good = async (method: string, at: string, body?: object) => {
      const { status, body: answer } = await request(method, at, body);
      if (status >= 300) throw new Error(`${method} ${at}: ${status} ${JSON.stringify(answer)}`);
      return answer;
    };

    const engine = await startEngine();
    closers.push(engine.stop);
    await good('POST', '/hosts', { name: 'machine', engine: 'docker', endpoint: engine.endpoint });
    const { workload } = await good('POST', '/workloads', { name: 'app', image_name: 'team/app' });
    const { deployment } = await good('POST', '/deployments', { name: 'app', workload_id: workload.id });

    const running = { hub, fleet };
    return {
      ...{ engine, link, fleetPostgres, request, good },
      /** Kills a service, like a failure of its machine. */
      kill: async (app: App) => {
        running[app].child.kill('SIGKILL');
        await running[app].ended;
      },
      /** Starts a service again at the same port, and waits until it is ready. */
      start: async (app: App) => {
        const environment = app === 'hub' ? hubSettings : fleetSettings;
        running[app] = await aService({ main: mainOf(app), port: running[app].port, environment });
      },
      deploymentId: String(deployment.id),
      targets: [
        { job: 'hub', url: hub.url },
        { job: 'fleet', url: fleet.url },
      ] as const,
      onHub: queryOn(hubPostgres.databaseUrl),
      onFleet: queryOn(fleetPostgres.databaseUrl),
    };
  };
}

export type Planted = Awaited<ReturnType<ReturnType<typeof preparePlanted>>>;

const listed = z.array(z.looseObject({ Id: z.string() }));

/** A simulated host (bench/fleet/engines.mjs) in a process of its own. */
async function startEngine() {
  const child = fork(ENGINES, [], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [line] = await once(child.stdout ?? child, 'data');
  const endpoint = String(JSON.parse(String(line)).endpoints[0]);
  const url = endpoint.replace('tcp:', 'http:');
  return {
    endpoint,
    /** Ends all containers, as if their programs had crashed. */
    crashContainers: async () => {
      const containers = listed.parse(await (await fetch(`${url}/containers/json`)).json());
      for (const { Id } of containers) await fetch(`${url}/containers/${Id}/stop`, { method: 'POST' });
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
