// Does what a new developer does: clones the last commit of this repository, and runs both commands of the README with an
// empty home folder and without pnpm on PATH. Prints the duration of each step.
//   node infra/ci/fresh-clone.mjs [--node <folder with the programs node and npm>] [--store <folder>] [--only start|test]
// `--store` is a store of pnpm with the packages; without it, they come from the registry.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

/** Variables without which some networks do not reach the registry. */
const NETWORK = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|HTTPS?_PROXY|NO_PROXY|npm_config_(?:registry|cafile))$/i;

const root = path.resolve(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: { node: { type: 'string' }, store: { type: 'string' }, only: { type: 'string' } },
});

const parent = mkdtempSync(path.join(tmpdir(), 'fresh-clone-'));
const clone = path.join(parent, 'clone');
const env = environment();
try {
  execFileSync('git', ['clone', '--quiet', root, clone]);
  console.log(`Node ${execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()} on PATH, no pnpm`);
  if (values.only !== 'test') await timed('npm start, a request, and a stop', start);
  if (values.only !== 'start') await timed('npm test', () => run('npm', ['test'], (line) => console.log(line)));
} finally {
  rmSync(parent, { recursive: true, force: true, maxRetries: 5 });
}

/** The variables of a login without any configuration. */
function environment() {
  const home = path.join(parent, 'home');
  mkdirSync(home);
  const folders = [
    values.node && path.resolve(values.node),
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
    '/usr/sbin',
    '/sbin',
  ];
  const onPath = folders.filter((folder) => folder !== undefined);
  const pnpm = onPath.map((folder) => path.join(folder, 'pnpm')).find(isProgram);
  if (pnpm) throw new Error(`${pnpm} must not be on PATH`);
  const store = values.store && path.resolve(values.store);
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name)));
  return {
    ...kept,
    HOME: home,
    PATH: onPath.join(':'),
    LANG: 'C.UTF-8',
    ...(store && { pnpm_config_store_dir: store }),
  };
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function timed(what, work) {
  const started = performance.now();
  await work();
  console.log(`${what}: ${Math.round((performance.now() - started) / 1000)} s`);
}

/** Runs a command in the clone. @param onLine receives each line of its output @throws if it fails */
async function run(file, args, onLine, more = {}) {
  const child = spawn(file, args, {
    cwd: clone,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  for await (const line of createInterface(child.stdout)) onLine(line, child);
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  const code = child.signalCode === 'SIGINT' ? 0 : child.exitCode; // npm ends with the signal that stops the product
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} exited with ${code}`);
}

/** Starts the product, reads the catalog with the key of the demo organization, and stops the product. */
async function start() {
  const names = ['HUB_PORT', 'FLEET_PORT', 'IDP_PORT', 'POSTGRES_PORT'];
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())])));
  let checked;
  const onLine = (line, child) => {
    if (!line.startsWith('ready')) return;
    checked = readCatalog().finally(() => process.kill(-child.pid, 'SIGINT')); // the whole group, as Ctrl-C does
  };
  await run('npm', ['start'], onLine, ports);
  if (!checked) throw new Error('npm start ended before it was ready');
  console.log(`the catalog of the demo organization has ${await checked} templates`);
}

async function readCatalog() {
  const printed = 'printf "%s %s" "$HUB_URL" "$HUB_API_KEY"';
  const demo = path.join(clone, '.data', 'demo.env');
  const [url, key] = execFileSync('sh', ['-c', `. "$0" && ${printed}`, demo], { encoding: 'utf8' }).split(' ');
  const response = await fetch(`${url}/api/v1/catalog/templates`, { headers: { authorization: `Bearer ${key}` } });
  if (response.status !== 200) throw new Error(`the hub answered ${response.status}`);
  return (await response.json()).pagination.total;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
