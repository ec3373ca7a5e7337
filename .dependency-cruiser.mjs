// Rules for imports between packages and folders. `pnpm boundaries` checks them, as part of `pnpm check`.
const source = '^(apps/[^/]+|packages/[^/]+|infra/[^/]+)/src';

/**
 * The modules of each service, from the top: folders of its `src` and files outside them, without
 * extension. A module imports only from modules after it. `infra/ci/modules.mjs` counts them.
 */
export const layers = {
  fleet: [
    'main',
    'start',
    'app',
    'commands',
    'config',
    'mcp',
    'sources',
    'api',
    'webhooks',
    'changes',
    'reconciler',
    'plans',
    'applications',
    'deployments',
    'audit',
    'identity',
    'settings',
    'catalog',
    'engines',
    'resources',
    'trust',
    'render',
    'placement',
    'events',
    'database',
    'version',
  ],
  hub: [
    'main',
    'commands',
    'start',
    'app',
    'mcp',
    'api',
    'webhooks',
    'catalog',
    'icons',
    'audit',
    'organizations',
    'identity',
    'revision',
    'database',
    'config',
    'version',
  ],
};

const pathOf = (app, modules) => `^apps/${app}/src/(${modules.join('|')})(/|\\.ts$)`;

const layerRules = Object.entries(layers).flatMap(([app, modules]) =>
  modules.slice(1).map((module, index) => ({
    name: `${app}-${module}-imports-from-lower-modules-only`,
    comment: 'Modules of a service depend on each other in one direction, in the order of `layers`.',
    severity: 'error',
    from: { path: pathOf(app, [module]) },
    to: { path: pathOf(app, modules.slice(0, index + 1)) },
  })),
);

const withoutLayer = {
  path: '^apps/(fleet|hub)/src/',
  pathNot: [
    '^apps/(fleet|hub)/src/generated/',
    ...Object.entries(layers).map(([app, modules]) => pathOf(app, modules)),
  ],
};

/** The folders of packages, in the same order. */
const packageFolders = {
  contract: ['openapi', 'fleet', 'hub', 'applications', 'template', 'shared'],
  http: ['process', 'request', 'limits', 'response', 'outbound', 'observe'],
  testing: ['faults', 'hostile', 'browser', 'api', 'database', 'git', 'servers', 'engine', 'cluster', 'run'],
};

const packageRules = Object.entries(packageFolders).flatMap(([name, folders]) => [
  ...folders.slice(1).map((folder, index) => ({
    name: `${name}-${folder}-imports-from-lower-folders-only`,
    comment: 'Folders of a package depend on each other in one direction, in the order of `packageFolders`.',
    severity: 'error',
    from: { path: `^packages/${name}/src/${folder}/` },
    to: { path: `^packages/${name}/src/(${folders.slice(0, index + 1).join('|')})/` },
  })),
  {
    name: `${name}-has-listed-folders-only`,
    comment: 'A new folder of such a package must be added to `packageFolders`.',
    severity: 'error',
    from: {},
    to: { path: `^packages/${name}/src/[^/]+/`, pathNot: `^packages/${name}/src/(${folders.join('|')})/` },
  },
]);

