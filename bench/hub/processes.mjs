// The hub with its database, and the bare server that it is compared with.
import path from 'node:path';
import { createClient } from '../shared/client.mjs';
import { startPostgres } from '../shared/database.mjs';
import { peakMemoryOf, startServer } from '../shared/processes.mjs';
import { createService } from '../shared/services.mjs';
import { fillHub } from './data.mjs';

const BARE = path.join(import.meta.dirname, 'bare.mjs');
export const AUDIENCE = 'https://hub.example.test';
/** Without an identity provider, only keys are accepted. */
const NO_PROVIDER = { issuer: 'http://127.0.0.1:1', subject: 'nobody' };

/**
 * A hub with a catalog, which does not run yet. `start` starts a process of it.
 * @param provider the identity provider, with the subject of an administrator
 * @param root a checkout whose hub is built. The default is this one
 * @param postgres a PostgreSQL server, of `startPostgres`
 * @param database the name of its database
 * @param keys the number of its API keys
 * @param limitsRate whether the rate limit is enabled
 * @param environment more settings
 */
export async function createHub({
  templates,
  applications,
  provider = NO_PROVIDER,
  root,
  postgres,
  database = 'hub',
  keys: keyCount,
  limitsRate = true,
  environment = {},
}) {
  const databaseUrl = await postgres.create(database);
  const service = createService({
    app: 'hub',
    root,
    environment: {
      DATABASE_URL: databaseUrl,
      // By default, the limit counts as in production, and refuses no load.
      ...(limitsRate ? { REQUESTS_PER_MINUTE: '100000000' } : { RATE_LIMIT: 'off' }),
      OIDC_ISSUER: provider.issuer,
      OIDC_AUDIENCE: AUDIENCE,
      SUPERADMIN_SUBJECTS: provider.subject,
      ...environment,
    },
  });
  try {
    await service.command('migrate');
    const keys = await fillHub(databaseUrl, { templates, applications, keys: keyCount });
    const start = async () => {
      const hub = await service.start();
      const memory = () => peakMemoryOf(hub.pid);
      return { ...hub, keys, templates, databaseUrl, databaseCpu: postgres.cpu, memory };
    };
    return { start, stop: service.stop };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** Starts a hub with a PostgreSQL server of its own. Takes the options of `createHub`. */
export async function startHub(options) {
  const postgres = await startPostgres();
  let created;
  const stop = async () => {
    await created?.stop();
    await postgres.stop();
  };
  try {
    created = await createHub({ ...options, postgres });
    return { ...(await created.start()), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts a bare `node:http` server that sends these responses, by path.
 * @throws if it does not send the same bytes
 */
export async function startBare(responses) {
  const server = startServer([BARE], { env: process.env, stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = server.child;
  stdin.end(
    JSON.stringify(
      Object.fromEntries(Object.entries(responses).map(([at, { head, body }]) => [at, { head, body: `${body}` }])),
    ),
  );
  const port = await new Promise((resolve, reject) => {
    stdout.once('data', (line) => resolve(`${line}`.trim()));
    server.child.once('exit', () => reject(new Error('the bare server did not start')));
  });
  const url = `http://127.0.0.1:${port}`;
  const client = createClient({ url });
  try {
    for (const [at, { body }] of Object.entries(responses)) {
      const received = await client.send({ path: at });
      if (received.status !== 200 || !received.body.equals(body))
        throw new Error(`${at}: the bare server sends other bytes`);
    }
    client.end();
  } catch (error) {
    client.close();
    await server.stop();
    throw error;
  }
  return { ...server, url };
}
