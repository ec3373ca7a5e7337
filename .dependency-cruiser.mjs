// Boundaries as sentences. Run by `pnpm check`.
const source = '^(apps/[^/]+|packages/[^/]+|infra/[^/]+)/src';

export default {
  forbidden: [
    {
      name: 'apps-are-strangers',
      comment: 'Hub and fleet meet over HTTP only.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'contract-is-pure',
      comment: 'The contract knows no server, no database and no other package of ours.',
      severity: 'error',
      from: { path: '^packages/contract/src' },
      to: { path: '(^packages/(?!contract/)|^apps/|node_modules/(express|@prisma|pg)/)' },
    },
    {
      name: 'packages-form-a-line',
      comment: 'contract <- http <- auth <- apps; database stands beside auth.',
      severity: 'error',
      from: { path: '^packages/(http|auth|database)/src' },
      to: { path: '^(packages/(auth|database|testing)|apps)/', pathNot: '^packages/$1/' },
    },
    {
      name: 'testing-is-for-tests',
      comment: 'What is shipped never needs what tests are made of.',
      severity: 'error',
      from: { path: source, pathNot: '^packages/testing/' },
      to: { path: '^packages/testing/' },
    },
    {
      name: 'tests-are-leaves',
      comment: 'No source imports a test.',
      severity: 'error',
      from: { path: source },
      to: { path: '/test/' },
    },
    {
      name: 'deployed-services-need-no-infra',
      comment: 'The runner and the development identity provider never reach a deployed service.',
      severity: 'error',
      from: { path: '^(apps|packages)/[^/]+/src' },
      to: { path: '^infra/' },
    },
    {
      name: 'the-rule-of-visibility-is-the-catalogs',
      comment: 'Administration sees everything and never narrows by the rule.',
      severity: 'error',
      from: { path: '^apps/hub/src/admin/' },
      to: { path: '^apps/hub/src/catalog/visibility' },
    },
    {
      name: 'only-config-and-main-read-the-environment',
      comment: 'Rooms get what they need; presenters and rooms never reach for main or config.',
      severity: 'error',
      from: { path: '^apps/[^/]+/src/', pathNot: '^apps/[^/]+/src/(main|start)\\.ts$' },
      to: { path: '^apps/[^/]+/src/(main|start|config)\\.ts$' },
    },
    {
      name: 'no-circles',
      comment: 'A line, not a web.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      comment: 'An import that leads nowhere.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(/generated/|/dist/|/fixtures/)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@svc/source', 'import', 'node', 'default'],
    },
  },
};
