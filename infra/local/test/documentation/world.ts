import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '@svc/database/embedded';
import { aGitServer, eventually, scaled } from '@svc/testing';
import { quoteForShell } from '../../src/demo-env.ts';
import { fleetProgram, hubProgram } from '../../src/environments.ts';
import { openSecrets } from '../../src/secrets.ts';
import { parseSettings, repository } from '../../src/settings.ts';
import { aProduct, freePorts, type Ports, type Product } from '../start/product.ts';

const ENGINES = path.join(repository, 'bench/fleet/engines.mjs');
const PRELUDE = path.join(import.meta.dirname, 'prelude.sh');
const HOSTS = 20;
const SCRIPT_MS = 150_000;

/** What the commands of a page can use beside the variables of demo.env. */
interface Variables {
  /** A host that no other page uses. */
  readonly HOST_ID: string;
  /** A running deployment. */
  readonly DEPLOYMENT_ID: string;
  /** The address of an engine that is no host. */
  readonly ENGINE: string;
  /** The address of an empty git repository to which everybody can push. */
  readonly REPOSITORY: string;
}

/** The running product with simulated hosts, in a folder that has the paths of the repository. */
export interface World {
  /** Runs a script with bash, in the folder. */
  run(script: string): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Deletes the deployments of a page. */
  cleanUp(): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'documentation-'));
  fs.chmodSync(folder, 0o711); // if root runs the tests, PostgreSQL runs as another user, which must be able to enter the folder
  const ports = await freePorts();
  const product = await aProduct(path.join(folder, '.data'), ports);
  const engines = fork(ENGINES, ['--hosts', String(HOSTS)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const endpoints = await endpointsOf(engines);
  for (const name of ['apps', 'infra']) fs.symlinkSync(path.join(repository, name), path.join(folder, name));
  await writeEnvironments(folder, ports);

  const api = apiOf(product);
  const registerHost = async (name: string): Promise<string> => {
    const addresses = { mesh: '127.0.0.1', public: '127.0.0.1' };
    const endpoint = endpoints.pop();
    const body = { name, engine: 'docker', endpoint, network_types: Object.keys(addresses), addresses };
    return (await api('POST', '/hosts', body)).host.id;
  };
  await registerHost('local');
  const env = { REDIS_PASSWORD: { generate: 32 } };
  const { deployment } = await api('POST', '/deployments', { name: 'example', template: 'redis', env });
  await api('GET', `/deployments/${deployment.id}?wait=running&timeout=60`);

  return {
    async run(script) {
      const host = script.includes('HOST_ID') ? await registerHost(`machine-${endpoints.length}`) : '';
      const engine = script.includes('$ENGINE') ? (endpoints.pop() ?? '') : '';
      const gitServer = script.includes('$REPOSITORY') ? await aGitServer() : undefined;
      const variables = {
        HOST_ID: host,
        DEPLOYMENT_ID: deployment.id,
        ENGINE: engine,
        REPOSITORY: gitServer?.url ?? '',
      };
      try {
        return await runScript(folder, script, variables);
      } finally {
        await gitServer?.stop();
      }
    },
    async cleanUp() {
      const others = async () =>
        (await api('GET', '/deployments')).deployments.filter(({ id }: { id: string }) => id !== deployment.id);
      // A deployment to whose generated values another one is bound can be deleted only after that one.
      const deleteOthers = async () => {
        const left = await others();
        for (const { id } of left) await api('DELETE', `/deployments/${id}`).catch(() => undefined);
        return left;
      };
      await eventually('all other deployments are deleted', deleteOthers, { until: ({ length }) => length === 0 });
    },
    async stop() {
      engines.kill();
      product.kill('SIGTERM');
      await product.end();
      fs.rmSync(folder, { recursive: true });
    },
  };
}

async function endpointsOf(engines: ChildProcess): Promise<string[]> {
  const [line] = await once(engines.stdout ?? engines, 'data');
  return JSON.parse(String(line)).endpoints;
}

/** Writes `.world/hub.env` and `.world/fleet.env`: the environments of the services, with other ports. */
async function writeEnvironments(folder: string, ports: Ports): Promise<void> {
  const settings = parseSettings({ ...ports, DATA_DIR: path.join(folder, '.data') });
  const { secrets } = openSecrets(settings.dataDir);
  const database = (name: string, password: string) =>
    `postgresql://${name}:${password}@127.0.0.1:${ports.POSTGRES_PORT}/${name}`;
  const programs = [
    hubProgram(settings, database('hub', secrets.hubPassword), secrets),
    fleetProgram(settings, database('fleet', secrets.fleetPassword), {
      ...secrets,
      hubApiKey: secrets.hubApiKey ?? '',
    }),
  ];
  fs.mkdirSync(path.join(folder, '.world'));
  for (const { name, env } of programs) {
    const lines = Object.entries({ ...env, PORT: String(await freePort()) }).map(
      ([variable, value = '']) => `${variable}=${quoteForShell(value)}\n`,
    );
    fs.writeFileSync(path.join(folder, '.world', `${name}.env`), lines.join(''));
  }
}

/** Sends requests to the fleet as an admin. The members of a response are those that its endpoint documents. */
const apiOf =
  ({ demo }: Product) =>
  async (method: string, at: string, body?: object) => {
    const headers = { authorization: `Bearer ${demo.FLEET_ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const url = `${demo.FLEET_URL}/api/v1${at}`;
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };

async function runScript(folder: string, script: string, variables: Variables) {
  const world = path.join(folder, '.world');
  const file = path.join(world, 'page.sh');
  fs.writeFileSync(file, `. ${quoteForShell(PRELUDE)}\n${script}`);
  const child = spawn('bash', [file], {
    cwd: folder,
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
      HOME: folder,
      WORLD: world,
      EXPECTED: '',
      GIT_AUTHOR_NAME: 'Reader',
      GIT_AUTHOR_EMAIL: 'reader@example.test',
      GIT_COMMITTER_NAME: 'Reader',
      GIT_COMMITTER_EMAIL: 'reader@example.test',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: scaled(SCRIPT_MS),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  const [code]: (number | null)[] = await once(child, 'close');
  return { code: code ?? null, ...output };
}
