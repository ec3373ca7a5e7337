// A hub and a fleet with certificates of an own authority, PostgreSQL with client certificates, and a proxy for outbound requests.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EmbeddedPostgres, freePort, startEmbeddedPostgres } from '@svc/database/embedded';
import { createAuthority, type Issued, onServer, type StartedProcess, startProcess, untilReady } from '@svc/testing';
import { patientUrl } from '@svc/testing/faults';
import { repository } from '../../src/settings.ts';

const HUB_NAME = 'hub.example.test';
type App = 'hub' | 'fleet';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'private-networks-'));
fs.chmodSync(folder, 0o755); // the account of PostgreSQL reads its certificate there
const authority = createAuthority(folder);
const stranger = createAuthority(folder, 'stranger');
const running: StartedProcess[] = [];
const servers: net.Server[] = [];
const sockets = new Set<Socket>();
/** The targets that the proxy was asked for. */
const proxied: string[] = [];

let postgres: EmbeddedPostgres;
let hubPort: number;
let fleetPort: number;
let settings: Record<App, Record<string, string>>;
/** The server in front of the hub. */
let front: https.Server;

const portOf = (server: net.Server) => (server.address() as AddressInfo).port; // all servers here listen on ports

async function listen<S extends net.Server>(server: S): Promise<S> {
  servers.push(server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const run = (app: App, args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
  const started = startProcess(path.join(repository, 'apps', app, 'dist/main.js'), args, { ...settings[app], ...more });
  running.push(started);
  return started;
};

async function command(app: App, ...args: string[]): Promise<string> {
  const { ended, output } = run(app, args);
  if ((await ended) !== 0) throw new Error(output());
  return output();
}

/** The checks of `doctor` of the fleet, by name. */
async function doctor(more: Readonly<Record<string, string>>) {
  const { ended, output } = run('fleet', ['doctor', '--json'], more);
  await ended;
  const { checks } = JSON.parse(
    output()
      .split('\n')
      .find((line) => line.startsWith('{')) ?? '',
  );
  const found = (name: string): { state: string; found: string; remedy: string } =>
    checks.find((check: { name: string }) => check.name === name);
  return { hub: found('hub'), database: found('database') };
}

const contextOf = ({ certificate, key }: Issued) => ({
  cert: fs.readFileSync(certificate),
  key: fs.readFileSync(key),
});

/** Requires TLS with a client certificate from all roles but the superuser. */
async function requireCertificates(): Promise<void> {
  const { certificate, key } = authority.issue(['localhost']);
  const { uid, gid } = fs.statSync(postgres.dataDir);
  const files = { 'server.crt': certificate, 'server.key': key, 'root.crt': authority.certificate };
  for (const [name, file] of Object.entries(files)) {
    const copy = path.join(postgres.dataDir, name);
    fs.copyFileSync(file, copy);
    fs.chownSync(copy, uid, gid);
    fs.chmodSync(copy, 0o600);
  }
  const rules = 'host all postgres 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 cert\n';
  fs.writeFileSync(path.join(postgres.dataDir, 'pg_hba.conf'), rules);
  await onServer(postgres.url('postgres'), async (client) => {
    const values = { ssl_cert_file: 'server.crt', ssl_key_file: 'server.key', ssl_ca_file: 'root.crt', ssl: 'on' };
    for (const [name, value] of Object.entries(values)) await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await client.query('SELECT pg_reload_conf()');
  });
}

beforeAll(async () => {
  postgres = await startEmbeddedPostgres();
  const password = randomBytes(12).toString('hex');
  for (const name of ['hub', 'fleet']) await postgres.ensureDatabase({ name, role: name, password });
  await requireCertificates();
  [hubPort, fleetPort] = [await freePort(), await freePort()];
  front = await listen(
    https.createServer(contextOf(authority.issue([HUB_NAME, 'localhost'])), (req, res) => {
      const { method, url, headers } = req;
      const forwarded = http.request({ port: hubPort, method, path: url, headers }, (response) => {
        res.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(res);
      });
      req.pipe(forwarded.on('error', () => res.destroy()));
    }),
  );
  const proxy = http.createServer().on('connect', ({ url = '' }: IncomingMessage, client: Socket) => {
    proxied.push(url);
    const upstream = net.connect(portOf(front), '127.0.0.1').on('error', () => client.destroy());
    sockets.add(upstream);
    client.write('HTTP/1.1 200 Connected\r\n\r\n');
    client.pipe(upstream).pipe(client);
  });
  await listen(proxy);
  const databaseOf = (role: App) => {
    const { certificate, key } = authority.issue([role]);
    const parameters = { sslmode: 'verify-full', sslcert: certificate, sslkey: key };
    return patientUrl(`postgresql://${role}@localhost:${postgres.port}/${role}?${new URLSearchParams(parameters)}`);
  };
  const common = { NODE_EXTRA_CA_CERTS: authority.certificate };
  settings = {
    hub: {
      ...common,
      ...{ DATABASE_URL: databaseOf('hub'), PORT: `${hubPort}`, OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'a' },
    },
    fleet: {
      ...common,
      ...{ DATABASE_URL: databaseOf('fleet'), PORT: `${fleetPort}`, HUB_SYNC_INTERVAL: '0' },
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      HUB_URL: `https://${HUB_NAME}`,
      HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
    },
  };
  await untilReady(`http://127.0.0.1:${hubPort}`, run('hub', []));
  await command('hub', 'create-organization', '--name', 'Acme', '--slug', 'acme');
  const { key } = JSON.parse(await command('hub', 'create-api-key', '--organization', 'acme', '--name', 'fleet'));
  settings.fleet.HUB_API_KEY = key;
});
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  await postgres?.stop();
  fs.rmSync(folder, { recursive: true });
});

