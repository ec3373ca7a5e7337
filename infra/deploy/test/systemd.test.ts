import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { secretNamesOf } from '@svc/http';
import * as fleet from '../../../apps/fleet/src/config.ts';
import * as hub from '../../../apps/hub/src/config.ts';

const folder = path.resolve(import.meta.dirname, '../../systemd');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.each([
  ['hub', hub],
  ['fleet', fleet],
] as const)('the unit of the %s', (service, { schema }) => {
  const file = path.join(folder, `svc-${service}.service`);

  test('passes each of its secrets as a credential', () => {
    const unit = fs.readFileSync(file, 'utf8');
    const passed = [...unit.matchAll(/^Environment=(\w+)_FILE=%d\/(.+)$/gm)].map(([, name = '', id = '']) => [
      name,
      id,
    ]);
    const loaded = [...unit.matchAll(/^LoadCredential=([^:]+):/gm)].map(([, id]) => id);
    expect(passed.map(([, id]) => id)).toEqual(loaded);
    expect(secretNamesOf(schema)).toEqual(expect.arrayContaining(passed.map(([name]) => name)));
    for (const name of secretNamesOf(schema)) {
      const isRequired = !schema.shape[name as keyof typeof schema.shape].safeParse(undefined).success;
      if (isRequired) expect(passed.map(([secret]) => secret)).toContain(name);
    }
  });

  (isInstalled ? test : test.skip)(`is valid${isInstalled ? '' : ' (skipped: systemd-analyze not installed)'}`, () => {
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    const problems = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(path.basename(file)));
    // The program is at another place on machines where Node is not installed as a package.
    expect(problems.filter((line) => !line.includes('/usr/bin/node is not executable'))).toEqual([]);
  });
});
