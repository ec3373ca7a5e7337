import { contentOf } from '@svc/contract';
import { hubBundle, hubEndpoints } from '@svc/contract/hub';
import { databaseFacts } from '@svc/database';
import { poolFacts } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { route } from '../request/context.ts';

/** What cannot be read is null, so that a bundle can be created while the database has problems. */
export const createSupportBundle = route(hubEndpoints.createSupportBundle, async ({ database, diagnosis }) => ({
  bundle: {
    content: contentOf(hubBundle),
    ...(await diagnosis.bundle(async () => ({
      database: await databaseFacts((sql) => database.client.$queryRawUnsafe(sql)).then(
        (facts) => ({ ...facts, pools: poolFacts(database.pools) }),
        () => null,
      ),
      objects: await countObjects(database).catch(() => null),
    }))),
  },
}));

interface Count {
  readonly kind: string;
  readonly state: string;
  readonly count: number;
}

const countObjects = ({ client }: Database): Promise<Count[]> => client.$queryRaw<Count[]>`
  SELECT 'organizations' AS kind, status::text AS state, count(*)::int FROM organizations GROUP BY 2
  UNION ALL SELECT 'users', CASE WHEN blocked_at IS NULL THEN role::text ELSE 'blocked' END, count(*)::int FROM users GROUP BY 2
  UNION ALL SELECT 'api_keys', CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
    ELSE 'active' END, count(*)::int FROM api_keys GROUP BY 2
  UNION ALL SELECT 'categories', CASE WHEN is_private THEN 'private' ELSE 'public' END, count(*)::int FROM categories GROUP BY 2
  UNION ALL SELECT 'templates', CASE WHEN owner_org_id IS NULL THEN 'shared' ELSE 'owned' END, count(*)::int FROM templates GROUP BY 2
  UNION ALL SELECT 'access_requests', status::text, count(*)::int FROM access_requests GROUP BY 2
  UNION ALL SELECT 'webhooks', CASE WHEN disabled_at IS NULL THEN 'enabled' ELSE 'disabled' END, count(*)::int FROM webhooks GROUP BY 2
  ORDER BY 1, 2`;
