// Preloaded into every Node process of Jest. Node strips the types of TypeScript files itself.
import * as nodeModule from 'node:module';
import { FLOOR } from '../local/bootstrap/node-version.mjs';

if (!nodeModule.registerHooks) throw new Error(`Tests need Node ${FLOOR} or later, but this is ${process.version}.`);

/**
 * Packages of this repository resolve to their TypeScript sources, so that tests run the current sources instead of
 * built files.
 */
const SOURCES = '@svc/source';
const globals = new URL('./globals.mjs', import.meta.url).href;

nodeModule.registerHooks({
  /** The published `@jest/globals` works only in the module system of Jest. */
  resolve(specifier, context, nextResolve) {
    if (specifier === '@jest/globals') return { url: globals, format: 'module', shortCircuit: true };
    return nextResolve(specifier, { ...context, conditions: [...context.conditions, SOURCES] });
  },
});

// Compiled code and stripped types stay on disk for the next process.
nodeModule.enableCompileCache(new URL('../../node_modules/.cache/compile', import.meta.url).pathname);
