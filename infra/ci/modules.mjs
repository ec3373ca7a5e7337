// Prints how many modules each service has, and how many dependencies between them, from the real
// imports. A module is a folder of `src`, or a file outside its folders; `commands.ts` and
// `commands/` are one module. A dependency is a pair of modules of which one imports the other,
// types included. It is upward if it contradicts the order in `.dependency-cruiser.mjs`.
// With `--list`, the script also prints the dependencies of each module.
import { cruise } from 'dependency-cruiser';
import configuration, { layers } from '../../.dependency-cruiser.mjs';
import { root } from './sources.mjs';

process.chdir(root);
const lists = process.argv.includes('--list');

for (const [service, order] of Object.entries(layers)) {
  const files = await importsIn(`apps/${service}/src`);
  const modules = new Set(files.map(({ module }) => module));
  const dependencies = new Map([...modules].map((module) => [module, new Set()]));
  for (const { module, imports } of files) {
    for (const imported of imports) if (imported !== module) dependencies.get(module).add(imported);
  }
  const pairs = [...dependencies].flatMap(([module, imports]) => [...imports].map((imported) => [module, imported]));
  const isUpward = ([module, imported]) => order.indexOf(imported) < order.indexOf(module);
  const unordered = [...modules].filter((module) => !order.includes(module));
  const upward = pairs.filter((pair) => pair.every((module) => order.includes(module)) && isUpward(pair));
  console.log(`${service}: ${modules.size} modules, ${pairs.length} dependencies, ${upward.length} upward`);
  if (unordered.length > 0) console.log(`  not in the order: ${unordered.join(', ')}`);
  for (const [module, imported] of upward) console.log(`  upward: ${module} -> ${imported}`);
  if (lists) for (const [module, imports] of dependencies) console.log(`  ${module} -> ${[...imports].join(', ')}`);
}

/** The files of a folder, each with its module and the modules that it imports. */
async function importsIn(folder) {
  const { options } = configuration;
  const within = { ...options, includeOnly: { path: `^${folder}/` } };
  const { output } = await cruise([folder], within, options.enhancedResolveOptions);
  const moduleOf = (file) =>
    file
      .slice(folder.length + 1)
      .split('/')[0]
      .replace(/\.ts$/, '');
  return output.modules.map(({ source, dependencies }) => ({
    module: moduleOf(source),
    imports: dependencies.map(({ resolved }) => moduleOf(resolved)),
  }));
}
