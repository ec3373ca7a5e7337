import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const repository = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => fs.readFileSync(path.join(repository, file), 'utf8');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.each(['hub', 'fleet'])('the units of the %s', (service) => {
  const main = `svc-${service}.service`;
  const migration = `svc-${service}-migrate.service`;
  const fileOf = (unit: string) => path.join(repository, 'infra/systemd', unit);
  const unitText = (unit: string) => read(`infra/systemd/${unit}`);
  const settingsOf = (unit: string, name: string) =>
    [...unitText(unit).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].flatMap(([, value = '']) => value.split(' '));
  /** What restricts the processes of a unit. */
  const restrictionsOf = (unit: string) =>
    unitText(unit).match(/^(NoNew|Protect|Private|Restrict|Lock|Remove|System|UMask).*$/gm);

  test('migrate before the service starts, which does not depend on the success', () => {
    expect(settingsOf(main, 'After')).toContain(migration);
    expect(settingsOf(main, 'Wants')).toContain(migration);
    expect(settingsOf(main, 'Requires')).toEqual([]);
    expect(settingsOf(migration, 'Type')).toEqual(['oneshot']);
    expect(settingsOf(migration, 'Restart')).toEqual(['on-failure']);
  });

  test('run the service without privileges, and give the migration only those to change its user', () => {
    expect(settingsOf(main, 'User')).toEqual([`svc-${service}`]);
    expect(settingsOf(main, 'CapabilityBoundingSet')).toEqual(['']);
    expect(settingsOf(migration, 'CapabilityBoundingSet')).toEqual(['CAP_SETGID', 'CAP_SETUID']);
    expect(restrictionsOf(main)).toHaveLength(21);
    expect(restrictionsOf(migration)).toEqual(restrictionsOf(main));
  });

  (isInstalled ? test : test.skip)(`are valid${isInstalled ? '' : ' (skipped: systemd-analyze not installed)'}`, () => {
    const files = [main, migration].map(fileOf);
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
    const problems = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(`svc-${service}`));
    // The package installs the program.
    expect(problems.filter((line) => !line.includes(`/usr/bin/svc-${service} is not executable`))).toEqual([]);
  });

  test('reloads with SIGHUP, which the program of the package accepts from its start', () => {
    expect(unitText(main)).toMatch(/^ExecReload=\/bin\/sh -c 'kill -HUP \$\{MAINPID\}'$/m);
    expect(read('infra/install/run.sh')).toMatch(/^\[ "\$\{1-serve\}" != serve \] \|\| trap '' HUP$/m);
  });
});

test('the unit and the image of the fleet limit the heap as docs/scale.md states, and no document states another limit', () => {
  const [, limit] = /`NODE_OPTIONS=(--max-old-space-size=\d+)`/.exec(read('docs/scale.md')) ?? [];
  expect(limit).toBeDefined();
  expect(read('infra/systemd/svc-fleet.service')).toContain(`\nEnvironment=NODE_OPTIONS=${limit}\n`);
  const [, ofFleet = ''] = read('infra/docker/service.Dockerfile').split(/^FROM base AS (?:fleet|identity-provider)$/m);
  expect(ofFleet).toContain(`\nENV NODE_OPTIONS=${limit}\n`);
  const pages = fs.globSync(['docs/*.md', 'infra/**/*.md', 'README.md'], {
    cwd: repository,
    exclude: ['**/node_modules/**'],
  });
  for (const page of pages)
    for (const [option] of read(page).matchAll(/--max-old-space-size=\d+/g))
      expect({ page, option }).toEqual({ page, option: limit });
});
