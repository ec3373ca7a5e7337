// Requires an exact version of each dependency in all package.json files, and of each override in pnpm-workspace.yaml.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './sources.mjs';

const EXACT = /^(workspace:\*|\d+\.\d+\.\d+(-[\w.-]+)?)$/;
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

const problems = [...manifests().flatMap(declared), ...overrides()].filter(({ version }) => !EXACT.test(version));
for (const { file, name, version } of problems) console.error(`${file}: ${name}: ${version}`);
if (problems.length > 0) {
  console.error('State an exact version such as 1.2.3 for each of these dependencies.');
  process.exitCode = 1;
}

/** The paths of all package.json files. Not every folder of infra is a package. */
function manifests() {
  const folders = ['apps', 'packages', 'infra'].flatMap((parent) =>
    readdirSync(path.join(root, parent)).map((name) => path.join(parent, name)),
  );
  const files = ['.', 'bench', ...folders].map((folder) => path.join(folder, 'package.json'));
  return files.filter((file) => existsSync(path.join(root, file)));
}

function declared(file) {
  const manifest = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const dependencies = KINDS.flatMap((kind) => Object.entries(manifest[kind] ?? {}));
  return dependencies.map(([name, version]) => ({ file, name, version }));
}

function overrides() {
  const file = 'pnpm-workspace.yaml';
  const text = readFileSync(path.join(root, file), 'utf8');
  const [, lines = ''] = /^overrides:\n((?: .*\n)*)/m.exec(text) ?? [];
  return [...lines.matchAll(/^ +"?(.+?)"?: (.*)$/gm)].map(([, name, version]) => ({ file, name, version }));
}
