// The Debian packages and tarballs that `pnpm release` builds.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aFolder, buildRelease, releaseProblem, version } from './release.ts';

const folder = aFolder();
afterAll(() => fs.rmSync(folder, { recursive: true }));
const [first, second] = ['first', 'second'].map((name) => path.join(folder, name)) as [string, string]; // two names
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

const problem = releaseProblem();
(problem ? describe.skip : describe)(`the packages${problem ? ` (skipped: ${problem})` : ''}`, () => {
  beforeAll(() => buildRelease(first, '--uncompressed'));

  test('are identical if they are built again, also with another mask for the modes of new files', () => {
    const before = process.umask(0o077);
    try {
      buildRelease(second, '--uncompressed');
    } finally {
      process.umask(before);
    }
    const sums = (release: string) => fs.readFileSync(path.join(release, 'SHA256SUMS'), 'utf8');
    expect(sums(second)).toBe(sums(first));
    expect(sums(first).match(/ {2}.*$/gm)).toEqual([
      `  svc-cli-${version}-linux-${process.arch}.tar`,
      `  svc-cli_${version}_${architecture}.deb`,
      `  svc-fleet-${version}-linux-${process.arch}.tar`,
      `  svc-fleet_${version}_${architecture}.deb`,
      `  svc-hub-${version}-linux-${process.arch}.tar`,
      `  svc-hub_${version}_${architecture}.deb`,
    ]);
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: first });
  });

  const packageOf = (name: string) => path.join(first, `svc-${name}_${version}_${architecture}.deb`);
  const inspect = (...args: string[]) => execFileSync('dpkg-deb', args, { encoding: 'utf8' });
  /** The modes of the files of a package that are not those of other files. */
  const restrictedIn = (name: string) => {
    const entries = inspect('--contents', packageOf(name))
      .trim()
      .split('\n')
      .map((line) => {
        const [mode = '', owner = '', , , , file = ''] = line.split(/ +/);
        return { mode, owner, file };
      });
    expect(new Set(entries.map(({ owner }) => owner))).toEqual(new Set(['root/root']));
    return entries.filter(({ mode }) => !/^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x)$/.test(mode));
  };

  test.each(['hub', 'fleet', 'cli'])('have the same files as their tarball: %s', (name) => {
    const [ofPackage, ofTarball] = ['package', 'tarball'].map((kind) => path.join(folder, `${name}-${kind}`)) as [
      string,
      string,
    ]; // two names
    inspect('--extract', packageOf(name), ofPackage);
    fs.mkdirSync(ofTarball);
    const tarball = path.join(first, `svc-${name}-${version}-linux-${process.arch}.tar`);
    execFileSync('tar', ['--extract', '--strip-components=1', `--directory=${ofTarball}`, `--file=${tarball}`]);
    execFileSync('diff', ['--recursive', ofPackage, ofTarball]);
  });

  test('of the client declare what it needs, and contain only files that all users can read', () => {
    expect(inspect('--field', packageOf('cli'), 'Depends')).toContain('libatomic1');
    expect(inspect('--info', packageOf('cli'))).not.toContain('postinst');
    expect(restrictedIn('cli')).toEqual([]);
  });

  describe.each(['hub', 'fleet'])('of the %s', (service) => {
    test('declare what they need, and which file the administrator changes', () => {
      const deb = packageOf(service);
      expect(inspect('--field', deb, 'Version')).toBe(`${version}\n`);
      expect(inspect('--field', deb, 'Architecture')).toBe(`${architecture}\n`);
      expect(inspect('--field', deb, 'Depends')).toContain('libatomic1');
      expect(inspect('--info', deb, 'conffiles')).toBe(`/etc/svc-${service}/${service}.env\n`);
    });

    test('have only files of root, of which others cannot read the settings and secrets', () => {
      expect(restrictedIn(service)).toEqual([
        { mode: '-rw-r-----', owner: 'root/root', file: `./etc/svc-${service}/${service}.env` },
        { mode: 'drwxr-x---', owner: 'root/root', file: `./etc/svc-${service}/secrets/` },
      ]);
    });
  });
});
