import { storedValueProblems } from '@svc/contract';
import { workloadSpec } from '@svc/contract/fleet';
import { countedFinding, type Finding, ok, storedValuesFinding } from '@svc/http';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { problemsOfUses, readRestrictedUsers } from '../resources/secret-uses.ts';

/** The number of workloads that one statement reads. */
const PAGE = 100;

/** The members with rules for new values. */
const members = { memory_request: true, vram_request: true, env: true, env_schema: true, secret_refs: true } as const;
const row = z.object({ id: z.string(), name: z.string(), spec: workloadSpec.pick(members).partial() });

/** Finds the workloads whose latest revision has values that can no longer be written. */
export async function checkStoredValues({ client }: Database): Promise<Finding> {
  const [table] = await client.$queryRaw<{ exists: boolean }[]>`
    SELECT to_regclass('workload_revisions') IS NOT NULL AS exists`;
  return storedValuesFinding('workload', async (after) => {
    if (!table?.exists) return [];
    const rows = await client.$queryRaw<unknown[]>`
      SELECT r.id, r.name, (SELECT jsonb_object_agg(key, value) FROM jsonb_each(v.spec)
        WHERE key IN (${Prisma.join(Object.keys(members))})) AS spec
      FROM workloads r JOIN workload_revisions v ON v.workload_id = r.id AND v.revision = r.revision
      WHERE ${after}::uuid IS NULL OR r.id > ${after}::uuid ORDER BY r.id LIMIT ${PAGE}`;
    return rows.map((each) => {
      const { id, name, spec } = row.parse(each);
      return { id, name, problems: storedValueProblems({ name, ...spec }) };
    });
  });
}

/** Finds the deployments that use secrets in a way that the secrets do not permit. */
export async function checkSecretUses({ client }: Database): Promise<Finding> {
  const [column] = await client.$queryRaw<{ exists: boolean }[]>`
    SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('secrets') AND attname = 'purposes') AS exists`;
  if (!column?.exists) return ok('The secrets have no purposes yet.');
  const found = (await readRestrictedUsers(client)).flatMap(({ name, workload, uses }) => {
    const [first] = problemsOfUses(workload, uses);
    return first === undefined ? [] : [`The deployment ${name} ${first}`];
  });
  return countedFinding({
    counted: 'Number of deployments that use secrets in a way that the secrets do not permit',
    found,
    none: 'All deployments use secrets as the secrets permit.',
    remedy: 'They continue with their revision. Correct the secrets or the workloads before you change their revision.',
  });
}
