// Bundles a service, or the command line client, into a folder, as the image or the package contains it.
//
//   node infra/docker/assemble.mjs <hub|fleet|identity-provider|cli> <new folder> [--uid <number>]
//
// For a service, the console must have been built and the Prisma client generated. pnpm must be on PATH. The folders
// that it reads have the same paths as in the repository. The folder also contains
// sbom.cdx.json, a list of the packages in CycloneDX format, and THIRD-PARTY-LICENSES.txt. With --uid, which needs root, it
// contains compiled code for processes of this user with the same version of Node, NODE_OPTIONS and
// type of processor. Prints the number of packages and the size.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { bundle, bundleClient, SERVICES } from '../bundle/bundle.mjs';

const repository = path.resolve(import.meta.dirname, '../..');

const PROGRAMS = { ...SERVICES, cli: { folder: 'apps/cli', external: [] } };

/** The files that each program reads. */
const DATA = {
  hub: ['prisma/hub', 'infra/catalog', 'openapi/hub.json'],
  fleet: ['prisma/fleet', 'openapi/fleet.json'],
  'identity-provider': [],
  cli: [],
};

/** The used files of packages that are not part of the bundle. Default: all. */
const USED_FILES = {
  '@svc/console': (file) => file === 'package.json' || file.startsWith(path.join('dist', program)),
  'swagger-ui-dist': (file) => /^(package\.json|swagger-ui\.css|swagger-ui-bundle\.js)$/.test(file),
};

/** Files that no code loads: TypeScript, source maps and documentation. */
const UNUSED_FILE = /\.([cm]?ts|map|md|markdown)$/;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { uid: { type: 'string' } } });
const [program, given] = positionals;
if (!Object.hasOwn(PROGRAMS, program) || !given) {
  console.error(
    `Usage: node infra/docker/assemble.mjs <${Object.keys(PROGRAMS).join('|')}> <new folder> [--uid <number>]`,
  );
  process.exit(2);
}
const target = path.resolve(given);
const { folder, external } = PROGRAMS[program];
const app = path.join(target, folder);

const dist = path.join(app, 'dist');
const packages = await (program === 'cli' ? bundleClient(dist) : bundle(program, dist));
for (const name of external) await copyPackage(name, path.join(repository, folder));
for (const each of ['LICENSE', path.join(folder, 'package.json'), ...DATA[program]]) {
  await mkdir(path.dirname(path.join(target, each)), { recursive: true });
  await cp(path.join(repository, each), path.join(target, each), { recursive: true });
}
const own = JSON.parse(await readFile(path.join(app, 'package.json'), 'utf8'));
await writeFile(path.join(target, 'sbom.cdx.json'), `${JSON.stringify(billOf(own), null, 2)}\n`);
await writeFile(path.join(target, 'THIRD-PARTY-LICENSES.txt'), await licences());
if (values.uid !== undefined) compile(Number(values.uid));

let bytes = 0;
for (const file of await filesBelow(target)) bytes += (await stat(path.join(target, file))).size;
console.log(`${packages.size} packages, ${(bytes / 1e6).toFixed(1)} MB`);

/**
 * Copies a package and its dependencies to the node_modules of the program. `from` is the folder of
 * a package that depends on it.
 */
async function copyPackage(name, from) {
  const source = await installedAt(from, name);
  if (source === undefined || packages.has(source)) return; // an optional build for another platform
  const manifest = JSON.parse(await readFile(path.join(source, 'package.json'), 'utf8'));
  if (!name.startsWith('@svc/')) packages.set(source, manifest);
  const uses = USED_FILES[name] ?? ((file) => !UNUSED_FILE.test(file));
  for (const file of await filesBelow(source)) {
    if (file.startsWith('node_modules') || !uses(file)) continue;
    const copy = path.join(app, 'node_modules', name, file);
    await mkdir(path.dirname(copy), { recursive: true });
    await cp(path.join(source, file), copy);
  }
  if (name in USED_FILES) return; // only its files are read
  const { dependencies = {}, optionalDependencies = {} } = manifest;
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies }))
    await copyPackage(dependency, source);
}

/** The real folder of a dependency, as Node resolves it, or undefined if it is not installed. */
async function installedAt(from, name) {
  for (const modules of createRequire(path.join(from, 'package.json')).resolve.paths(name) ?? []) {
    const at = await realpath(path.join(modules, name)).catch(() => undefined);
    if (at !== undefined) return at;
  }
  return undefined;
}

/** The files of a folder, as paths relative to it. */
async function filesBelow(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

/** The licence texts of all packages, each text once. */
async function licences() {
  const byText = new Map();
  for (const [at, { name, version, license }] of packages) {
    const names = (await readdir(at)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
    const texts = await Promise.all(names.map((file) => readFile(path.join(at, file), 'utf8')));
    const text =
      texts.map((each) => each.trim()).join('\n\n') || `Licence: ${license}. The package contains no licence text.`;
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...byText].map(([text, names]) => `${names.sort().join('\n')}\n\n${text}\n`);
  return parts.sort().join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * Stores compiled code beside the bundle, for processes of a user that can only read it. Without
 * settings, the service loads its code and exits with 1.
 */
function compile(uid) {
  const cache = path.join(app, 'dist', 'compile-cache');
  mkdirSync(cache);
  chownSync(cache, uid, uid);
  const { PATH, NODE_OPTIONS } = process.env;
  const { status } = spawnSync(process.execPath, [path.join(app, 'dist', 'main.js')], {
    env: { PATH, ...(NODE_OPTIONS && { NODE_OPTIONS }) },
    ...(process.getuid?.() !== uid && { uid, gid: uid }),
  });
  const files = readdirSync(cache, { recursive: true });
  if (status !== 1 || files.length === 0) throw new Error('The code could not be compiled.');
  // All may read the files, because a copy of the folder has another owner.
  for (const file of ['', ...files].map((name) => path.join(cache, name))) {
    chmodSync(file, statSync(file).isDirectory() ? 0o755 : 0o644);
    chownSync(file, 0, 0);
  }
}

/**
 * The bill of materials that pnpm creates from its lockfile, in CycloneDX 1.6, without the packages
 * whose code is not in the folder. It has no time and no random number, so that equal contents have
 * equal bills. pnpm must be on PATH.
 */
function billOf({ name }) {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--sbom-type', 'application'];
  const args = ['sbom', '--filter-prod', name, '--prod', ...format];
  const { status, stdout, stderr, error } = spawnSync('pnpm', args, { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(`pnpm ${args.join(' ')} failed: ${error?.message ?? stderr}`);
  const { serialNumber, metadata, ...bill } = JSON.parse(stdout);
  const { timestamp, ...unchanging } = metadata;
  const contained = new Set([...packages.values()].map((each) => `${each.name}@${each.version}`));
  const nameOf = ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`;
  const components = bill.components.filter((part) => part.group === '@svc' || contained.has(nameOf(part)));
  const listed = new Set(components.map(nameOf));
  const missing = [...contained].filter((each) => !listed.has(each));
  if (missing.length > 0) throw new Error(`pnpm does not list ${missing.join(', ')}, which the folder contains.`);
  const refs = new Set([unchanging.component['bom-ref'], ...components.map((part) => part['bom-ref'])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)).sort() }));
  const by = (member) => (one, other) => (one[member] < other[member] ? -1 : 1);
  return {
    ...bill,
    metadata: unchanging,
    components: components.sort(by('bom-ref')),
    dependencies: dependencies.sort(by('ref')),
  };
}
