// The product on the lowest supported version of Node, whose program TEST_FLOOR_NODE names (infra/ci/floor.mjs installs it).
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aProduct, freePorts, type Product } from './product.ts';

const node = process.env.TEST_FLOOR_NODE ?? '';
const repository = path.resolve(import.meta.dirname, '../../../..');

/** A test file of each package: one that uses the dependencies of the package. */
const FILES = {
  'apps/cli': 'test/command-line.test.ts',
  'apps/fleet': 'test/catalog/sync-walks.test.ts',
  'apps/hub': 'test/catalog/templates.test.ts',
  'infra/deploy': 'test/pin.test.ts',
  'infra/identity-provider': 'test/sign-in.test.ts',
  'infra/local': 'test/start/settings.test.ts',
  'infra/observability': 'test/rules.test.ts',
  'packages/auth': 'test/jwt.test.ts',
  'packages/console': 'test/bounded-markdown.test.ts',
  'packages/contract': 'test/openapi.test.ts',
  'packages/convert': 'test/compose.test.ts',
  'packages/database': 'test/pool.test.ts',
  'packages/delivery': 'test/syslog.test.ts',
  'packages/documents': 'test/documents.test.ts',
  'packages/git': 'test/transport.test.ts',
  'packages/http': 'test/process/serve.test.ts',
  'packages/mcp': 'test/mount.test.ts',
  'packages/testing': 'test/conformity.test.ts',
  'packages/trust': 'test/vectors.test.ts',
};

const describeWithFloor = node === '' ? describe.skip : describe;

describeWithFloor('on the lowest supported version of Node', () => {
  describe('the product', () => {
    let folder: string;
    let product: Product;

    beforeAll(async () => {
      folder = fs.mkdtempSync(path.join(tmpdir(), 'floor-'));
      fs.chmodSync(folder, 0o711); // if root runs the tests, PostgreSQL runs as another user, which must be able to enter the folder
      product = await aProduct(path.join(folder, '.data'), await freePorts(), { node });
    });
    afterAll(async () => {
      product?.kill('SIGTERM');
      await product?.end();
      fs.rmSync(folder, { recursive: true });
    });

    test('starts, migrates both databases, and syncs the catalog', async () => {
      const headers = { authorization: `Bearer ${product.demo.FLEET_VIEWER_TOKEN}` };
      const response = await fetch(`${product.demo.FLEET_URL}/api/v1/catalog/templates`, { headers });
      expect(response.status).toBe(200);
      const { templates } = (await response.json()) as { templates: object[] }; // the schema of the endpoint
      expect(templates.length).toBeGreaterThan(0);
    });

    test('signs in the temporary admin', async () => {
      const { FLEET_URL, TEMP_ADMIN_USERNAME: username, TEMP_ADMIN_PASSWORD: password } = product.demo;
      const response = await fetch(`${FLEET_URL}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password }),
      });
      expect(response.status).toBe(200);
    });
  });

  test.each(Object.entries(FILES))('a test file of %s passes', async (folder, file) => {
    const jest = ['--import', '../../infra/jest/register.mjs', './node_modules/jest/bin/jest.js', '--runInBand'];
    const options = { cwd: path.join(repository, folder), env: { ...process.env, TEST_DEPTH: 'short' } };
    const { stderr } = await promisify(execFile)(node, [...jest, '--runTestsByPath', file], options);
    expect(stderr).toMatch(/^Tests: +(?:\d+ skipped, )?[1-9]\d* passed, /m);
  });
});

test('each package with tests has a test file that runs on the lowest supported version', () => {
  const packages = fs
    .globSync('{apps,packages,infra}/*/jest.config.mjs', { cwd: repository })
    .map((file) => path.dirname(file))
    .sort();
  expect(Object.keys(FILES)).toEqual(packages);
  for (const [folder, file] of Object.entries(FILES))
    expect(fs.existsSync(path.join(repository, folder, file))).toBe(true);
});
