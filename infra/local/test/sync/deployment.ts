import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type EmbeddedPostgres, freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { type Backup, backUp, onServer, type StartedProcess, startProcess, untilReady } from '@svc/testing';
import { repository } from '../../src/settings.ts';

type App = 'hub' | 'fleet';
export type Environment = Readonly<Record<string, string>>;

const mainOf = (app: App) => path.join(repository, 'apps', app, 'dist', 'main.js');

/** The recorded rows contain values of sequences. New rows need later ones. */
export const ADVANCE_SEQUENCES = `
  DO $$ DECLARE c record; BEGIN
    FOR c IN SELECT table_name AS t, column_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND (is_identity = 'YES' OR column_default LIKE 'nextval(%')
    LOOP
      EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), (SELECT coalesce(max(%I), 0) + 1 FROM %I), false)',
        c.t, c.name, c.name, c.t);
    END LOOP;
  END $$`;

interface Options {
  /** The folder with the programs of PostgreSQL. Default: those of the embedded one, without clients. */
  readonly programs?: string | undefined;
  /** Whether each database has two roles, which psql creates as docs/deploy.md describes. It needs `programs`. */
  readonly hasTwoRoles?: boolean;
}

const CREATE_DATABASE = path.join(repository, 'infra/install/create-database.sql');

/** Hub and fleet as they are deployed: two processes with their own environments, databases and roles. */
export async function aDeployment({ programs, hasTwoRoles = false }: Options = {}) {
  const postgres: EmbeddedPostgres = await startEmbeddedPostgres({ programs });
  const servers = [postgres];
  const running: StartedProcess[] = [];
  const password = randomBytes(12).toString('hex');
  const database = (name: App) => postgres.ensureDatabase({ name, role: name, password });
  const withTwoRoles = (app: App, server: EmbeddedPostgres): Environment => {
    const values = { name: app, owner_password: password, service_password: password };
    const settings = Object.entries(values).map(([name, value]) => `--set=${name}=${value}`);
    const args = ['--no-psqlrc', '--quiet', ...settings, `--file=${CREATE_DATABASE}`, server.url('postgres')];
    execFileSync(path.join(programs ?? '', 'psql'), args, { stdio: 'pipe' });
    const urlOf = (username: string) => Object.assign(new URL(server.url(app)), { username, password }).href;
    return { DATABASE_URL: urlOf(`${app}_service`), MIGRATION_DATABASE_URL: urlOf(app) };
  };
  const databaseOf = async (app: App): Promise<Environment> =>
    hasTwoRoles ? withTwoRoles(app, postgres) : { DATABASE_URL: await database(app) };
  const [hubPort, fleetPort] = [await freePort(), await freePort()];
  const urls = { hub: `http://127.0.0.1:${hubPort}`, fleet: `http://127.0.0.1:${fleetPort}` };
  const environments: Record<App, Environment> = {
    hub: {
      ...(await databaseOf('hub')),
      PORT: `${hubPort}`,
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_AUDIENCE: 'https://hub.example.test',
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
    fleet: {
      ...(await databaseOf('fleet')),
      PORT: `${fleetPort}`,
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      HUB_SYNC_INTERVAL: '0',
    },
  };

  /** Runs a command of a service. @returns its output */
  const command = async (app: App, ...args: string[]): Promise<string> => {
    const { ended, output } = startProcess(mainOf(app), args, environments[app]);
    if ((await ended) !== 0) throw new Error(output());
    return output();
  };

  /** Runs SQL as a superuser, without triggers and foreign keys. */
  const runWithoutTriggers = (name: string, role: App, sql: string, values?: readonly unknown[]) =>
    onServer(postgres.url(name), async (client) => {
      await client.query(`SET session_replication_role = replica; SET ROLE ${role}`);
      await client.query(sql, values && [...values]);
    });
  const apart = (app: App) => `${app}_apart`;
  const ownerOf = (app: App): string => {
    const { DATABASE_URL = '', MIGRATION_DATABASE_URL = DATABASE_URL } = environments[app];
    return MIGRATION_DATABASE_URL;
  };

  return {
    urls,
    /** The URLs of the databases, as their owners. */
    databases: {
      get hub() {
        return ownerOf('hub');
      },
      get fleet() {
        return ownerOf('fleet');
      },
    },
    command,
    /** Runs the SQL of a recorded release in the empty database of a service. */
    restore: (app: App, sql: string) => runWithoutTriggers(app, app, `${sql}; ${ADVANCE_SEQUENCES}`),
    /** Runs the SQL of a recorded release in another database, which no service uses. @returns its URL, as its owner */
    restoreApart: async (app: App, sql: string): Promise<string> => {
      const url = await postgres.ensureDatabase({ name: apart(app), role: app, password });
      await runWithoutTriggers(apart(app), app, `${sql}; ${ADVANCE_SEQUENCES}`);
      return url;
    },
    /** Runs a statement in this database, without triggers and foreign keys. */
    runApart: (app: App, sql: string, values?: readonly unknown[]) => runWithoutTriggers(apart(app), app, sql, values),
    /**
     * Lets a service, which must be stopped, use an empty database with two roles on a new server.
     * @param prepare receives the URL of the new server as a superuser, before the roles and the database exist
     */
    moveToNewServer: async (app: App, prepare: (superuser: string) => Promise<void>): Promise<void> => {
      const server = await startEmbeddedPostgres({ programs });
      servers.push(server);
      await prepare(server.url('postgres'));
      environments[app] = { ...environments[app], ...withTwoRoles(app, server) };
    },
    /** Copies the database of a service. */
    backUp: (app: App): Promise<Backup> => backUp(postgres.url(app), postgres.url('postgres')),
    /** Starts a service. Resolves when it is ready. */
    start: async (app: App, more: Environment = {}): Promise<StartedProcess> => {
      const started = startProcess(mainOf(app), [], { ...environments[app], ...more });
      running.push(started);
      await untilReady(urls[app], started);
      return started;
    },
    /** A token of the fleet for an operator. */
    operatorToken: async (): Promise<string> =>
      JSON.parse(await command('fleet', 'create-token', '--name', 'operator', '--role', 'operator')).secret,
    /** The environment of the fleet for this hub, with the key of a new organization. */
    forFleet: async (): Promise<Environment> => {
      await command('hub', 'create-organization', '--name', 'Acme', '--slug', 'acme');
      const { key } = JSON.parse(await command('hub', 'create-api-key', '--organization', 'acme', '--name', 'fleet'));
      return { HUB_URL: urls.hub, HUB_API_KEY: key };
    },
    /** Sends a request to the catalog of the fleet. */
    fleet: async (method: 'GET' | 'POST', at: string, token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${urls.fleet}/api/v1/catalog/${at}`, { method, headers });
      return { status: response.status, body: (await response.json()) as Seen };
    },
    stop: async () => {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all(running.map(({ ended }) => ended));
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

export type Deployment = Awaited<ReturnType<typeof aDeployment>>;

/** The members of responses that tests use. */
interface Seen {
  readonly pagination: { readonly total: number };
  readonly templates: readonly { readonly name: string }[];
  readonly last_success_at: string;
  readonly checked_at: string;
  readonly age_seconds: number;
  readonly stale_since: string;
  readonly last_failure: { readonly at: string; readonly reason: string };
}
