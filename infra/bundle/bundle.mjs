// Bundles a service, or the command line client, from its TypeScript sources.
//
//   node infra/bundle/bundle.mjs <hub|fleet|identity-provider|cli> [<folder>]
//
// The folder, by default the `dist` of the service, contains `main.js`, which runs the commands of
// the service, chunks that it loads when they are needed, and source maps. That of the client contains
// one file, `svc.mjs`. Types are not checked.
import { chmodSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';

const repository = path.resolve(import.meta.dirname, '../..');

/**
 * `entries` are further files that other code names: of a thread, or for tests. `external` packages
 * are not part of the bundle, because they contain native code, start threads with their own files,
 * or have files that the service reads.
 */
export const SERVICES = {
  hub: { folder: 'apps/hub', entries: {}, external: ['@svc/console', 'swagger-ui-dist'] },
  fleet: {
    folder: 'apps/fleet',
    entries: { start: 'src/start.ts', 'hashing-thread': 'src/identity/passwords/hashing-thread.ts' },
    external: ['@node-rs/argon2', '@svc/console', 'piscina', 'swagger-ui-dist'],
  },
  'identity-provider': { folder: 'infra/identity-provider', entries: {}, external: [] },
};

const CLIENT = 'apps/cli';

/** @returns the manifests of the packages whose code is in the bundle, by folder */
export async function bundle(service, target) {
  const { folder, entries, external } = SERVICES[service];
  const at = (file) => path.join(repository, folder, file);
  const inputs = Object.entries(entries).map(([name, file]) => [name, at(file)]);
  const build = await rolldown({
    input: { main: MAIN, ...Object.fromEntries(inputs) },
    cwd: repository,
    platform: 'node',
    external: external.map((name) => new RegExp(`^${name}(/|$)`)),
    resolve: { conditionNames: ['@svc/source', 'node'] },
    plugins: [mainOf(at('src/main.ts')), queryCompiler, httpWithoutWebSocket],
    checks: { eval: false, pluginTimings: false },
  });
  const { output } = await build.write({
    dir: target,
    cleanDir: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js', // in the same folder, so that relative paths are those of `src`
    assetFileNames: '[name]-[hash][extname]',
    comments: { legal: false, annotation: false, jsdoc: false }, // THIRD-PARTY-LICENSES.txt contains all licences
    minify: { compress: false, mangle: false, codegen: true }, // only white space; source maps need fewer lines then
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await build.close();
  return packagesOf(output.flatMap(({ moduleIds = [] }) => moduleIds));
}

/** @returns the manifests of the packages whose code is in the file, by folder */
export async function bundleClient(target) {
  const build = await rolldown({
    input: path.join(repository, CLIENT, 'src/main.ts'),
    cwd: repository,
    platform: 'node',
    plugins: [builtInWhenUsed],
    checks: { eval: false, pluginTimings: false },
  });
  const { output } = await build.write({
    dir: target,
    cleanDir: true,
    entryFileNames: 'svc.mjs',
    codeSplitting: false, // modules that are imported later are evaluated later
    banner: '#!/usr/bin/env node',
    comments: { legal: false, annotation: false, jsdoc: false },
    minify: { compress: false, mangle: false, codegen: true },
  });
  await build.close();
  chmodSync(path.join(target, 'svc.mjs'), 0o755);
  return packagesOf(output.flatMap(({ moduleIds = [] }) => moduleIds));
}

const MAIN = 'virtual:main';

/**
 * The first file that runs. It prepares the process before Node loads any other file. Compiled code
 * is stored where NODE_COMPILE_CACHE states, or beside the bundle if this folder is writable; it
 * remains valid if both are moved. Source maps are read only when the stack of an error is.
 */
const mainOf = (program) => ({
  name: 'main',
  resolveId: (id) => (id === MAIN ? id : undefined),
  load: (id) =>
    id === MAIN
      ? `import { enableCompileCache } from 'node:module';
         import path from 'node:path';
         process.setSourceMapsEnabled(true);
         if (process.env.NODE_COMPILE_CACHE === undefined) {
           process.env.NODE_COMPILE_CACHE_PORTABLE = '1'; // Node 22 has no such option
           enableCompileCache(path.join(import.meta.dirname, 'compile-cache'));
         }
         await import(${JSON.stringify(program)});`
      : undefined,
});

/** The query compiler of Prisma as a file, instead of text that Node would have to parse. */
const queryCompiler = {
  name: 'query-compiler',
  load: {
    filter: { id: /query_compiler_\w+\.\w+\.wasm-base64\.mjs$/ },
    handler(id) {
      const [, base64] = /const wasm = "([^"]+)"/.exec(readFileSync(id, 'utf8')) ?? [];
      if (base64 === undefined) throw new Error(`${id} has another form than expected`);
      const source = Buffer.from(base64, 'base64');
      const reference = this.emitFile({ type: 'asset', name: 'query-compiler.wasm', source });
      return `import { readFileSync } from 'node:fs';
              export const wasm = readFileSync(new URL(import.meta.ROLLDOWN_FILE_URL_${reference}));`;
    },
  },
};

const WEB_SOCKET = ['CloseEvent', 'MessageEvent', 'WebSocket'];

/**
 * `node:http` without the client for WebSockets. An import of `node:http` would load it with Node's
 * own copy of undici, which takes as much time as a tenth of the start.
 */
const httpWithoutWebSocket = {
  name: 'http-without-web-socket',
  resolveId: { filter: { id: /^(node:)?http$/ }, handler: () => '\0http' },
  load: {
    filter: { id: /^\0http$/ },
    handler() {
      const members = Object.getOwnPropertyNames(http).filter((name) => !WEB_SOCKET.includes(name));
      return `const http = process.getBuiltinModule('node:http');
              export default http;
              export const { ${members.join(', ')} } = http;`;
    },
  },
};

/**
 * Built-in modules that Node loads when the module that imports them is evaluated. As static imports of
 * the only file of the client they would be loaded at each start, such as those for prompts. commander
 * imports `child_process` for commands that are other programs, of which the client has none.
 */
const builtInWhenUsed = {
  name: 'built-in-when-used',
  resolveId: {
    filter: { id: /^(node:)?[a-z_/]+$/ },
    handler(id, importer) {
      if (!isBuiltin(id)) return undefined;
      if (id === 'node:child_process' && importer.includes('/node_modules/commander/')) return NOTHING;
      return `\0${id.startsWith('node:') ? id : `node:${id}`}`;
    },
  },
  load: {
    filter: { id: /^\0node:/ },
    handler(id) {
      if (id === NOTHING) return 'export default undefined;';
      const name = id.slice(1);
      const members = Object.keys(process.getBuiltinModule(name)).filter((member) => IDENTIFIER.test(member));
      // Rolldown removes the members that nothing uses.
      const exported = members.map((member) => `export const ${member} = /* @__PURE__ */ $get('${member}');`);
      return `const $module = /* @__PURE__ */ process.getBuiltinModule('${name}');
              const $get = (member) => $module[member];
              export default $module;
              ${exported.join('\n')}`;
    },
  },
};

const NOTHING = '\0node:nothing';
const IDENTIFIER = /^(?!default$)[A-Za-z]\w*$/;

/** The packages with these files, without those of this repository. */
export function packagesOf(files) {
  const found = new Map();
  for (const file of files) {
    const folder = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
    if (folder === undefined || found.has(folder)) continue;
    found.set(folder, JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')));
  }
  return found;
}

if (process.argv[1] === import.meta.filename) {
  const [service, target] = process.argv.slice(2);
  const folderOf = (own) => (target ? path.resolve(target) : path.join(repository, own, 'dist'));
  if (service === 'cli') await bundleClient(folderOf(CLIENT));
  else if (Object.hasOwn(SERVICES, service)) await bundle(service, folderOf(SERVICES[service].folder));
  else {
    console.error(`Usage: node infra/bundle/bundle.mjs <${Object.keys(SERVICES).join('|')}|cli> [<folder>]`);
    process.exit(2);
  }
}
