import { contentOf, type Reply } from '@svc/contract';
import { fleetBundle, fleetEndpoints } from '@svc/contract/fleet';
import { databaseFacts } from '@svc/database';
import { poolFacts } from '@svc/http';
import { readSyncState } from '../../catalog/sync-state.ts';
import type { Database } from '../../database/client.ts';
import { type RequestContext, route } from '../request/context.ts';

type Bundle = Reply<typeof fleetEndpoints.createSupportBundle>['bundle'];

/** What cannot be read is null, so that a bundle can be created while the database has problems. */
export const createSupportBundle = route(fleetEndpoints.createSupportBundle, async (context) => {
  const { database, diagnosis } = context;
  const facts = await diagnosis.bundle(async () => ({
    database: await databaseFacts((sql) => database.client.$queryRawUnsafe(sql)).then(
      (read) => ({ ...read, pools: poolFacts(database.pools) }),
      () => null,
    ),
    objects: await countObjects(database).catch(() => null),
    events: await countEvents(database).catch(() => null),
    sync: await syncOf(context).catch(() => null),
  }));
  return { bundle: { content: contentOf(fleetBundle), ...facts } };
});

const countObjects = ({ client }: Database) => client.$queryRaw<NonNullable<Bundle['objects']>>`
  SELECT 'deployments' AS kind, phase AS state, count(*)::int FROM deployments GROUP BY 2
  UNION ALL SELECT 'hosts', reachability::text, count(*)::int FROM hosts GROUP BY 2
  UNION ALL SELECT 'clusters', reachability::text, count(*)::int FROM clusters GROUP BY 2
  UNION ALL SELECT 'storage', phase::text, count(*)::int FROM volumes GROUP BY 2
  UNION ALL SELECT 'secrets', kind::text, count(*)::int FROM secrets GROUP BY 2
  UNION ALL SELECT 'workloads', 'all', count(*)::int FROM workloads
  UNION ALL SELECT 'users', CASE WHEN blocked_at IS NULL THEN source::text ELSE 'blocked' END, count(*)::int FROM users
    WHERE removed_at IS NULL GROUP BY 2
  UNION ALL SELECT 'tokens', CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
    ELSE 'active' END, count(*)::int FROM tokens GROUP BY 2
  ORDER BY 1, 2`;

const countEvents = ({ client }: Database) => client.$queryRaw<NonNullable<Bundle['events']>>`
  SELECT kind, severity, reason, count(*)::int, max(at) AS last_at FROM events
  WHERE at > now() - interval '7 days' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

async function syncOf({ database, settings, hubs }: RequestContext): Promise<Bundle['sync']> {
  const { url } = hubs.of(await settings.hub()) ?? {};
  const { status, last_success_at, stale_since, skipped } = await readSyncState(database, url);
  return { status, last_success_at, stale_since, skipped: skipped.total };
}
