// The images of both services, built with Podman from the Dockerfile. Its base images are in a registry, so the test replaces them: the
// base contains only the libraries that Node needs, and the program is the Node of the test.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmptyDatabase, eventually, freePort, type TestDatabase } from '@svc/testing';
import { describeWithEngine, engineKind, programAt, startEngine, type TestEngine } from '@svc/testing/engine';
import { setUpDatabases } from '@svc/testing/global-setup';

const repository = path.resolve(import.meta.dirname, '../../..');
const docker = path.join(repository, 'infra/docker');
/** What remains of 250 MB beside Node 26 without symbols (117 MB) and a base of at most 50 MB. */
const MAX_APP_BYTES = 80e6;

const settings = {
  hub: { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'https://hub.example.test' },
  fleet: { ENCRYPTION_KEYS_FILE: '/run/secrets/encryption-keys' },
};

/** Why the image cannot be built here, apart from a missing engine. */
const problem = () => {
  if (engineKind() !== 'podman') return 'TEST_ENGINE is not podman';
  const missing = ['strip', 'ldd', 'tar', 'pnpm'].filter((name) => programAt(name) === undefined);
  return missing.length > 0 ? `${missing.join(', ')} not installed` : undefined;
};

const describeImage = (title: string, tests: () => void) => {
  const reason = problem();
  if (reason === undefined) describeWithEngine(title, tests);
  else describe.skip(`${title} (skipped: ${reason})`, tests);
};

