import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../request/context.ts';

interface Stats {
  readonly users: number;
  readonly organizations: number;
  readonly api_keys: number;
  readonly templates: number;
  readonly categories: number;
}

export const getStats = route(hubEndpoints.getStats, async ({ database: { client } }) => {
  const [stats] = await client.$queryRaw<Stats[]>`
      SELECT (SELECT count(*)::int FROM users) AS users, (SELECT count(*)::int FROM organizations) AS organizations,
             (SELECT count(*)::int FROM api_keys) AS api_keys, (SELECT count(*)::int FROM templates) AS templates,
             (SELECT count(*)::int FROM categories) AS categories`;
  if (!stats) throw new Error('the query for the counts returned no row');
  return stats;
});
