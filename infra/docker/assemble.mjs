// Copies a built service with its production dependencies into a folder, as the image contains it.
//
//   node infra/docker/assemble.mjs <hub|fleet|identity-provider> <new folder>
//
// The folders that the service reads have the same paths as in the repository. The folder also contains sbom.cdx.json, a list of
// the packages in CycloneDX format. Prints the number of packages and the size.

import { spawnSync } from 'node:child_process';
import { cp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

const repository = path.resolve(import.meta.dirname, '../..');

/** The folders that each service reads. */
const DATA = { hub: ['prisma/hub', 'infra/catalog'], fleet: ['prisma/fleet'], 'identity-provider': [] };

const [service, given] = process.argv.slice(2);
if (!Object.hasOwn(DATA, service) || !given) {
  console.error(`Usage: node infra/docker/assemble.mjs <${Object.keys(DATA).join('|')}> <new folder>`);
  process.exit(2);
}
const target = path.resolve(given);
const app = path.join(target, 'apps', service);

const deploy = ['--filter', `@svc/${service}`, 'deploy', '--prod', '--legacy', '--prefer-offline', app];
const { status } = spawnSync('pnpm', deploy, { cwd: repository, stdio: ['ignore', 'inherit', 'inherit'] });
if (status !== 0) process.exit(1);

/** Files that no code loads: TypeScript, source maps, documentation, C, and libraries for another runtime. */
const UNUSED_FILE = /\.([cm]?ts|map|md|markdown|c|bare)$/;
/** Prisma contains query compilers for six databases. The generated client loads the fast one for PostgreSQL, as an ES module. */
const QUERY_COMPILER = /\/@prisma\/client\/runtime\/query_compiler_/;
const USED_COMPILER = /query_compiler_fast_bg\.postgresql\.(wasm-base64\.)?mjs$/;

/** The packages of OpenTelemetry contain builds for bundlers. Node loads the one in `build/src`. */
const BUNDLER_BUILD = /\/@opentelemetry\/[^/]+\/build\/(esm|esnext)\//;

const packages = await packagesOf(app);
for (const file of await filesBelow(app)) {
  if (UNUSED_FILE.test(file) || BUNDLER_BUILD.test(file) || (QUERY_COMPILER.test(file) && !USED_COMPILER.test(file)))
    await rm(file);
}
for (const folder of DATA[service]) {
  await cp(path.join(repository, folder), path.join(target, folder), { recursive: true });
}
await writeFile(path.join(target, 'sbom.cdx.json'), `${JSON.stringify(billOf(packages), null, 2)}\n`);

let bytes = 0;
for (const file of await filesBelow(target)) bytes += (await stat(file)).size;
console.log(`${packages.size} packages, ${(bytes / 1e6).toFixed(1)} MB`);

/** The service, its dependencies and theirs. @returns manifests by real folder */
async function packagesOf(root) {
  const found = new Map();
  const pending = [await realpath(root)];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (found.has(folder)) continue;
    const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    found.set(folder, manifest);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
    for (const name of new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])) {
      const dependency = await installedAt(folder, name);
      if (dependency !== undefined) pending.push(dependency);
      else if (name in dependencies && !(name in optionalDependencies))
        throw new Error(`${manifest.name}: ${name} is missing`);
    }
  }
  return found;
}

/** The real folder of a dependency, as Node resolves it, or undefined if it is not installed. */
async function installedAt(folder, name) {
  const candidates = createRequire(path.join(folder, 'package.json')).resolve.paths(name) ?? [];
  for (const modules of candidates.filter((modules) => modules.startsWith(target))) {
    const at = await realpath(path.join(modules, name)).catch(() => undefined);
    if (at !== undefined) return at;
  }
  return undefined;
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** A bill of materials in CycloneDX 1.6. It has no time and no random number, so that equal contents have equal bills. */
function billOf(packages) {
  const [own, ...others] = [...packages.values()];
  const component = ({ name, version, license }, type) => ({
    type,
    'bom-ref': `pkg:npm/${encodeURIComponent(name).replace('%2F', '/')}@${version}`,
    name,
    version,
    purl: `pkg:npm/${encodeURIComponent(name).replace('%2F', '/')}@${version}`,
    ...(typeof license === 'string' && { licenses: [{ license: { name: license } }] }),
  });
  const byRef = new Map(
    others.map((manifest) => component(manifest, 'library')).map((part) => [part['bom-ref'], part]),
  );
  const components = [...byRef.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component(own, 'application') },
    components,
  };
}
