// The table of docs/dependencies.md: the packages with which the services and svc run, and their licences.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceTables } from '../../packages/contract/src/openapi/page-tables.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Licences that permit use, change and distribution without an obligation to publish the sources of a service. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
];

/** Packages whose package.json states no licence. The comment names the file that does. */
const STATED_ELSEWHERE = {
  'pause@0.0.1': 'MIT', // Readme.md
};

/** @throws if a package has a licence that is not allowed */
export function withPackages(page) {
  const packages = productionPackages();
  const refused = packages.filter(({ license }) => !ALLOWED.includes(license));
  if (refused.length > 0) {
    const list = refused.map(({ id, license }) => `  ${id}: ${license}`).join('\n');
    throw new Error(`These licences are not allowed (infra/docs/dependencies.mjs lists those that are):\n${list}`);
  }
  const rows = packages
    .filter(({ isBuild }) => !isBuild)
    .map(({ name, version, license }) => `| \`${name}\` | ${version} | ${license} |`);
  return replaceTables('docs/dependencies.md', page, {
    packages: ['| package | version | licence |', '|---|---|---|', ...rows],
  });
}

/** All installed packages of both services and of svc, sorted by name and version. `isBuild`: a build of a package for one platform. */
function productionPackages() {
  const found = Object.values(installedLicenses())
    .flat()
    .flatMap(({ name, license, paths }) => paths.map((folder) => packageAt(folder, name, license)));
  const byId = new Map(found.map((each) => [each.id, each]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function packageAt(folder, name, license) {
  const { version, os, cpu } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const id = `${name}@${version}`;
  return {
    id,
    name,
    version,
    license: STATED_ELSEWHERE[id] ?? license,
    isBuild: os !== undefined || cpu !== undefined,
  };
}

/** The packages by licence, as pnpm reads them from `node_modules`. */
function installedLicenses() {
  const programs = ['hub', 'fleet', 'cli'].flatMap((name) => ['--filter-prod', `@svc/${name}...`]);
  const args = ['licenses', 'list', '--prod', '--json', ...programs];
  const { status, stdout, stderr } = spawnSync('pnpm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  if (status !== 0) throw new Error(`pnpm ${args.join(' ')} failed: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}
