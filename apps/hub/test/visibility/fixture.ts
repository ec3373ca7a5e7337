import { writeCatalog } from '../../src/database/catalog-write.ts';
import { type ObjectKind, tablesOf } from '../objects.ts';
import type { World } from '../world.ts';
import type { Caller, Kind, Owner, Privacy } from './table.ts';

/**
 * Creates the organizations and users of the table, with the Authorization header of each caller.
 */
export async function createCallers(world: World) {
  // A request does not update the row.
  const recentlyUsed = { last_used_at: new Date(Date.now() + 3_600_000) };
  const granted = await world.anOrganization({}, recentlyUsed);
  const ungranted = await world.anOrganization({}, recentlyUsed);
  const another = await world.anOrganization({ status: 'suspended' });
  const revoked = await world.anOrganization({}, { revoked_at: new Date() });
  const expired = await world.anOrganization({}, { expires_at: new Date(Date.now() - 1000) });
  const aUser = async (sub: string, role: 'user' | 'admin' | 'superadmin', org_id?: string) => {
    const membership = org_id === undefined ? {} : { org_id, org_role: 'org_admin' as const };
    await world.database.client.user.create({
      data: { iss: world.issuer.issuer, sub, role, role_set: true, ...membership },
    });
    return `Bearer ${await world.issuer.sign(sub)}`;
  };
  const authorizations: Record<Caller, string | undefined> = {
    anonymous: undefined,
    member: await aUser('fixture-member', 'user', granted.id),
    admin: await aUser('fixture-admin', 'admin'),
    superadmin: await aUser('fixture-superadmin', 'superadmin'),
    granted: `Bearer ${granted.key}`,
    ungranted: `Bearer ${ungranted.key}`,
    suspended: `Bearer ${another.key}`,
    'revoked key': `Bearer ${revoked.key}`,
    'expired key': `Bearer ${expired.key}`,
  };
  const owners: Record<Owner, string | null> = {
    none: null,
    granted: granted.id,
    ungranted: ungranted.id,
    another: another.id,
  };
  return { granted, ungranted, owners, authorizations };
}
export type Callers = Awaited<ReturnType<typeof createCallers>>;

export interface Fixture {
  readonly label: string;
  readonly categories: Readonly<Record<Privacy, { readonly id: string; readonly slug: string }>>;
  readonly rows: readonly { readonly id: string; readonly slug: string; readonly kind: Kind | undefined }[];
}

/**
 * Creates a template, or an application, of each kind in `kinds`, an open and a private category, and grants of
 * `granted` for both categories. The grant for the open category has an effect only when the
 * category becomes private. All slugs, names and tags contain the label of the fixture, so that
 * queries find them.
 */
export async function createFixture(
  world: World,
  callers: Callers,
  {
    label,
    kinds,
    message = '',
    of = 'templates',
  }: {
    readonly label: string;
    readonly kinds: readonly Kind[];
    readonly message?: string;
    readonly of?: ObjectKind;
  },
): Promise<Fixture> {
  const categories = {
    open: await world.aCategory({ slug: `${label}-open` }),
    private: await world.aCategory({ slug: `${label}-private`, is_private: true }),
  };
  for (const category of Object.values(categories)) await world.aGrant(callers.granted, category);
  const made = await writeCatalog(
    world.database,
    (tables) =>
      tablesOf(of, tables).template.createManyAndReturn({
        data: kinds.map((kind) => {
          const name = `${label} ${kind}`;
          const slug = name.replace(/\W+/g, '-');
          const placed = scopeOf(callers, categories, kind);
          return {
            name,
            slug,
            ...placed,
            sort_name: name,
            search_text: name,
            tags: [label, 'common'],
            is_featured: true,
          };
        }),
        select: { id: true, slug: true, name: true },
      }),
    { change: { author: null, author_id: null, message } },
  );
  const kindOf = (name: string) => kinds.find((kind) => name === `${label} ${kind}`);
  const rows = made.map(({ id, slug, name }) => ({ id, slug, kind: kindOf(name) }));
  return { label, categories, rows };
}

/** The columns that determine the kind of a template. */
export function scopeOf(callers: Callers, categories: Fixture['categories'], kind: Kind) {
  // The parts of Kind.
  const [publicity, privacy, owner] = kind.split(/, (?:owner )?/) as ['public' | 'hidden', Privacy, Owner];
  return {
    is_public: publicity === 'public',
    category_id: categories[privacy].id,
    owner_org_id: callers.owners[owner],
  };
}
