// The packages on a new Debian with systemd as its first process. The commands are those of docs/deploy.md.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, LONG_TEST_MS } from '@svc/testing';
import type { CommandBlock } from '../../../local/test/documentation/pages.ts';
import { ADVANCE_SEQUENCES } from '../../../local/test/sync/deployment.ts';
import { clientInstallation, installation } from './deploy-page.ts';
import { boot, installDebian, type Machine, machineProblem } from './machine.ts';
import { aFolder, buildRelease, repository, version } from './release.ts';

const problem = machineProblem();
const title =
  problem === undefined ? '' : ` (skipped: ${problem}; packages.ci.test.ts runs the lines ExecStart instead)`;
const SERVICES = ['hub', 'fleet'] as const;
type Service = (typeof SERVICES)[number];
/** The size of the Debian with the packages. */
const ROOT_BYTES = 4e9;
const NAMES = ['hub.example.com', 'fleet.example.com', 'id.example.com'];

/** The identity provider: nginx with the two documents that the hub requests. */
function providerSite(): string {
  const issuer = 'https://id.example.com';
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const documents = {
    '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys` },
    '/keys': { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }] },
  };
  const locations = Object.entries(documents).map(
    ([url, document]) =>
      `  location = ${url} { default_type application/json; return 200 '${JSON.stringify(document)}'; }\n`,
  );
  const certificate = ['crt', 'key'].map((ending) => `/etc/nginx/tls/id.${ending};\n`);
  return `server {
  listen 443 ssl;
  server_name id.example.com;
  ssl_certificate ${certificate[0]}  ssl_certificate_key ${certificate[1]}${locations.join('')}}\n`;
}

