// Runs a released version of the fleet and the current one side by side on one database, as during an upgrade, and checks that each of
// them reads what the other one writes. Then it stops both, starts the released version again as after a rollback, and checks that it
// still reads everything. Finally, the released fleet syncs with the current hub, and the current fleet with the released hub, each with
// the catalog of its version. It needs the commit of the release, and network access to install its dependencies:
//
//   node infra/local/release/side-by-side.mjs --commit db22806
//
// Build the current version before. This takes several minutes and is not part of CI; infra/local/test/releases/side-by-side.ci.test.ts is.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { freePort, startEmbeddedPostgres } from '@svc/database/embedded';

const { commit } = parseArgs({ options: { commit: { type: 'string' } } }).values;
if (!commit) throw new Error('Specify --commit.');

const repository = path.resolve(import.meta.dirname, '../../..');
const tree = path.join(mkdtempSync(path.join(tmpdir(), 'release-')), 'tree');
const run = (cwd, command, ...args) => execFileSync(command, args, { cwd, stdio: 'inherit' });

const runCommand = promisify(execFile); // asynchronous, because a fleet closes idle connections meanwhile
const running = [];
/** Starts a service, and waits until it is ready. @returns its address, and a function that runs a command of it */
async function startService(root, app, environment) {
  const port = await freePort();
  const main = path.join(root, 'apps', app, 'dist/main.js');
  const env = { ...process.env, ...environment, PORT: `${port}`, LOG_LEVEL: 'warn' };
  running.push(spawn(process.execPath, [main], { env, stdio: 'inherit' }));
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const deadline = Date.now() + 60_000; !(await isReady()); await sleep(200)) {
    if (Date.now() > deadline) throw new Error(`The ${app} in ${root} is not ready.`);
  }
  const command = async (...args) => (await runCommand(process.execPath, [main, ...args], { env })).stdout;
  return { url, command };
}

/** Starts a fleet. @returns a function that sends a request as an admin */
async function startFleet(root, environment) {
  const { url, command } = await startService(root, 'fleet', environment);
  const token = JSON.parse(await command('create-token', '--name', 'check', '--role', 'admin')).secret;
  return async (method, at, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/v1${at}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

async function stopAll() {
  for (const child of running.splice(0)) {
    const ended = once(child, 'exit');
    if (child.kill('SIGKILL')) await ended;
  }
}

/** Starts a hub with the catalog of its version. @returns the environment of a fleet, and the number of visible objects */
async function startHub(root, databaseUrl) {
  const { url, command } = await startService(root, 'hub', {
    DATABASE_URL: databaseUrl,
    OIDC_ISSUER: 'http://127.0.0.1:1',
    OIDC_AUDIENCE: 'https://hub.example.test',
  });
  await command('import', path.join(root, 'infra/catalog'));
  await command('create-organization', '--name', 'Acme', '--slug', 'acme');
  const { key } = JSON.parse(await command('create-api-key', '--organization', 'acme', '--name', 'fleet'));
  const count = async (plural) => {
    const response = await fetch(`${url}/api/v1/catalog/${plural}?limit=1`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return response.ok ? (await response.json()).pagination.total : 0; // a hub of an earlier version has no applications
  };
  const counts = { templates: await count('templates'), applications: await count('applications') };
  return { counts, environment: { HUB_URL: url, HUB_API_KEY: key, HUB_SYNC_INTERVAL: '0' } };
}

/** Has a new fleet of one version sync twice with a hub of another one, and compares what it has received. */
async function checkSync({ fleetRoot, hubRoot, name }) {
  const hub = await startHub(hubRoot, await databaseOf(`hub_of_${name}`));
  const fleet = await startFleet(fleetRoot, {
    DATABASE_URL: await databaseOf(`fleet_of_${name}`),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    OUTBOUND_ALLOW: 'http,loopback',
    ...hub.environment,
  });
  for (const updated of [hub.counts.templates, 0]) {
    const state = await fleet('POST', '/catalog/sync');
    const { status, counts, last_sync: last, skipped } = state;
    const isComplete = status === 'fresh' && counts.templates === hub.counts.templates && skipped.total === 0;
    if (!isComplete || last.updated !== updated || last.removed !== 0)
      throw new Error(`${name}: the hub has ${JSON.stringify(hub.counts)}, and the fleet ${JSON.stringify(state)}`);
  }
  console.log(
    `${name}: ${hub.counts.templates} templates in two syncs; the hub has ${hub.counts.applications} applications`,
  );
}

async function requireListed(request, plural, name) {
  const listed = (await request('GET', `/${plural}?limit=100`))[plural].map((each) => each.name);
  if (!listed.includes(name)) throw new Error(`${name} is missing in a list`);
}

/** Resources that need no engine, by the name of their list. */
const resources = {
  users: (name) => ({ name, email: `${name}@example.test`, role: 'viewer', password: 'seventeen quiet tractors' }),
  tokens: (name) => ({ name, role: 'viewer' }),
  secrets: (name) => ({ name, values: { key: 'value' } }),
  storage: (name) => ({ name }),
  workloads: (name) => ({ name, image_name: 'team/app' }),
  hosts: (name) => ({ name, engine: 'docker', endpoint: 'tcp://127.0.0.1:1' }),
};

const postgres = await startEmbeddedPostgres();
const databaseOf = (name) => postgres.ensureDatabase({ name, role: name, password: randomBytes(12).toString('hex') });
try {
  run(repository, 'git', 'worktree', 'add', '--detach', tree, commit);
  run(tree, 'pnpm', 'install', '--frozen-lockfile', '--prefer-offline');
  run(tree, 'npx', 'turbo', 'run', 'build', '--filter=@svc/fleet', '--filter=@svc/hub');
  const environment = {
    DATABASE_URL: await databaseOf('fleet'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    OUTBOUND_ALLOW: 'http,loopback',
  };
  const released = await startFleet(tree, environment);
  const current = await startFleet(repository, environment); // migrates the database
  for (const [writer, reader, prefix] of [
    [released, current, 'released'],
    [current, released, 'current'],
  ]) {
    for (const [plural, bodyOf] of Object.entries(resources)) {
      const name = `${prefix}-${plural}`;
      await writer('POST', `/${plural}`, bodyOf(name));
      await requireListed(reader, plural, name);
      console.log(`${name}: written by one version, and read by the other`);
    }
  }
  await stopAll();
  const rolledBack = await startFleet(tree, environment);
  for (const plural of Object.keys(resources)) {
    for (const prefix of ['released', 'current']) await requireListed(rolledBack, plural, `${prefix}-${plural}`);
  }
  console.log('all of them: read by the released version after a rollback');
  await stopAll();
  await checkSync({ fleetRoot: tree, hubRoot: repository, name: 'released_fleet_and_current_hub' });
  await checkSync({ fleetRoot: repository, hubRoot: tree, name: 'current_fleet_and_released_hub' });
} finally {
  await stopAll();
  await postgres.stop();
  execFileSync('git', ['worktree', 'remove', '--force', tree], { cwd: repository, stdio: 'inherit' });
  rmSync(path.dirname(tree), { recursive: true, force: true });
}