test('a fleet syncs through a proxy with a hub whose certificate is of an own authority, and its log names an expired one', async () => {
  const fleet = run('fleet', []);
  await untilReady(`http://127.0.0.1:${fleetPort}`, fleet);
  const { secret } = JSON.parse(await command('fleet', 'create-token', '--name', 'a', '--role', 'operator'));
  const sync = async () => {
    const options = { method: 'POST', headers: { authorization: `Bearer ${secret}` } };
    const response = await fetch(`http://127.0.0.1:${fleetPort}/api/v1/catalog/sync`, options);
    return { status: response.status, body: (await response.json()) as { status: unknown; detail: unknown } };
  };
  expect(await sync()).toMatchObject({ status: 200, body: { status: 'fresh' } });
  expect(new Set(proxied)).toEqual(new Set([`${HUB_NAME}:443`]));

  front.setSecureContext(contextOf(authority.issue([HUB_NAME], -1)));
  front.closeAllConnections();
  const reason = 'The TLS connection to the hub cannot be established. Its certificate has expired.';
  expect(await sync()).toMatchObject({ status: 502, body: { detail: reason } });
  expect(fleet.output()).toContain(reason);
  front.setSecureContext(contextOf(authority.issue([HUB_NAME, 'localhost'])));
});

test('doctor names the cause of each connection that fails, with a remedy', async () => {
  const direct = { HTTPS_PROXY: '', HUB_URL: `https://localhost:${portOf(front)}` };
  const database = (changes: Readonly<Record<string, string | null>>) => {
    const url = new URL(settings.fleet.DATABASE_URL ?? '');
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    return { DATABASE_URL: url.href };
  };
  const [untrusted, unknownServer, noCertificate] = await Promise.all([
    doctor({ ...direct, ...database({ sslrootcert: authority.certificate }), NODE_EXTRA_CA_CERTS: '' }),
    doctor(database({ sslrootcert: stranger.certificate })),
    doctor(database({ sslcert: null, sslkey: null })),
  ]);
  expect(untrusted.database).toMatchObject({ state: 'ok' });
  expect(untrusted.hub).toMatchObject({ state: 'failed', found: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  expect(untrusted.hub.found).toContain('not signed by an authority that this service trusts');
  expect(unknownServer.database).toMatchObject({
    state: 'failed',
    found: expect.stringContaining('self-signed certificate in certificate chain'),
    remedy: expect.stringContaining('sslrootcert'),
  });
  expect(noCertificate.database).toMatchObject({
    state: 'failed',
    found: expect.stringContaining('connection requires a valid client certificate'),
  });
});
