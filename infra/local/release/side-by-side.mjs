// Runs a released version of the fleet and the current one side by side on one database, as during an upgrade, and checks that each of
// them reads what the other one writes. Then it stops both, starts the released version again as after a rollback, and checks that it
// still reads everything. It needs the commit of the release, and network access to install its dependencies:
//
//   node infra/local/release/side-by-side.mjs --commit 3e41561
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

const createToken = promisify(execFile); // asynchronous, because a fleet closes idle connections meanwhile
const running = [];
/** Starts a fleet, and waits until it is ready. @returns a function that sends a request as an admin */
async function startFleet(root, environment) {
  const port = await freePort();
  const main = path.join(root, 'apps/fleet/dist/main.js');
  const env = { ...process.env, ...environment, PORT: `${port}`, LOG_LEVEL: 'warn' };
  running.push(spawn(process.execPath, [main], { env, stdio: 'inherit' }));
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const deadline = Date.now() + 60_000; !(await isReady()); await sleep(200)) {
    if (Date.now() > deadline) throw new Error(`The fleet in ${root} is not ready.`);
  }
  const created = await createToken(process.execPath, [main, 'create-token', '--name', 'check', '--role', 'admin'], {
    env,
  });
  const token = JSON.parse(created.stdout).secret;
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
try {
  run(repository, 'git', 'worktree', 'add', '--detach', tree, commit);
  run(tree, 'pnpm', 'install', '--frozen-lockfile', '--prefer-offline');
  run(tree, 'npx', 'turbo', 'run', 'build', '--filter=@svc/fleet');
  const role = { name: 'fleet', role: 'fleet', password: randomBytes(12).toString('hex') };
  const environment = {
    DATABASE_URL: await postgres.ensureDatabase(role),
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
} finally {
  await stopAll();
  await postgres.stop();
  execFileSync('git', ['worktree', 'remove', '--force', tree], { cwd: repository, stdio: 'inherit' });
  rmSync(path.dirname(tree), { recursive: true, force: true });
}
