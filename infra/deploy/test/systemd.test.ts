import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const folder = path.resolve(import.meta.dirname, '../../systemd');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.each(['hub', 'fleet'])('the units of the %s', (service) => {
  const main = `svc-${service}.service`;
  const migration = `svc-${service}-migrate.service`;
  const fileOf = (unit: string) => path.join(folder, unit);
  const read = (unit: string) => fs.readFileSync(fileOf(unit), 'utf8');
  const settingsOf = (unit: string, name: string) =>
    [...read(unit).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].flatMap(([, value = '']) => value.split(' '));
  /** What restricts the processes of a unit. */
  const restrictionsOf = (unit: string) =>
    read(unit).match(/^(NoNew|Protect|Private|Restrict|Lock|Remove|System|UMask).*$/gm);

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
});
