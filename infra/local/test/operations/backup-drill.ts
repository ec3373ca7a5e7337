import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually, startLocalIssuer } from '@svc/testing';
import { ask } from '@svc/testing/faults';
import { repository } from '../../src/settings.ts';
import { aDeployment } from '../sync/deployment.ts';

const page = fs.readFileSync(path.join(repository, 'docs', 'backup.md'), 'utf8');
const ENGINES = path.join(repository, 'bench/fleet/engines.mjs');

/** The command of docs/backup.md that contains a text. */
export function documented(text: string): string {
  const commands = [...page.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)]
    .flatMap(([, block = '']) => block.split(/(?<!\\)\n/))
    .filter((command) => command.includes(text));
  const [command, ...others] = commands;
  if (command === undefined || others.length > 0)
    throw new Error(`docs/backup.md has ${commands.length} commands with ${text}`);
  return command;
}

/** Records the names that were acknowledged with 201. */
function openLedger(create: (name: string) => Promise<{ readonly status: number }>, prefix: string) {
  const acknowledged: string[] = [];
  let count = 0;
  return {
    acknowledged: acknowledged as readonly string[],
    writer: async () => {
      const name = `${prefix}-${++count}`;
      const seen = await create(name);
      if (seen.status === 201) acknowledged.push(name);
      return seen;
    },
  };
}

/** A hub with an admin, and a fleet with a simulated host that mirrors it, on a PostgreSQL server with its own programs. */
export async function aDrill(programs: string, folder: string) {
  const closers: (() => unknown)[] = [];
  const engines: ChildProcess = fork(ENGINES, [], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  closers.push(() => engines.kill());
  const [line] = await once(engines.stdout ?? engines, 'data');
  const endpoint: string = JSON.parse(String(line)).endpoints[0];
  const issuer = await startLocalIssuer('https://hub.example.test');
  closers.push(issuer.close);
  const deployment = await aDeployment({ programs, hasTwoRoles: true });
  closers.push(deployment.stop);

  const quiet = { RATE_LIMIT: 'off', LOG_LEVEL: 'warn' };
  const forHub = {
    ...quiet,
    OUTBOUND_ALLOW: 'http,loopback',
    OIDC_ISSUER: issuer.issuer,
    SUPERADMIN_SUBJECTS: 'admin',
  };
  const startHub = () => deployment.start('hub', forHub);
  let hub = await startHub();
  const forFleet = { ...quiet, OUTBOUND_ALLOW: 'http,loopback', ...(await deployment.forFleet()) };
  const startFleet = () => deployment.start('fleet', forFleet);
  let fleet = await startFleet();
  const created = await deployment.command('fleet', 'create-token', '--name', 'drill', '--role', 'admin');
  const token: string = JSON.parse(created).secret;

  const send = async (service: 'hub' | 'fleet', method: string, at: string, body?: object) => {
    const bearer = service === 'fleet' ? token : await issuer.sign('admin');
    const options = { method, authorization: `Bearer ${bearer}`, ...(body && { body }) };
    return ask(`${deployment.urls[service]}/api/v1${at}`, options);
  };
  const good = async (...given: Parameters<typeof send>) => {
    const { status, body } = await send(...given);
    if (status < 200 || status >= 300)
      throw new Error(`${given.slice(0, 3).join(' ')}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const stop = async (app: 'hub' | 'fleet') => {
    const running = app === 'hub' ? hub : fleet;
    running.child.kill('SIGTERM');
    await running.ended;
  };
  const { category } = await good('hub', 'POST', '/admin/categories', { name: 'Drill', slug: 'drill' });
  const host = {
    name: 'machine',
    engine: 'docker',
    endpoint,
    network_types: ['mesh'],
    addresses: { mesh: '127.0.0.1' },
  };
  const hostId: string = (await good('fleet', 'POST', '/hosts', host)).host.id;
  const environment = () => ({
    PATH: `${programs}:${process.env.PATH}`,
    HUB_DATABASE_URL: deployment.databases.hub,
    FLEET_DATABASE_URL: deployment.databases.fleet,
    FLEET_URL: deployment.urls.fleet,
    FLEET_OPERATOR_TOKEN: token,
    HOST_ID: hostId,
  });
  return {
    databases: deployment.databases,
    hostId,
    good,
    stop,
    moveToNewServer: deployment.moveToNewServer,
    start: async (app: 'hub' | 'fleet') => {
      if (app === 'hub') hub = await startHub();
      else fleet = await startFleet();
    },
    templates: openLedger(
      (slug) => send('hub', 'POST', '/admin/templates', { name: slug, slug, category_id: category.id }),
      'template',
    ),
    secrets: openLedger((name) => send('fleet', 'POST', '/secrets', { name, values: { key: 'value' } }), 'secret'),
    /** Runs a shell script in the folder of the dumps. @returns its output, and the seconds that it took */
    run: async (script: string, more: Readonly<Record<string, string>> = {}) => {
      const started = performance.now();
      const options = { cwd: folder, env: { ...environment(), ...more } };
      const { stdout } = await promisify(execFile)('sh', ['-euc', script], options);
      return { output: stdout, seconds: (performance.now() - started) / 1000 };
    },
    untilRunning: (id: string) =>
      eventually('the deployment runs', async () => {
        const { deployment } = await good('fleet', 'GET', `/deployments/${id}`);
        return deployment.phase === 'running' && deployment.observed_generation === deployment.generation;
      }),
    close: async () => {
      for (const close of closers.reverse()) await close();
    },
  };
}

export type Drill = Awaited<ReturnType<typeof aDrill>>;
