import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/**
 * Packages of this repository resolve to their TypeScript sources, so that tests run the current sources instead of
 * built files.
 */
const SOURCES = '@svc/source';
const globals = new URL('./globals.mjs', import.meta.url).href;

/** The published `@jest/globals` works only in the module system of Jest. */
export function resolve(specifier, context, nextResolve) {
  if (specifier === '@jest/globals') return { url: globals, format: 'module', shortCircuit: true };
  return nextResolve(specifier, { ...context, conditions: [...context.conditions, SOURCES] });
}

/** Replaces types with spaces, so that lines and columns in stack traces match the source. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const source = readFileSync(fileURLToPath(url), 'utf8');
  const file = `${cache}${createHash('sha256').update(version).update(source).digest('hex')}.js`;
  return { format: 'module', source: fromCache(file) ?? stripTypes(source, file), shortCircuit: true };
}

const cache = fileURLToPath(new URL('../../node_modules/.cache/strip-types/', import.meta.url));
const { version } = require('@swc/wasm-typescript/package.json');

function fromCache(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Strips the types, and stores the result in `file`. */
function stripTypes(source, file) {
  const { transformSync } = require('@swc/wasm-typescript'); // loaded only if a file is not in the cache
  const { code } = transformSync(source, { mode: 'strip-only', module: true });
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file); // another process may write the same file
  return code;
}
