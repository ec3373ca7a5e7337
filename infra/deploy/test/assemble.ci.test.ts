// The folders that infra/docker/assemble.mjs writes for the images.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';

const repository = path.resolve(import.meta.dirname, '../../..');
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'assembled-'));
afterAll(() => fs.rmSync(root, { recursive: true }));

/** Packages of each service, and the maximum size of its folder in MB. */
const expected = {
  hub: { inBundle: ['express', 'pg', '@prisma/client', 'yaml'], beside: ['swagger-ui-dist'], limit: 18 },
  fleet: {
    inBundle: ['express', 'pg', '@prisma/client', '@kubernetes/client-node', '@zxcvbn-ts/core'],
    beside: ['swagger-ui-dist', '@node-rs/argon2', 'piscina'],
    limit: 34,
  },
};

describe.each(['hub', 'fleet'] as const)('the folder of the %s', (service) => {
  const target = path.join(root, service);
  const app = path.join(target, 'apps', service);
  const main = path.join(app, 'dist', 'main.js');
  const read = (file: string) => fs.readFileSync(path.join(target, file), 'utf8');

  test('runs without the repository', () => {
    execFileSync(process.execPath, [path.join(repository, 'infra/docker/assemble.mjs'), service, target]);
    expect(execFileSync(process.execPath, [main, 'version'], { encoding: 'utf8' })).toMatch(
      new RegExp(`^${service} \\d`),
    );
  });

  test('is not larger than its limit', () => {
    const files = fs.readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = files
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .filter((file) => !file.includes('compile-cache'))
      .map((file) => fs.statSync(file).size);
    expect(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toBeLessThan(expected[service].limit);
  });

  /** The packages in the bill of materials, without those of this repository. */
  const listed = (): { name: string; version: string }[] =>
    (JSON.parse(read('sbom.cdx.json')).components as { group?: string; name: string; version: string }[])
      .filter(({ group }) => group !== '@svc')
      .map(({ group, name, version }) => ({ name: group === undefined ? name : `${group}/${name}`, version }));

  test('lists the packages of the bundle and those beside it, with their licences', () => {
    const names = listed().map(({ name }) => name);
    const { inBundle, beside } = expected[service];
    expect(names).toEqual(expect.arrayContaining([...inBundle, ...beside]));
    const licences = read('THIRD-PARTY-LICENSES.txt').split('\n');
    for (const { name, version } of listed()) expect(licences).toContain(`${name} ${version}`);
    for (const name of beside) expect(fs.existsSync(path.join(app, 'node_modules', name))).toBe(true);
    for (const name of inBundle) expect(fs.existsSync(path.join(app, 'node_modules', name))).toBe(false);
  });

  test('contains no package for development', () => {
    const names = listed().map(({ name }) => name);
    for (const name of ['prisma', '@prisma/schema-engine-wasm', 'typescript', 'jest', 'rolldown', 'turbo']) {
      expect(names).not.toContain(name);
    }
  });
});