(problem === undefined ? describe : describe.skip)(`on a new Debian${title}`, () => {
  const folder = aFolder(ROOT_BYTES);
  const root = path.join(folder, 'root');
  const release = path.join(folder, 'release');
  let machine: Machine;

  /** The id of the main process of a service; 0 if it does not run. */
  const processOf = (service: Service) =>
    Number(machine.run(`systemctl show --property=MainPID --value svc-${service}`).trim());
  const portOf = (service: Service) => (service === 'hub' ? 4100 : 4200);
  /** Waits until a service is ready. @returns the body of `/readyz` */
  const readyz = (service: Service) =>
    JSON.parse(
      machine.run(`curl --silent --fail --retry 20 --retry-all-errors http://127.0.0.1:${portOf(service)}/readyz`),
    );
  const exists = (file: string) => fs.existsSync(path.join(root, file));

  beforeAll(async () => {
    buildRelease(release, '--uncompressed');
    await installDebian(root, (chroot) => {
      for (const file of fs.readdirSync(release).filter((name) => /\.deb$|^SHA256SUMS$/.test(name)))
        fs.copyFileSync(path.join(release, file), path.join(root, 'root', file));
      // The machine has no network: apt finds the packages of Debian in its cache.
      chroot('apt-get update');
      chroot('apt-get install --download-only --yes ./svc-*.deb postgresql nginx curl');
      supplyNames();
    });
    machine = await boot(root);
  }, LONG_TEST_MS);
  afterAll(async () => {
    await machine?.stop();
    fs.rmSync(folder, { recursive: true });
  });

  /** What docs/deploy.md requires: names, certificates of an own authority, and an identity provider. */
  function supplyNames(): void {
    const authority = createAuthority(folder);
    const place = (file: string, target: string, mode = 0o644) => {
      const to = path.join(root, target);
      fs.mkdirSync(path.dirname(to), { recursive: true });
      fs.copyFileSync(file, to);
      fs.chmodSync(to, mode);
    };
    place(authority.certificate, 'usr/local/share/ca-certificates/example.crt');
    fs.writeFileSync(path.join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
    for (const name of NAMES) {
      fs.appendFileSync(path.join(root, 'etc/hosts'), `127.0.0.1 ${name}\n`);
      const { certificate, key } = authority.issue([name]);
      const at = `etc/nginx/tls/${name.split('.')[0]}`;
      place(certificate, `${at}.crt`);
      place(key, `${at}.key`, 0o600);
    }
    fs.mkdirSync(path.join(root, 'etc/nginx/conf.d'));
    fs.writeFileSync(path.join(root, 'etc/nginx/conf.d/id.conf'), providerSite());
  }

  test(
    'the printed commands lead to a fleet that has synced from a hub over TLS, and to databases with two roles',
    () => {
      const textOf = (blocks: readonly CommandBlock[]) => blocks.map(({ text }) => text).join('');
      const output = machine.run(`${textOf(installation())}\necho; echo ---\n${textOf(clientInstallation())}`);
      const [synced = '', client] = output.split('\n---\n');
      const state = JSON.parse(synced.slice(synced.lastIndexOf('\n{') + 1));
      expect(client).toMatch(/^catalog +fresh, \d+ templates$/m);
      expect(state).toMatchObject({ status: 'fresh', hub_url: 'https://hub.example.com', skipped: { total: 0 } });
      expect(state.counts.templates).toBeGreaterThan(10);
      for (const service of SERVICES) {
        expect(readyz(service)).toMatchObject({ status: 'ready', version });
        expect(machine.run(`svc-${service} doctor`)).toContain('No check failed.');
        expect(machine.run(`stat --format=%U /proc/${processOf(service)}`).trim()).toBe(`svc-${service}`);
        const ofService = machine.run(`cat /etc/svc-${service}/secrets/database-url`).trim();
        const privileges = `psql --tuples-only --no-align "${ofService}" --command="SELECT current_user, has_table_privilege('audit_entries', 'DELETE'), pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"`;
        expect(machine.run(privileges).trim()).toBe(`${service}_service|f|${service}`);
        machine.run(
          `! setpriv --reuid=svc-${service} --regid=svc-${service} --init-groups cat /etc/svc-${service}/secrets/migration-database-url`,
        );
      }
    },
    LONG_TEST_MS,
  );

  test('an upgrade keeps the settings, migrates, and restarts the service', () => {
    const settings = machine.run('cat /etc/svc-fleet/fleet.env');
    const before = processOf('fleet');
    machine.run(`apt-get install --yes ./${laterPackage('fleet')}`);
    expect(machine.run('dpkg-query --status svc-fleet')).toContain(`Version: ${version}+later\n`);
    expect(processOf('fleet')).not.toBe(before);
    expect(readyz('fleet')).toMatchObject({ status: 'ready' });
    expect(machine.run('cat /etc/svc-fleet/fleet.env')).toBe(settings);
    machine.run('cd / && sha256sum --check --quiet /usr/lib/svc-fleet/SHA256SUMS');
  });

  test('the earlier version continues to run if the database cannot be migrated', () => {
    const before = processOf('hub');
    const url = '/etc/svc-hub/secrets/migration-database-url';
    const output = machine.run(`
      cp --preserve ${url} saved && echo postgresql://hub:wrong@127.0.0.1:5432/hub > ${url}
      apt-get install --yes ./${laterPackage('hub')} 2>&1
      cp --preserve saved ${url}`);
    expect(output).toContain('password authentication failed for user "hub"');
    expect(output).toContain('the earlier version continues to run');
    expect(processOf('hub')).toBe(before);
  });

  test.each(['0.1.0', '0.2.0'])('the packages upgrade the recorded databases of %s', (recorded) => {
    const read = (file: string) => path.join(repository, 'infra/releases', recorded, file);
    const keys: Record<string, string> = JSON.parse(fs.readFileSync(read('keys.json'), 'utf8'));
    for (const service of SERVICES) {
      fs.copyFileSync(read(`${service}.sql`), path.join(root, `tmp/${service}.sql`));
      machine.run(`
        systemctl stop svc-${service}
        cd /tmp
        runuser -u postgres -- psql --quiet --set=ON_ERROR_STOP=1 << 'END'
          DROP DATABASE ${service};
          CREATE DATABASE ${service} OWNER ${service};
          GRANT CONNECT ON DATABASE ${service} TO ${service}_service;
          \\connect ${service}
          SET session_replication_role = replica;
          SET ROLE ${service};
          BEGIN;
          \\i /tmp/${service}.sql
          COMMIT;
          ${ADVANCE_SEQUENCES};
          ${service === 'fleet' ? "DELETE FROM settings WHERE name = 'hub';" : ''}
END`);
    }
    fs.writeFileSync(path.join(root, 'etc/svc-fleet/secrets/encryption-keys'), `${keys.ENCRYPTION_KEYS}\n`);
    fs.writeFileSync(path.join(root, 'etc/svc-fleet/secrets/hub-api-key'), `${keys.HUB_API_KEY}\n`);
    machine.run('systemctl start svc-hub svc-fleet');
    for (const service of SERVICES) expect(readyz(service)).toMatchObject({ version });
    const header = `Authorization: Bearer ${keys.FLEET_ADMIN_TOKEN}`;
    const sync = `curl --silent --request POST --header '${header}' https://fleet.example.com/api/v1/catalog/sync`;
    expect(JSON.parse(machine.run(sync))).toMatchObject({ status: 'fresh' });
  });

  test('a removal stops the services and keeps the settings, and purge leaves only the databases', () => {
    machine.run('apt-get purge --yes svc-cli && apt-get remove --yes svc-hub svc-fleet');
    for (const file of ['usr/bin/svc', 'usr/lib/svc-cli']) expect(exists(file)).toBe(false);
    for (const service of SERVICES) {
      expect(machine.run(`find /proc -maxdepth 1 -user svc-${service}`)).toBe('');
      expect(exists(`usr/lib/systemd/system/svc-${service}.service`)).toBe(false);
      expect(exists(`etc/svc-${service}/secrets/database-url`)).toBe(true);
    }
    machine.run('apt-get purge --yes svc-hub svc-fleet');
    for (const service of SERVICES) {
      for (const file of [
        `etc/svc-${service}`,
        `var/cache/svc-${service}`,
        `usr/lib/svc-${service}`,
        `usr/bin/svc-${service}`,
      ])
        expect({ file, exists: exists(file) }).toEqual({ file, exists: false });
      expect(machine.run(`getent passwd svc-${service} || true`)).toBe('');
    }
    expect(machine.run('find /etc/systemd /run/systemd/system /var/lib/systemd -name "svc-*"')).toBe('');
    const names = 'SELECT datname FROM pg_database ORDER BY datname';
    const databases = machine.run(`cd /tmp; runuser -u postgres -- psql --tuples-only --no-align --command='${names}'`);
    expect(databases.split('\n')).toEqual(expect.arrayContaining(['fleet', 'hub']));
  });

  /** Builds the package of a later version with the same content. @returns its name in the folder of root */
  function laterPackage(service: Service): string {
    const [file = ''] = fs.readdirSync(release).filter((name) => name.startsWith(`svc-${service}_`));
    const extracted = path.join(folder, `later-${service}`);
    execFileSync('dpkg-deb', ['--raw-extract', path.join(release, file), extracted]);
    const control = path.join(extracted, 'DEBIAN/control');
    const text = fs.readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}+later`);
    fs.writeFileSync(control, text);
    const name = `later-${service}.deb`;
    execFileSync('dpkg-deb', ['--build', '-Znone', extracted, path.join(root, 'root', name)]);
    fs.rmSync(extracted, { recursive: true });
    return name;
  }
});
