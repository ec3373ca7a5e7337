/**
 * The files that state who may see and do what, with the nearest tests of each. `generated.mjs` changes their operators and
 * conditions, one at a time.
 */
export const targets = [
  {
    file: 'apps/hub/src/catalog/visibility.ts',
    tests: { directory: 'apps/hub', patterns: ['test/visibility/', 'test/sync/model/', 'test/catalog/categories'] },
  },
  {
    file: 'apps/hub/src/catalog/changes/since.ts',
    tests: { directory: 'apps/hub', patterns: ['test/sync/', 'test/catalog/updates'] },
  },
  {
    file: 'apps/hub/src/identity/policy.ts',
    tests: { directory: 'apps/hub', patterns: ['test/refusals', 'test/identity/'] },
  },
  {
    file: 'apps/hub/src/identity/authenticate.ts',
    tests: {
      directory: 'apps/hub',
      patterns: ['test/identity/', 'test/visibility/changes', 'test/refusals', 'test/catalog/usage'],
    },
  },
  {
    file: 'apps/fleet/src/identity/policy.ts',
    tests: { directory: 'apps/fleet', patterns: ['test/refusals', 'test/auth/', 'test/resources/roles'] },
  },
  {
    file: 'apps/fleet/src/identity/authenticate.ts',
    tests: { directory: 'apps/fleet', patterns: ['test/tokens/', 'test/auth/', 'test/refusals'] },
  },
  { file: 'packages/auth/src/jwt.ts', tests: { directory: 'packages/auth', patterns: ['test/jwt', 'test/key'] } },
];

/**
 * Changes without an effect on behaviour, with the reason. `source` is the changed line, without indentation, and
 * `change` is the change as `generated.mjs` prints it.
 */
export const equivalents = [];
