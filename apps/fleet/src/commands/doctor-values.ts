import { storedValueProblems } from '@svc/contract';
import { workloadSpec } from '@svc/contract/fleet';
import { countedFinding, type Finding, ok, storedValuesFinding, warning } from '@svc/http';
import { z } from 'zod';
import { countCritical } from '../catalog/advisories.ts';
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

/** The number of hosts that a finding names. */
const NAMED = 5;

interface Isolation {
  /** The number of deployments with containers on the default network of their host. */
  readonly deployments: number;
  /** Hosts with such deployments, the one with most of them first. */
  readonly hosts: readonly { readonly name: string; readonly count: number }[];
  /** Hosts whose engine does not isolate a network. */
  readonly open: readonly string[];
}

/** Counts the deployments with containers on the default network of their host, and finds engines that do not isolate networks. */
export async function checkIsolation({ client }: Database): Promise<Finding> {
  const [table] = await client.$queryRaw<{ exists: boolean }[]>`
    SELECT to_regclass('networks') IS NOT NULL AS exists`;
  if (!table?.exists) return ok('The fleet has no networks yet.');
  const [found] = await client.$queryRaw<[Isolation]>`
    WITH sharing AS (SELECT name, cardinality(default_network_ids) AS count FROM hosts WHERE cardinality(default_network_ids) > 0)
    SELECT (SELECT coalesce(sum(count), 0)::int FROM sharing) AS deployments,
      (SELECT coalesce(jsonb_agg(s), '[]') FROM (SELECT * FROM sharing ORDER BY count DESC, name LIMIT ${NAMED}) s) AS hosts,
      ARRAY(SELECT DISTINCT h.name FROM networks n JOIN hosts h ON h.id = n.host_id WHERE n.isolation = 'open' ORDER BY 1 LIMIT ${NAMED}) AS open`;
  const { deployments, hosts, open } = found;
  if (deployments === 0 && open.length === 0)
    return ok('All containers that the last checks listed are in isolated networks.');
  const lines = [
    ...(deployments > 0 ? [`Number of deployments on the default network of their host: ${deployments}.`] : []),
    ...hosts.map(({ name, count }) => `The host ${name} has ${count} of them.`),
    ...open.map((name) => `The engine of the host ${name} does not isolate a network of the fleet.`),
  ];
  return warning(lines.join('\n'), 'They continue. Restart these deployments to move them, and update these engines.');
}

/** Counts the deployments and applications of which the hub says that they have a critical flaw, unless somebody has acknowledged it. */
export async function checkAdvisories({ client }: Database): Promise<Finding> {
  const [table] = await client.$queryRaw<{ exists: boolean }[]>`
    SELECT to_regclass('catalog_application_advice') IS NOT NULL AS exists`;
  if (!table?.exists) return ok('The fleet does not know advisories about applications yet.');
  const { deployments, applications } = await countCritical(client);
  if (deployments + applications === 0) return ok('No critical advisory is about what runs.');
  const detail = `Critical advisories that nobody has acknowledged are about ${deployments} deployments and ${applications} applications.`;
  return warning(
    detail,
    'They continue. List them with the filter advisory=critical, and update, stop or acknowledge them.',
  );
}
