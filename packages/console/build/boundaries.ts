import type { Plugin } from 'vite';

/** Rules for imports, which the build checks for the modules that it bundles. */
const forbidden = [
  { name: 'no-imports-between-consoles', from: /\/src\/hub\//, to: /\/src\/fleet\// },
  { name: 'no-imports-between-consoles', from: /\/src\/fleet\//, to: /\/src\/hub\// },
  { name: 'shared-imports-no-console', from: /\/src\/shared\//, to: /\/src\/(hub|fleet)\// },
  {
    name: 'only-types-of-other-packages',
    from: /\/console\/src\//,
    to: /\/(packages\/(?!console\/)|apps\/|infra\/)/,
  },
] as const;

export const boundaries = (): Plugin => ({
  name: 'boundaries',
  apply: 'build',
  buildEnd() {
    for (const id of this.getModuleIds()) {
      const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(id) ?? {};
      for (const to of [...importedIds, ...dynamicallyImportedIds]) {
        const broken = forbidden.find((rule) => rule.from.test(id) && rule.to.test(to));
        if (broken) this.error(`${broken.name}: ${id} imports ${to}`);
      }
    }
  },
});
