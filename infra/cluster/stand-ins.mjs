// Imports stand-ins for the images of templates into the real nodes of a running cluster. See README.md.
//
//   node infra/cluster/stand-ins.mjs <data folder of start.mjs> <folder or file with templates>...
//
// Prints the reference of each image with the user as whom it runs.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { programIn } from './lab/build.mjs';
import { writeStandIns } from './nodes/images.mjs';

const { parse } = createRequire(new URL('../../packages/testing/package.json', import.meta.url))('yaml');

const [dataFolder, ...given] = process.argv.slice(2);
if (given.length === 0) {
  console.error(
    'Usage: node infra/cluster/stand-ins.mjs <data folder of start.mjs> <folder or file with templates>...',
  );
  process.exit(2);
}
const { build, sockets } = JSON.parse(readFileSync(path.join(dataFolder, 'cluster.json'), 'utf8'));
const files = given.flatMap((each) =>
  statSync(each).isDirectory() ? readdirSync(each).map((name) => path.join(each, name)) : [each],
);
const standIns = files.map((file) => standInFor(parse(readFileSync(file, 'utf8'))));
const archive = writeStandIns(build, path.join(dataFolder, 'images'), standIns);
for (const socket of sockets) {
  execFileSync(programIn(build, 'ctr'), ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
}
for (const { reference, user } of standIns) console.log(`${reference} runs as ${user || 'root'}`);

function standInFor({ registry_url = '', image_name, image_tag, kind, run_as = '', ports = [], env = [] }) {
  const check = env.find(({ name }) => name === 'SVC_HEALTH_CHECK')?.value ?? '';
  const [, pathOfCheck] = /^http:\d+(\/.*)$/.exec(check) ?? [];
  const [, program] = /^exec:(\S+)/.exec(check) ?? [];
  return {
    ...{
      reference: fullReference(registry_url ? `${registry_url}/${image_name}` : image_name, image_tag),
      user: run_as ?? '',
      ends: kind === 'job',
    },
    ports: ports.filter(({ protocol = 'TCP' }) => protocol === 'TCP').map(({ containerPort }) => containerPort),
    ...{ paths: pathOfCheck ? [pathOfCheck] : [], programs: program ? [program] : [] },
  };
}

/** The reference with the registry and the repository that short references mean. */
function fullReference(name, tag) {
  const [first, ...rest] = name.split('/');
  if (rest.length === 0) return `docker.io/library/${first}:${tag}`;
  return first.includes('.') || first.includes(':') ? `${name}:${tag}` : `docker.io/${name}:${tag}`;
}
