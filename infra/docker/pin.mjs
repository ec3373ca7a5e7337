// Pins the base images of service.Dockerfile by digest. Published images require it.
//
//   node infra/docker/pin.mjs [--file <Dockerfile>]            # resolves the tags with Docker Buildx, and writes the digests
//   node infra/docker/pin.mjs --check [--file <Dockerfile>]    # fails if an image has no digest
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const options = {
  check: { type: 'boolean', default: false },
  file: { type: 'string', default: path.join(import.meta.dirname, 'service.Dockerfile') },
};
const { check, file } = parseArgs({ options }).values;

const IMAGE = /^(ARG (?:NODE|BASE)_IMAGE=)([^\s@]+)(?:@(\S*))?$/gm;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

const text = readFileSync(file, 'utf8');
const images = [...text.matchAll(IMAGE)].map(([, , tag, digest]) => ({ tag, digest }));
if (images.length !== 2) fail(`${file} must contain "ARG NODE_IMAGE=<image>" and "ARG BASE_IMAGE=<image>".`);

if (check) {
  const unpinned = images.filter(({ digest }) => digest === undefined || !DIGEST.test(digest)).map(({ tag }) => tag);
  if (unpinned.length > 0) {
    fail(
      `A release requires the digests of ${unpinned.join(' and ')}. Run "node infra/docker/pin.mjs", and commit the Dockerfile.`,
    );
  }
} else {
  const digests = new Map(images.map(({ tag }) => [tag, digestOf(tag)]));
  writeFileSync(
    file,
    text.replaceAll(IMAGE, (_, argument, tag) => `${argument}${tag}@${digests.get(tag)}`),
  );
  for (const [tag, digest] of digests) console.log(`${tag}@${digest}`);
}

/** The digest of the index of an image, which covers all its platforms, as its registry states it. */
function digestOf(tag) {
  const inspect = ['buildx', 'imagetools', 'inspect', '--format', '{{json .Manifest}}', tag];
  const { status, stdout, stderr, error } = spawnSync('docker', inspect, { encoding: 'utf8', timeout: 60_000 });
  if (status !== 0) fail(`The digest of ${tag} could not be resolved: ${error?.message ?? stderr.trim()}`);
  const { digest } = JSON.parse(stdout);
  if (!DIGEST.test(digest)) fail(`The digest of ${tag} could not be resolved: Buildx states ${digest}.`);
  return digest;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
