// A substitute of Docker Buildx resolves the tags.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const docker = path.resolve(import.meta.dirname, '../../docker');
const DIGEST = `sha256:${'ab'.repeat(32)}`;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'pin-'));
  file = path.join(folder, 'Dockerfile');
  copyFileSync(path.join(docker, 'service.Dockerfile'), file);
});
afterEach(() => rmSync(folder, { recursive: true }));

const unpinned = () => readFileSync(file, 'utf8').replaceAll(/@sha256:[0-9a-f]{64}$/gm, '');
const images = () =>
  [...readFileSync(file, 'utf8').matchAll(/^ARG (NODE|BASE)_IMAGE=(\S+)$/gm)].map(([, , image]) => image);

/** Runs the script. `buildx` is the script that answers for Docker. */
function pin(args: readonly string[], buildx: string) {
  const substitute = path.join(folder, 'docker');
  writeFileSync(substitute, `#!/bin/sh\n${buildx}\n`);
  chmodSync(substitute, 0o755);
  const { status, stderr } = spawnSync(process.execPath, [path.join(docker, 'pin.mjs'), '--file', file, ...args], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  });
  return { status, stderr };
}
const none = 'exit 1';

test('a release is refused until both base images have a digest', () => {
  writeFileSync(file, unpinned());
  const tags = images();
  expect(tags).toHaveLength(2);
  const refused = pin(['--check'], none);
  expect(refused.status).toBe(1);
  for (const tag of tags) expect(refused.stderr).toContain(tag);
  expect(refused.stderr).toContain('Run "node infra/docker/pin.mjs"');

  expect(pin([], `echo '{"mediaType":"index","digest":"${DIGEST}","size":1}'`)).toEqual({ status: 0, stderr: '' });
  expect(images()).toEqual(tags.map((tag) => `${tag}@${DIGEST}`));
  expect(pin(['--check'], none)).toEqual({ status: 0, stderr: '' });
});

test('a digest is replaced by that of the current image of the tag', () => {
  const later = `sha256:${'cd'.repeat(32)}`;
  for (const digest of [DIGEST, later]) pin([], `echo '{"digest":"${digest}"}'`);
  expect(images().map((image) => image?.split('@')[1])).toEqual([later, later]);
});

test.each([
  ['the registry cannot be reached', 'echo "dial tcp: no such host" >&2; exit 1', 'dial tcp: no such host'],
  ['the response contains no digest', `echo '{"digest":"sha256:12"}'`, 'could not be resolved'],
])('the file remains unchanged if %s', (_, buildx, reason) => {
  const before = readFileSync(file, 'utf8');
  const { status, stderr } = pin([], buildx);
  expect(status).toBe(1);
  expect(stderr).toContain(reason);
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('a digest that is cut off is not accepted', () => {
  writeFileSync(file, unpinned().replaceAll(/^(ARG (?:NODE|BASE)_IMAGE=\S+)$/gm, '$1@sha256:ab'));
  expect(pin(['--check'], none).status).toBe(1);
});
