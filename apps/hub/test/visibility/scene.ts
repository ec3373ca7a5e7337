import { writeCatalog } from '../../src/database/catalog-write.ts';
import type { World } from '../world.ts';
import type { Caller, Kind, Owner, Privacy } from './table.ts';

/** The organizations and people of the table, with the Authorization header of each caller. */
export async function aCast(world: World) {
  const used = { last_used_at: new Date(Date.now() + 3_600_000) }; // as if just used: using the key writes nothing
  const granted = await world.anOrganization({}, used);
  const ungranted = await world.anOrganization({}, used);
  const another = await world.anOrganization({ status: 'suspended' });
  const revoked = await world.anOrganization({}, { revoked_at: new Date() });
  const expired = await world.anOrganization({}, { expires_at: new Date(Date.now() - 1000) });
  const aPerson = async (sub: string, role: 'user' | 'admin' | 'superadmin', org_id?: string) => {
    const membership = org_id === undefined ? {} : { org_id, org_role: 'org_admin' as const };
    await world.database.client.user.create({
      data: { iss: world.issuer.issuer, sub, role, role_set: true, ...membership },
    });
    return `Bearer ${await world.issuer.sign(sub)}`;
  };
  const authorizations: Record<Caller, string | undefined> = {
    nobody: undefined,
    member: await aPerson('cast-member', 'user', granted.id),
    admin: await aPerson('cast-admin', 'admin'),
    superadmin: await aPerson('cast-superadmin', 'superadmin'),
    granted: `Bearer ${granted.key}`,
    ungranted: `Bearer ${ungranted.key}`,
    suspended: `Bearer ${another.key}`,
    'revoked key': `Bearer ${revoked.key}`,
    'expired key': `Bearer ${expired.key}`,
  };
  const owners: Record<Owner, string | null> = {
    nobody: null,
    granted: granted.id,
    ungranted: ungranted.id,
    another: another.id,
  };
  return { granted, ungranted, owners, authorizations };
}
export type Cast = Awaited<ReturnType<typeof aCast>>;

export interface Scene {
  readonly mark: string;
  readonly categories: Readonly<Record<Privacy, { readonly id: string; readonly slug: string }>>;
  readonly things: readonly { readonly id: string; readonly slug: string; readonly kind: Kind | undefined }[];
}

/**
 * A template of each of the kinds, and the two categories, which `granted` holds grants for (one for an open category
 * shows nothing until that is private). Everything in it bears the scene's mark, by which the places look for it.
 */
export async function aScene(
  world: World,
  cast: Cast,
  { mark, kinds }: { readonly mark: string; readonly kinds: readonly Kind[] },
): Promise<Scene> {
  const categories = {
    open: await world.aCategory({ slug: `${mark}-open` }),
    private: await world.aCategory({ slug: `${mark}-private`, is_private: true }),
  };
  for (const category of Object.values(categories)) await world.aGrant(cast.granted, category);
  const made = await writeCatalog(world.database, ({ template }) =>
    template.createManyAndReturn({
      data: kinds.map((kind) => {
        const name = `${mark} ${kind}`;
        const slug = name.replace(/\W+/g, '-');
        const placed = scopeOf(cast, categories, kind);
        return { name, slug, ...placed, sort_name: name, search_text: name, tags: [mark, 'common'], is_featured: true };
      }),
      select: { id: true, slug: true, name: true },
    }),
  );
  const kindOf = (name: string) => kinds.find((kind) => name === `${mark} ${kind}`);
  const things = made.map(({ id, slug, name }) => ({ id, slug, kind: kindOf(name) }));
  return { mark, categories, things };
}

/** The columns that make a template one of a kind. */
export function scopeOf(cast: Cast, categories: Scene['categories'], kind: Kind) {
  const [publicity, privacy, owner] = kind.split(/, (?:of )?/) as ['public' | 'hidden', Privacy, Owner]; // as Kind is made
  return {
    is_public: publicity === 'public',
    category_id: categories[privacy].id,
    owner_org_id: cast.owners[owner],
  };
}
