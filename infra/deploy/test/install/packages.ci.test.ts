// The files of a package that `pnpm release` builds. A mount namespace shows them at their places on this machine.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmptyDatabase, eventually, freePort, type TestDatabase } from '@svc/testing';
import { programAt } from '@svc/testing/engine';
import { setUpDatabases } from '@svc/testing/global-setup';
import { aFolder, buildRelease, namespaceProblem, releaseProblem, repository, version } from './release.ts';

const folder = aFolder();
afterAll(() => fs.rmSync(folder, { recursive: true }));
/** The files of the package of the fleet, with the user svc-fleet in `etc`. */
const tree = path.join(folder, 'files', `svc-fleet-${version}-linux-${process.arch}`);
const inTree = (file: string) => path.join(tree, file);
/** An id that no user of this machine has. */
const USER_ID = 64_123;

const problem = releaseProblem();
(problem ? describe.skip : describe)(`the package of the fleet${problem ? ` (skipped: ${problem})` : ''}`, () => {
  beforeAll(() => buildRelease(path.join(folder, 'files'), '--files', '--only', 'svc-fleet'));

  test('contains the service, its Node, units, SQL, alerts, licences, a bill of materials and checksums', () => {
    const program = inTree('usr/lib/svc-fleet');
    const node = path.join(program, 'bin/node');
    const main = path.join(program, 'apps/fleet/dist/main.js');
    expect(execFileSync(node, [main, 'version'], { encoding: 'utf8' }).trim()).toBe(`fleet ${version}`);
    const { components } = JSON.parse(fs.readFileSync(path.join(program, 'sbom.cdx.json'), 'utf8'));
    const nodeVersion = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1);
    expect(components).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'node', version: nodeVersion }),
        expect.objectContaining({ name: 'undici', purl: expect.stringContaining('pkg:npm/undici@') }),
      ]),
    );
    for (const file of [
      ...[
        'usr/lib/svc-fleet/prisma/fleet/schema.prisma',
        'usr/lib/svc-fleet/LICENSE',
        'usr/lib/svc-fleet/LICENSE.node',
      ],
      ...['usr/lib/svc-fleet/THIRD-PARTY-LICENSES.txt', 'usr/lib/svc-fleet/apps/fleet/node_modules/@svc/console'],
      ...['usr/lib/systemd/system/svc-fleet.service', 'usr/lib/systemd/system/svc-fleet-migrate.service'],
      ...['usr/share/svc-fleet/create-database.sql', 'usr/share/svc-fleet/alerts/fleet.yaml'],
      ...['usr/share/svc-fleet/alerts/service.yaml', 'usr/share/svc-fleet/nginx.conf'],
      ...['usr/share/doc/svc-fleet/docs/deploy.md', 'usr/share/doc/svc-fleet/copyright'],
    ]) {
      expect({ file, exists: fs.existsSync(inTree(file)) }).toEqual({ file, exists: true });
    }
    const check = ['--check', '--quiet', 'usr/lib/svc-fleet/SHA256SUMS'];
    expect(spawnSync('sha256sum', check, { cwd: tree, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });

  const namespaces = namespaceProblem();
  (namespaces ? describe.skip : describe)(`installed${namespaces ? ` (skipped: ${namespaces})` : ''}`, () => {
    let database: TestDatabase;
    let tearDown: () => Promise<void>;
    let port: number;

    beforeAll(async () => {
      tearDown = await setUpDatabases({ prismaDir: path.join(repository, 'prisma/fleet'), name: 'packages' });
      database = await createEmptyDatabase();
      port = await freePort();
      const account = `svc-fleet:x:${USER_ID}:`;
      for (const [file, line] of [
        ['passwd', `${account}${USER_ID}::/nonexistent:/usr/sbin/nologin\n`],
        ['group', `${account}\n`],
      ] as const) {
        fs.writeFileSync(inTree(`etc/${file}`), fs.readFileSync(`/etc/${file}`, 'utf8') + line);
      }
      const secret = (name: string, text: string, mode: number, group: number) => {
        const file = inTree(`etc/svc-fleet/secrets/${name}`);
        fs.writeFileSync(file, `${text}\n`, { mode });
        fs.chownSync(file, 0, group);
      };
      for (const file of ['', 'fleet.env', 'secrets']) fs.chownSync(inTree(`etc/svc-fleet/${file}`), 0, USER_ID);
      secret('database-url', database.url, 0o640, USER_ID);
      secret('encryption-keys', `k1:${randomBytes(32).toString('base64')}`, 0o640, USER_ID);
      secret('migration-database-url', database.url, 0o600, 0);
      const authorities = '/etc/ssl/certs/ca-certificates.crt';
      const env = fs.readFileSync(inTree('etc/svc-fleet/fleet.env'), 'utf8');
      const own = fs.existsSync(authorities) ? env : env.replace(/^NODE_EXTRA_CA_CERTS=.*$/m, '');
      fs.writeFileSync(inTree('etc/svc-fleet/fleet.env'), `${own}PORT="${port}"\n  LOG_LEVEL='info'\n`);
    });
    afterAll(async () => {
      await database?.drop();
      await tearDown?.();
    });

    const mounts = ['etc', 'usr'].map(
      (name) => `mount -t overlay overlay -o lowerdir=${inTree(name)}:/${name} /${name}`,
    );
    /** The arguments of `unshare` for a command that finds the files of the package at their places. */
    const installed = (command: readonly string[]) => [
      ...['--mount', '--propagation=private', 'sh', '-euc', `${mounts.join('\n')}\nexec "$@"`, 'sh', ...command],
    ];
    const run = (environment: Readonly<Record<string, string>>, ...command: string[]) =>
      spawnSync('unshare', installed(command), { encoding: 'utf8', env: { ...process.env, ...environment } });
    const execStartOf = (unit: string) =>
      /^ExecStart=(.*)$/m.exec(fs.readFileSync(inTree(`usr/lib/systemd/system/${unit}`), 'utf8'))?.[1]?.split(' ') ??
      [];

    const hasSystemd = programAt('systemd-analyze') !== undefined;
    const skipped = hasSystemd ? '' : ' (skipped: systemd-analyze not installed)';
    (hasSystemd ? test : test.skip)(`the units are valid, and their programs exist${skipped}`, () => {
      const units = ['svc-fleet.service', 'svc-fleet-migrate.service'].map((unit) => `/usr/lib/systemd/system/${unit}`);
      const { stdout, stderr } = run({}, 'systemd-analyze', 'verify', ...units);
      expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('svc-fleet'))).toEqual([]);
    });

    test('the line ExecStart of the migration migrates the database, and that of the service serves', async () => {
      const migrated = run({}, ...execStartOf('svc-fleet-migrate.service'));
      expect({ status: migrated.status, stderr: migrated.stderr }).toEqual({ status: 0, stderr: '' });
      expect(migrated.stdout).toMatch(/^applied /);

      // As systemd starts it: with the user of the unit, and without the privileges of root.
      const asUser = [
        'env',
        '-i',
        'PATH=/usr/bin:/bin',
        'setpriv',
        `--reuid=${USER_ID}`,
        `--regid=${USER_ID}`,
        '--clear-groups',
      ];
      const child = spawn('unshare', installed([...asUser, ...execStartOf('svc-fleet.service')]), { stdio: 'pipe' });
      try {
        const ready = () =>
          fetch(`http://127.0.0.1:${port}/readyz`).then(
            (response) => response.status,
            () => undefined, // not listening yet
          );
        await eventually('the fleet is ready', ready, { until: (status) => status === 200 });
        const status = fs.readFileSync(`/proc/${child.pid}/status`, 'utf8');
        expect(/^Uid:\t(\d+)/m.exec(status)?.[1]).toBe(String(USER_ID));
        const environment = fs.readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0');
        expect(environment).toEqual(expect.arrayContaining(['MIGRATE_ON_START=false', 'LOG_LEVEL=info']));
        expect(environment.join()).not.toContain('postgresql://');

        // A command by hand has the settings of the service, and not the environment of root.
        const { stdout } = run({ RATE_LIMIT: 'invalid' }, 'svc-fleet', 'doctor', '--json');
        const checks: { name: string; state: string; found: string }[] = JSON.parse(stdout).checks;
        expect(checks.find(({ name }) => name === 'configuration')).toMatchObject({ state: 'ok' });
        expect(checks.find(({ name }) => name === 'port')?.found).toContain(
          `Version ${version} of this service is running`,
        );
      } finally {
        child.kill();
      }
    });

    test('a command states a line of the settings that is no setting, and refuses other users', () => {
      const file = inTree('etc/svc-fleet/fleet.env');
      const before = fs.readFileSync(file, 'utf8');
      fs.writeFileSync(file, `${before}LOG LEVEL=debug\n`);
      const { status, stderr } = run({}, 'svc-fleet', 'version');
      fs.writeFileSync(file, before);
      const number = before.split('\n').length;
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: `svc-fleet: /etc/svc-fleet/fleet.env, line ${number}: it must have the form NAME=value\n`,
      });
      const other = run({}, 'setpriv', '--reuid=65534', '--clear-groups', 'svc-fleet', 'version');
      expect(other.stderr).toBe('svc-fleet: run it as root or as the user svc-fleet\n');
    });
  });
});
