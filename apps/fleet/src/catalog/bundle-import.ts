import { Problem, unavailable } from '@svc/http';
import type { Database } from '../database/client.ts';
import { type Bundle, inspectBundle, sourceOf } from './bundle.ts';
import type { ApplicationSource, CatalogSource } from './hub.ts';
import { EmptyCatalog, LeaseLost } from './mirror.ts';
import { type CatalogTimings, takeLease } from './schedule.ts';
import { BUNDLE_SOURCE } from './sync-state.ts';

interface ImportContext {
  readonly database: Database;
  readonly hasHub: boolean;
  readonly isStopped: () => boolean;
  readonly timings: CatalogTimings;
  /** Replaces the mirror with a full walk of a source, as the owner of the lease. */
  readonly replace: (
    source: CatalogSource,
    ofApplications: ApplicationSource | undefined,
    owner: string,
  ) => Promise<void>;
}

/**
 * Replaces the mirror with the catalog of a bundle, as a full walk does: templates that it does not contain are removed with its last
 * page. Templates and keyrings are verified as from a hub.
 * @throws 422 `bundle_invalid`; 409 `hub_configured`, `other_organization`, `bundle_outdated` unless forced; 409 `found_empty`
 */
export async function importBundle(
  { database, hasHub, isStopped, timings, replace }: ImportContext,
  bytes: Uint8Array,
  { force }: { readonly force: boolean },
): Promise<void> {
  const bundle = await inspectBundle(bytes);
  if (hasHub && !force) {
    throw new Problem(
      'hub_configured',
      'The fleet mirrors the catalog of a hub, which a bundle would replace until the next sync.',
    );
  }
  const lease = await takeLease(database, isStopped, timings);
  if (!lease) throw unavailable('The fleet is shutting down. Nothing was imported.');
  const { source, listApplicationUpdates, close } = sourceOf(bundle);
  const ofApplications = bundle.hasApplications
    ? { source: BUNDLE_SOURCE, client: { listApplicationUpdates } }
    : undefined;
  const { owner } = lease;
  try {
    if (!force) await refuseUnexpected(database, bundle);
    await replace(source, ofApplications, owner);
    // A hub that the fleet gets later need not know the cursor.
    await database.client.$executeRaw`
      UPDATE catalog_sync SET source = ${BUNDLE_SOURCE}, cursor = NULL, next_at = NULL WHERE lease_owner = ${owner}::uuid`;
  } catch (error) {
    if (error instanceof LeaseLost) throw unavailable('Another sync has replaced the import. Import the bundle again.');
    if (!(error instanceof EmptyCatalog)) throw error;
    throw new Problem(
      'found_empty',
      'The bundle contains no templates or no applications, and those of the mirror were kept. Import it once more to remove them.',
    );
  } finally {
    await close();
    await lease.release();
  }
}

/** @throws 409 for a bundle of another organization, or one that is older than the mirror */
async function refuseUnexpected({ client }: Database, { organization, checkedAt }: Bundle): Promise<void> {
  const [row] = await client.$queryRaw<
    { checked_at: Date | null; organization_id: string | null; slug: string | null }[]
  >`
    SELECT checked_at, organization->>'id' AS organization_id, organization->>'slug' AS slug FROM catalog_sync`;
  if (!row || row.checked_at === null) return; // nothing was mirrored
  if (row.organization_id !== (organization?.id ?? null)) {
    const nameOf = (slug: string | null | undefined) => (slug == null ? 'anonymous callers' : slug);
    throw new Problem(
      'other_organization',
      `The bundle is for ${nameOf(organization?.slug)}, and the mirror for ${nameOf(row.slug)}. Nothing was changed.`,
    );
  }
  if (checkedAt < row.checked_at) {
    throw new Problem(
      'bundle_outdated',
      `The bundle shows the catalog of ${checkedAt.toISOString()}, and the mirror that of ${row.checked_at.toISOString()}. Nothing was changed.`,
    );
  }
}
