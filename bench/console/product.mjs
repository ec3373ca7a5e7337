// The product as `npm start` starts it, in a temporary folder, and simulated hosts.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@svc/database/embedded';
import pg from 'pg';
import { startEngines } from '../fleet/processes.mjs';
import { sendOnce } from '../shared/client.mjs';
import { cpuOf, end } from '../shared/processes.mjs';

const MAIN = path.resolve(import.meta.dirname, '../../infra/local/dist/main.js');
/** A socket without an engine: the product does not find those of the machine. */
const NO_ENGINE = 'unix:///nowhere/engine.sock';

/** The development identity provider has these people. */
export const people = { admin: 'admin@example.test', user: 'user@example.test', password: 'development' };

/**
 * Starts both services, the identity provider, PostgreSQL, and simulated hosts, which are not
 * registered.
 */
export async function startProduct({ hosts, cpus }) {
  const engines = await startEngines({ hosts, cpus });
  const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'console-bench-'));
  fs.chmodSync(parent, 0o711); // PostgreSQL can run as another user, who must be able to enter it
  const dataDir = path.join(parent, '.data');
  const clients = [];
  let child;
  const stop = async () => {
    for (const client of clients) await client.end();
    if (child) await end(child);
    await engines.stop();
    fs.rmSync(parent, { recursive: true, force: true });
  };
  try {
    const postgresPort = await freePort();
    const ports = { HUB_PORT: await freePort(), FLEET_PORT: await freePort(), IDP_PORT: await freePort() };
    child = spawn(process.execPath, [MAIN], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ...ports, POSTGRES_PORT: postgresPort, DATA_DIR: dataDir, DOCKER_HOST: NO_ENGINE },
    });
    await untilReady(child);
    const demo = readVariables(path.join(dataDir, 'demo.env'));
    const secrets = JSON.parse(fs.readFileSync(path.join(dataDir, 'secrets.json'), 'utf8'));
    const run = JSON.parse(fs.readFileSync(path.join(dataDir, 'run.json'), 'utf8'));
    const postmaster = readPid(path.join(dataDir, 'postgres', secrets.databaseFolder));
    const pidOf = (service) => run.services.find(({ name }) => name === service).pid;
    const connect = async (service) => {
      const connectionString = `postgresql://${service}:${secrets[`${service}Password`]}@127.0.0.1:${postgresPort}/${service}`;
      const client = new pg.Client({ connectionString });
      await client.connect();
      clients.push(client);
      return client;
    };
    const databases = { hub: await connect('hub'), fleet: await connect('fleet') };
    return {
      engines,
      hub: demo.HUB_URL,
      fleet: demo.FLEET_URL,
      apiKey: demo.HUB_API_KEY,
      stop,
      temporaryAdmin: { username: demo.TEMP_ADMIN_USERNAME, password: demo.TEMP_ADMIN_PASSWORD },
      cpu: (service) => cpuOf(pidOf(service)),
      databaseCpu: () => cpuOf(postmaster, { children: true }),
      query: async (service, sql, values = []) => (await databases[service].query(sql, values)).rows,
      /**
       * Sends a request as an administrator.
       * @returns the body of the response.
       * @throws if it fails
       */
      ask: async (service, method, at, body) => {
        const target =
          service === 'hub'
            ? { url: demo.HUB_URL, key: demo.HUB_ADMIN_JWT }
            : { url: demo.FLEET_URL, key: demo.FLEET_ADMIN_TOKEN };
        const response = await sendOnce(target.url, { method, path: `/api/v1${at}`, key: target.key, body });
        return response.body.length === 0 ? undefined : JSON.parse(response.body);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReady(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready')) {
      child.stdout.resume(); // nothing reads the later lines
      return;
    }
  }
  throw new Error('the product ended before it was ready');
}

const readPid = (folder) => Number(fs.readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);

/** Only the outer quotes are removed, because credentials and URLs contain no quotes. */
const readVariables = (file) =>
  Object.fromEntries(
    [...fs.readFileSync(file, 'utf8').matchAll(/^(\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
  );