describeImage('the image', () => {
  let folder: string;
  let engine: TestEngine;
  let tearDown: () => Promise<void>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'image-'));
    tearDown = await setUpDatabases({ prismaDir: path.join(repository, 'prisma/hub'), name: 'image' });
    engine = await startEngine();
    await copyLibraries(path.join(folder, 'base'));
    execFileSync('strip', ['-o', path.join(folder, 'node'), process.execPath]);
    await engine.byHand('import', tarOf(path.join(folder, 'base')), 'localhost/base:1');
  });
  afterAll(async () => {
    await engine.stop();
    await tearDown();
    await rm(folder, { recursive: true });
  });

  describe.each(['hub', 'fleet'] as const)('of the %s', (service) => {
    const image = `localhost/svc-${service}:test`;
    let database: TestDatabase | undefined;
    let port: number;
    let options: string[];

    beforeAll(async () => {
      const assembled = path.join(folder, service);
      execFileSync(process.execPath, [path.join(docker, 'assemble.mjs'), service, path.join(assembled, 'app')], {
        stdio: 'pipe',
      });
      await mkdir(path.join(assembled, 'runtime/lib'), { recursive: true });
      await mkdir(path.join(assembled, 'runtime/bin'));
      await link(path.join(folder, 'node'), path.join(assembled, 'runtime/bin/node'));
      await engine.byHand('import', tarOf(assembled), `localhost/assembled-${service}:1`);
      const context = path.join(folder, 'empty');
      await mkdir(context, { recursive: true });
      const args = { SERVICE: service, ASSEMBLED: `localhost/assembled-${service}:1`, BASE_IMAGE: 'localhost/base:1' };
      await engine.byHand(
        ...['build', '--format=docker', '--pull=never', '--isolation=chroot', '--tag', image],
        ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        ...['--file', path.join(docker, 'service.Dockerfile'), context],
      );

      database = await createEmptyDatabase();
      port = await freePort();
      const secrets = path.join(folder, `secrets-${service}`);
      await mkdir(secrets);
      await writeFile(path.join(secrets, 'database-url'), `${database.url}\n`);
      await writeFile(path.join(secrets, 'encryption-keys'), `k1:${randomBytes(32).toString('base64')}\n`);
      const environment = {
        ...settings[service],
        DATABASE_URL_FILE: '/run/secrets/database-url',
        PORT: String(port),
        HOST: '127.0.0.1',
      };
      options = [
        ...['--network=host', '--read-only', '--read-only-tmpfs=false', '--cap-drop=all'],
        ...['--security-opt=no-new-privileges', `--volume=${secrets}:/run/secrets:ro`],
        ...Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`),
      ];
    });
    afterAll(() => database?.drop());

    test('adds at most 80 MB to Node and the base, and lists its packages', async () => {
      const app = path.join(folder, service, 'app');
      const bytes = sizeOf(app);
      const total = await engine.byHand('image', 'inspect', '--format={{.Size}}', image);
      const parts = { image: Number(total), app: bytes, node: fs.statSync(path.join(folder, 'node')).size };
      process.stderr.write(`unpacked sizes of ${service} with Node ${process.versions.node}: ${inMegabytes(parts)}\n`);
      expect(bytes).toBeLessThan(MAX_APP_BYTES);
      const text = fs.readFileSync(path.join(app, 'sbom.cdx.json'), 'utf8');
      const { components } = JSON.parse(text);
      const names = components.map(({ purl }: { purl: string }) => purl.replace(/^pkg:npm\/|@[^@]+$/g, ''));
      expect(names).toEqual(expect.arrayContaining(['express', 'pg', '%40prisma/client']));
      for (const name of ['prisma', 'typescript', 'jest', '%40biomejs/biome']) expect(names).not.toContain(name);
    });

    test('migrates and serves without privileges on a read-only file system, and stops', async () => {
      const migrated = await engine.byHand('run', '--rm', ...options, image, 'migrate');
      expect(migrated).toMatch(/^applied /);
      const name = `test-${service}`;
      await engine.byHand('run', '--detach', '--name', name, ...options, image);
      await eventually(`${service} is ready`, () =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ status }) => status === 200,
          () => false, // not listening yet
        ),
      ).catch(async (cause) => {
        throw new Error(`The container is not ready. Its log:\n${await engine.byHand('logs', name)}`, { cause });
      });
      const script = `
        const { readFileSync, writeFileSync } = require('node:fs');
        const attempt = (file) => { try { writeFileSync(file, ''); return 'written'; } catch ({ code }) { return code; } };
        const status = readFileSync('/proc/1/status', 'utf8');
        const of = (name) => status.match(new RegExp(name + ':\\\\s*(\\\\S+)'))[1];
        console.log(JSON.stringify({
          uid: of('Uid'), gid: of('Gid'), capabilities: [of('CapEff'), of('CapPrm'), of('CapBnd')], noNewPrivileges: of('NoNewPrivs'),
          writes: ['/app/x', '/tmp-x', 'dist/main.js'].map(attempt),
        }));`;
      const state = await engine.byHand('exec', name, '/usr/local/bin/node', '-e', script);
      const none = '0000000000000000';
      expect(JSON.parse(state)).toEqual({
        ...{ uid: '65532', gid: '65532', capabilities: [none, none, none], noNewPrivileges: '1' },
        writes: ['EROFS', 'EROFS', 'EROFS'],
      });
      await engine.byHand('healthcheck', 'run', name);
      await engine.byHand('stop', '--time=20', name);
      expect(await engine.byHand('inspect', '--format={{.State.ExitCode}}', name)).toBe('0');
    });
  });
});

/** The total size of the files in a folder. */
function sizeOf(folder: string): number {
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0);
}

const inMegabytes = (sizes: Readonly<Record<string, number>>) =>
  Object.entries(sizes)
    .map(([name, bytes]) => `${name} ${Math.round(bytes / 1e6)} MB`)
    .join(', ');

/** A tar archive of a folder. */
function tarOf(folder: string): string {
  execFileSync('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', `${folder}.tar`, '.']);
  return `${folder}.tar`;
}

/**
 * Copies the libraries of Node to the same paths below a folder, and librt, which is a part of the C library of the base image and which
 * the hashing of passwords needs.
 */
async function copyLibraries(folder: string): Promise<void> {
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  const cLibrary = libraries.find((library) => library.endsWith('/libc.so.6')) ?? '';
  for (const library of [...libraries, path.join(path.dirname(cLibrary), 'librt.so.1')]) {
    await mkdir(path.join(folder, path.dirname(library)), { recursive: true });
    await fs.promises.copyFile(library, path.join(folder, library));
  }
  for (const empty of ['proc', 'sys', 'dev', 'etc', 'run/secrets', 'tmp', 'usr/lib', 'usr/local/bin']) {
    await mkdir(path.join(folder, empty), { recursive: true });
  }
}
