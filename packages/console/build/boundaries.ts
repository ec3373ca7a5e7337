import type { Plugin } from 'vite';

/** Rules for imports, which the build checks for the modules that it bundles. */
const forbidden = [
  { name: 'no-imports-between-consoles', from: /\/src\/hub\//, to: /\/src\/fleet\// },
  { name: 'no-imports-between-consoles', from: /\/src\/fleet\//, to: /\/src\/hub\// },
  { name: 'shared-imports-no-console', from: /\/src\/shared\//, to: /\/src\/(hub|fleet)\// },
  {
    // Except modules of pure functions that are written for browsers as well.
    name: 'only-types-of-other-packages',
    from: /\/console\/src\//,
    to: /\/(packages\/(?!console\/|convert\/|contract\/\w+\/(?:fleet\/deployments\/composed|shared\/placeholders)\.)|apps\/|infra\/)/,
  },
] as const;

/** The folders of each place. A folder imports only itself and those after it. */
const orders: Readonly<Record<string, readonly string[]>> = {
  '/src/shared/ui/': ['session', 'shell', 'lists', 'dialogs', 'feedback', 'markdown', 'display', 'controls'],
  '/src/fleet/': [
    'account',
    'administration',
    'catalog',
    'applications',
    'targets',
    'deployments',
    'storage',
    'advice',
  ],
  '/src/hub/': ['catalog', 'account', 'organization', 'administration', 'applications', 'templates', 'history'],
};

/** The name of the rule that an import breaks. */
function brokenRule(id: string, to: string): string | undefined {
  for (const [place, order] of Object.entries(orders)) {
    const importer = order.indexOf(folderIn(place, id));
    const imported = order.indexOf(folderIn(place, to));
    if (imported !== -1 && imported < importer) return 'order-of-folders';
  }
  return forbidden.find((rule) => rule.from.test(id) && rule.to.test(to))?.name;
}

/** The folder of a module in a place; empty if it is not in a folder of it. */
function folderIn(place: string, id: string): string {
  const at = id.indexOf(place);
  const [folder = '', file] = at === -1 ? [] : id.slice(at + place.length).split('/');
  return file === undefined ? '' : folder;
}

export const boundaries = (): Plugin => ({
  name: 'boundaries',
  apply: 'build',
  buildEnd() {
    for (const id of this.getModuleIds()) {
      const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(id) ?? {};
      for (const to of [...importedIds, ...dynamicallyImportedIds]) {
        const broken = brokenRule(id, to);
        if (broken) this.error(`${broken}: ${id} imports ${to}`);
      }
    }
  },
});
