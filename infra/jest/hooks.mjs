import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/wasm-typescript';

/** Packages of this repository resolve to their TypeScript sources: a test sees what is written, not what was built. */
const SOURCES = '@svc/source';
const globals = new URL('./globals.mjs', import.meta.url).href;

/** The published `@jest/globals` works inside Jest's own module system only. */
export function resolve(specifier, context, nextResolve) {
  if (specifier === '@jest/globals') return { url: globals, format: 'module', shortCircuit: true };
  return nextResolve(specifier, { ...context, conditions: [...context.conditions, SOURCES] });
}

/** Replaces types by blanks, so that lines and columns in stack traces are those of the source. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code } = transformSync(source, { mode: 'strip-only', module: true });
  return { format: 'module', source: code, shortCircuit: true };
}
