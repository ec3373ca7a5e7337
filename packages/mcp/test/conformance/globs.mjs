// Preloaded into the conformance suite, which imports a function of `fs` that Node 20 does not have
// and that it does not need here.
import { register } from 'node:module';

const shim = `export * from 'node:fs'; export { default } from 'node:fs';
export const globSync = () => { throw new Error('globs need Node 22'); };`;
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL.includes('/conformance/dist/')
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(shim)}`)}, shortCircuit: true }
    : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
