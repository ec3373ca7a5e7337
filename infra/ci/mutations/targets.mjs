// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the lines of sources contain template strings

/**
 * The files that state who may see and do what, with the nearest tests of each. `generated.mjs` changes their operators and
 * conditions, one at a time. With `guards`, `pnpm mutations` also removes each guard of the file.
 */
export const targets = [
  {
    file: 'apps/hub/src/catalog/visibility.ts',
    tests: { directory: 'apps/hub', patterns: ['test/visibility/', 'test/sync/model/', 'test/catalog/'] },
  },
  {
    file: 'apps/hub/src/catalog/changes/since.ts',
    tests: { directory: 'apps/hub', patterns: ['test/sync/', 'test/catalog/updates'] },
  },
  {
    file: 'apps/hub/src/identity/policy.ts',
    tests: { directory: 'apps/hub', patterns: ['test/identity/', 'test/refusals'] },
  },
  {
    file: 'apps/hub/src/identity/authenticate.ts',
    tests: {
      directory: 'apps/hub',
      patterns: [
        'test/identity/',
        'test/refusals',
        'test/catalog/organization',
        'test/visibility/changes',
        'test/catalog/usage',
      ],
    },
  },
  {
    file: 'apps/fleet/src/identity/policy.ts',
    tests: { directory: 'apps/fleet', patterns: ['test/auth/policy', 'test/refusals', 'test/resources/roles'] },
  },
  {
    file: 'apps/fleet/src/identity/authenticate.ts',
    tests: {
      directory: 'apps/fleet',
      patterns: [
        'test/refusals',
        'test/tokens/',
        'test/sign-in/bearer',
        'test/sign-in/removed',
        'test/users/provider-users',
      ],
    },
  },
  { file: 'packages/auth/src/jwt.ts', tests: { directory: 'packages/auth', patterns: ['test/jwt', 'test/key'] } },
  ...['jws', 'keyring', 'keys', 'kind', 'members', 'parts', 'scope', 'statement', 'verify'].map((name) => ({
    file: `packages/trust/src/${name}.ts`,
    guards: true,
    tests: { directory: 'packages/trust', patterns: ['test/'] },
  })),
];

/**
 * Changes without an effect on behaviour, with the reason. `source` is the changed line, without indentation, and
 * `change` is the change as `generated.mjs` prints it.
 */
export const equivalents = [
  ...inFile('apps/hub/src/catalog/changes/since.ts', [
    {
      reason:
        'A part with exactly the maximum of bytes ends one template earlier, and the parts make the same response.',
      source: 'return index < templates && (total <= maxBytes || index === 0);',
      changes: ['<= → <'],
    },
    {
      reason:
        'The end of a range only bounds what one statement examines. Without an end, or with one that is a template earlier, the response is the same.',
      source: 'SELECT id FROM ${table} WHERE id > ${after}::uuid ORDER BY id OFFSET ${RANGE - 1} LIMIT 1`);',
      changes: ['> → <=', '> → >='],
    },
    {
      reason: 'The statement that reads the documents repeats the condition, so that more rows are only examined.',
      source: 'AND ${isIn(changes)}',
      changes: ['AND → OR'],
    },
  ]),
  ...inFile('apps/hub/src/catalog/visibility.ts', [
    {
      reason:
        'A grant that shows the template in no other way starts not before the reason for which the viewer sees it, and the earliest reason counts.',
      source: 'CASE WHEN ${grantable(viewer.orgId)} AND ${granted(viewer.orgId)}',
      changes: ['AND → OR'],
    },
    ...[
      { source: 'const shown = Prisma.sql`SELECT id FROM categories WHERE shown_at > ${since}`;', changes: ['> → >='] },
      {
        source:
          'const newPrivacy = Prisma.sql`SELECT category_id FROM category_privacy WHERE valid_from > ${since} AND valid_to IS NULL`;',
        changes: ['> → >=', 'AND → OR'],
      },
      {
        source: 'WHERE org_id = ${orgId}::uuid AND valid_from > ${since} AND valid_to IS NULL`;',
        changes: ['> → >=', 'AND → OR'],
      },
      {
        source: 'Prisma.sql`(t.updated_at > ${since} OR t.category_id = ANY (ARRAY(${categories})))`;',
        changes: ['> → >='],
      },
      {
        source: 'const scopes = Prisma.sql`SELECT ${kind.id} FROM ${kind.scopes} WHERE valid_to > ${since}`;',
        changes: ['> → >='],
      },
      {
        source:
          'const endedPrivacy = inCategories(Prisma.sql`SELECT category_id FROM category_privacy WHERE valid_to > ${since}`);',
        changes: ['> → >='],
      },
      {
        source:
          'SELECT category_id FROM catalog_access_periods WHERE org_id = ${viewer.orgId}::uuid AND valid_to > ${since}`)}`;',
        changes: ['> → >=', 'AND → OR'],
      },
    ].map((each) => ({
      ...each,
      reason:
        'Narrows less. The queries compare the stamps again, so that they find the same templates from more rows.',
    })),
  ]),
  ...inFile('apps/hub/src/identity/authenticate.ts', [
    {
      reason: 'Only saves work: the verification rejects a token that does not have the form of a JWT.',
      source: 'const claims = isJwtShaped(token) ? await verifyJwt(token) : undefined;',
      changes: ['isJwtShaped(token) → true'],
    },
    {
      reason: 'Differs only in the microsecond of the expiry.',
      source:
        'WHERE k.key_hash = ANY (${[...hashes]}) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`;',
      changes: ['> → >='],
    },
  ]),
  ...inFile('apps/fleet/src/identity/authenticate.ts', [
    {
      reason: 'Only saves work: the verification rejects a token that does not have the form of a JWT.',
      source: 'const principal = isJwtShaped(token) ? await services.sessions.verify(token) : undefined;',
      changes: ['isJwtShaped(token) → true'],
    },
  ]),
  ...inFile('packages/auth/src/jwt.ts', [
    {
      reason: 'Differs only for a token that expires exactly at the limit, to the fraction of a millisecond.',
      source:
        'if (parsed.data.exp > Date.now() / 1000 + maxHours * 3600 + TOLERANCE_SECONDS) throw longLived(maxHours);',
      changes: ['> → >='],
    },
  ]),
  ...inFile('packages/trust/src/jws.ts', [
    {
      reason: 'The library refuses a JWS with another algorithm than the allowed one, too.',
      source: "if (header.alg !== key.alg) throw new Untrusted('signature_invalid', 'alg is not that of the key');",
      changes: ['header.alg !== key.alg → false'],
    },
  ]),
];

/** The entries of a file, one for each change of a line. */
function inFile(file, lines) {
  return lines.flatMap(({ changes, ...line }) => changes.map((change) => ({ file, ...line, change })));
}
