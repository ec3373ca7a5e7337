import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aProduct, freePorts, type Product } from './product.ts';

const readme = fs.readFileSync(path.resolve(import.meta.dirname, '../../../README.md'), 'utf8');

let parent: string;
let product: Product;

beforeAll(async () => {
  parent = fs.mkdtempSync(path.join(tmpdir(), 'readme-'));
  fs.chmodSync(parent, 0o711); // started by root, PostgreSQL is another user that must get through
  product = await aProduct(path.join(parent, '.data'), await freePorts());
}, 60_000);
afterAll(async () => {
  product?.kill('SIGTERM');
  await product?.end();
  fs.rmSync(parent, { recursive: true });
});

/** The lines of the tour, as they are printed. */
function tour(): string {
  const block = /<!-- tour -->\n```sh\n(.*?)```/s.exec(readme)?.[1];
  if (block === undefined) throw new Error('README.md has no tour');
  return block;
}

/** What each curl of a script printed. */
async function answersOf(script: string): Promise<Record<string, unknown>[]> {
  const separated = script.replaceAll(/^curl /gm, 'echo; curl ');
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', separated], { cwd: parent });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>); // every answer of a service is an object
}

test('the tour works as printed: what it finds is mirrored, and one edit is all that travels', async () => {
  const answers = await answersOf(tour());
  const [found, foundByKey, categories, mirrored, fresh, edited, synced, arrived, session] = answers;
  const [refused, planned, deployed, deployments] = answers.slice(9);
  const some = { templates: expect.arrayContaining([expect.objectContaining({ slug: expect.any(String) })]) };
  expect(found).toMatchObject(some);
  expect(foundByKey).toMatchObject(some);
  expect(categories).toMatchObject({
    categories: expect.arrayContaining([expect.objectContaining({ slug: 'inference' })]),
  });
  expect(mirrored).toMatchObject(some);
  expect(fresh).toMatchObject({ status: 'fresh', last_failure: null });
  expect(edited).toMatchObject({ template: { slug: 'qdrant', description: 'The vector store of our choice' } });
  expect(synced).toMatchObject({ status: 'fresh', last_sync: { full: false, updated: 1, removed: 0 } });
  expect(arrived).toMatchObject({ slug: 'qdrant', description: 'The vector store of our choice' });
  expect(session).toMatchObject({ token_type: 'Bearer', user: { role: 'admin', temporary: true } });
  // This test's product finds no engine.
  expect(planned).toMatchObject({ ok: false, refusals: [{ code: 'no_placement' }] });
  expect(deployed).toMatchObject({ status: 422, code: 'no_placement' });
  expect(deployments).toMatchObject({ deployments: [] });
  expect(refused).toMatchObject({ status: 400, errors: [{ path: 'page' }, { path: 'colour' }] });
});

test('the three commands that a start prints work as printed', async () => {
  const printed = product.lines.filter((line) => line.includes('; curl '));
  expect(printed).toHaveLength(3);
  for (const answer of await answersOf(printed.map((line) => line.trim().replace('; curl', '\ncurl')).join('\n'))) {
    expect(answer).not.toHaveProperty('code');
  }
});

test('every file that the README names is there', () => {
  for (const [, target = ''] of readme.matchAll(/\]\(([^)#]+)\)/g)) {
    expect({ target, exists: fs.existsSync(path.resolve(import.meta.dirname, '../../..', target)) }).toEqual({
      target,
      exists: true,
    });
  }
});