export default {
  forbidden: [
    ...layerRules,
    ...packageRules,
    {
      name: 'every-module-that-is-imported-has-a-layer',
      comment: 'A new folder or file in `src` of a service must be added to `layers`.',
      severity: 'error',
      from: {},
      to: withoutLayer,
    },
    {
      name: 'every-module-that-imports-has-a-layer',
      comment: 'A new folder or file in `src` of a service must be added to `layers`.',
      severity: 'error',
      from: withoutLayer,
      to: {},
    },
    {
      name: 'no-imports-between-services',
      comment: 'The hub and the fleet communicate only over HTTP.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'client-has-no-code-of-the-services',
      comment:
        'The command line client communicates with the services over HTTP only. The conversion of files needs no service.',
      severity: 'error',
      from: { path: '^apps/cli/src/' },
      to: { path: '^(packages|bench)/', pathNot: '^packages/convert/' },
    },
    {
      name: 'contract-has-no-internal-dependencies',
      comment: 'The contract imports no server framework, no database library and no other package of this repository.',
      severity: 'error',
      from: { path: '^packages/contract/src' },
      to: { path: '(^packages/(?!contract/)|^apps/|node_modules/(express|@prisma|pg)/)' },
    },
    {
      name: 'package-layers',
      comment: 'auth, database and mcp import http, and http imports contract. None of them imports a higher layer.',
      severity: 'error',
      from: { path: '^packages/(http|auth|database|mcp)/src' },
      to: {
        path: '^(packages/(auth|database|delivery|documents|git|mcp|testing|trust)|apps)/',
        pathNot: '^packages/$1/',
      },
    },
    {
      name: 'delivery-imports-database-and-http',
      comment: 'delivery imports database and http, and no other package above contract.',
      severity: 'error',
      from: { path: '^packages/delivery/src' },
      to: { path: '^(packages/(auth|mcp|testing)|apps)/' },
    },
    {
      name: 'convert-is-independent',
      comment: 'The conversion of files runs in browsers and in the client, without anything of a service.',
      severity: 'error',
      from: { path: '^packages/convert/src' },
      to: { path: '^(packages/(?!convert/)|apps/)' },
    },
    {
      name: 'documents-is-independent',
      comment: 'Texts of documents are read without anything of a service.',
      severity: 'error',
      from: { path: '^packages/documents/src' },
      to: { path: '^(packages/(?!documents/)|apps/)' },
    },
    {
      name: 'git-imports-http-and-contract',
      comment: 'git reads repositories over HTTP. It imports no database and nothing of a service.',
      severity: 'error',
      from: { path: '^packages/git/src' },
      to: { path: '^(packages/(?!contract/|git/|http/)|apps/)' },
    },
    {
      name: 'trust-imports-contract-only',
      comment: 'trust is verified by several programs. It imports no server, no database and no network.',
      severity: 'error',
      from: { path: '^packages/trust/src' },
      to: { path: '(^packages/(?!contract/|trust/)|^apps/|node_modules/(express|@prisma|pg|undici)/)' },
    },
    {
      name: 'test-helpers-only-in-tests',
      comment: 'Sources do not import the test helpers.',
      severity: 'error',
      from: { path: source, pathNot: '^packages/testing/' },
      to: { path: '^packages/testing/' },
    },
    {
      name: 'schema-engine-only-in-development',
      comment: 'The schema engine of Prisma is not installed in production.',
      severity: 'error',
      from: { path: source, pathNot: '^packages/database/src/development(/|\\.ts$)' },
      to: { path: '^packages/database/src/development(/|\\.ts$)' },
    },
    {
      name: 'no-imports-of-tests',
      comment: 'Sources do not import test files.',
      severity: 'error',
      from: { path: source },
      to: { path: '/test/' },
    },
    {
      name: 'no-imports-of-infra',
      comment:
        'Services and packages do not import the local runner, the development identity provider or the benches.',
      severity: 'error',
      from: { path: '^(apps|packages)/[^/]+/src' },
      to: { path: '^(infra|bench)/' },
    },
    {
      name: 'no-imports-of-services-in-benches',
      comment: 'The benches start the services as programs.',
      severity: 'error',
      from: { path: '^bench/' },
      to: { path: '^apps/' },
    },
    {
      name: 'no-visibility-filter-in-admin',
      comment: 'Administrators see all rows, so administration does not import the visibility filter.',
      severity: 'error',
      from: { path: '^apps/hub/src/api/admin/' },
      to: { path: '^apps/hub/src/catalog/visibility' },
    },
    {
      name: 'configuration-only-in-main-and-start',
      comment: 'Only main, start and the diagnosis import configuration. Other files receive values as parameters.',
      severity: 'error',
      from: { path: '^apps/[^/]+/src/', pathNot: '^apps/[^/]+/src/(main|commands|commands/doctor|start)\\.ts$' },
      to: { path: '^apps/[^/]+/src/(main|start|config)\\.ts$' },
    },
    {
      name: 'no-cycles',
      comment: 'Files do not import each other in cycles.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved-imports',
      severity: 'error',
      comment: 'Every import resolves to a file or a package.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // The build of the consoles checks their imports (packages/console/build/boundaries.ts), because this parser does not read JSX.
    exclude: { path: '(/generated/|/dist/|/fixtures/|/\\.data/|^packages/console/src/)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@svc/source', 'import', 'node', 'default'],
    },
  },
};
