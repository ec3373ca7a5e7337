import type { Target } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../../generated/prisma/client.ts';
import { referencesOf, type StoredEnv } from '../../render/env.ts';
import { isAddress } from '../../render/references.ts';
import type { Admission } from '../../render/rendering.ts';
import { referencesIn } from '../../resources/references.ts';
import type { Draft } from '../draft.ts';

/** Maximum number of deployments outside of an application that a policy admits to a part. */
const MAX_ADMITTED = 5000;

export const admission = z.object({
  published: z.array(z.string()),
  bound: z.array(z.object({ deployment: z.string(), port: z.int() })),
});

/**
 * The ports that a part `r` publishes, as its application declares them now. A part that an update removes keeps those that it had
 * until it is deleted.
 */
const publishedPorts = Prisma.sql`(SELECT coalesce(jsonb_agg(DISTINCT concat(o->>'containerPort', '/', lower(coalesce(o->>'protocol', 'tcp')))), '[]')
  FROM (SELECT p->'ports' AS ports FROM application_generations g
          JOIN application_specs s ON s.application_id = g.application_id AND s.spec_version = g.spec_version,
          jsonb_array_elements(s.spec->'parts') p
        WHERE g.application_id = r.application_id AND p->>'name' = r.part ORDER BY g.generation DESC LIMIT 1) latest,
    jsonb_array_elements(latest.ports) o
  WHERE o->'publish' = 'true')`;

/** The deployments on the same cluster with the address of a deployment `r`, without those of its application. */
const boundDeployments = Prisma.sql`(SELECT coalesce(jsonb_agg(b ORDER BY b->>'deployment', b->'port'), '[]') FROM (
  SELECT DISTINCT jsonb_build_object('deployment', d.id, 'port', e.value->'port') AS b
  FROM deployments d, ${referencesIn(Prisma.sql`d.env`)} e
  WHERE d.bindings @> ARRAY['deployment/' || r.name] AND e.value->>'deployment' = r.name AND e.value->'port' IS NOT NULL
    AND d.cluster_id = r.cluster_id AND d.application_id IS DISTINCT FROM r.application_id AND NOT d.deleting
  ORDER BY b LIMIT ${Prisma.raw(`${MAX_ADMITTED}`)}) x)`;

/** Who reaches a deployment `r`; null unless it is a part of an application on a cluster. */
export const admissionColumn: Prisma.Sql = Prisma.sql`CASE WHEN r.cluster_id IS NOT NULL AND r.application_id IS NOT NULL
  THEN jsonb_build_object('published', ${publishedPorts}, 'bound', ${boundDeployments}) END`;

type Admitting = Pick<Draft, 'id' | 'target' | 'application'>;

/**
 * Who reaches a deployment, as it is stored; undefined unless it is a part of an application on a cluster. `published` are the ports
 * that a change of the application publishes.
 */
export async function readAdmission(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { id, target, application }: Admitting,
  published?: readonly string[],
): Promise<Admission | undefined> {
  if (target?.kind !== 'cluster' || !application) return undefined;
  const [row] = await reader.$queryRaw<{ admission: unknown }[]>`
    SELECT ${admissionColumn} AS admission FROM deployments r WHERE r.id = ${id}::uuid`;
  const stored = admission.nullable().parse(row?.admission ?? null) ?? { published: [], bound: [] };
  return published === undefined ? stored : { ...stored, published };
}

/** A deployment as it was decided. */
interface Decided {
  readonly draft: Pick<Draft, 'env' | 'application' | 'target' | 'before'>;
  readonly chosen: Pick<Target, 'kind'> | undefined;
}

/** Makes the parts of other applications due whose policies depend on deployments on clusters, which are or were bound to their addresses. */
export async function admit(
  transaction: Pick<Prisma.TransactionClient, '$executeRaw'>,
  decisions: readonly Decided[],
): Promise<void> {
  const bound = decisions.flatMap(({ draft: { env, before, application, target }, chosen }) =>
    (chosen ?? target)?.kind === 'cluster'
      ? addressedIn(env, before?.env ?? {}).map((name) => ({ name, application_id: application?.id ?? null }))
      : [],
  );
  if (bound.length === 0) return;
  await transaction.$executeRaw`
    UPDATE deployments d SET due_at = now() FROM jsonb_to_recordset(${JSON.stringify(bound)}::jsonb) AS b (name text, application_id uuid)
    WHERE d.name = b.name AND d.application_id IS NOT NULL AND d.application_id IS DISTINCT FROM b.application_id
      AND d.cluster_id IS NOT NULL AND d.due_at > now()`;
}

/** Makes the parts of an application on a cluster due, because another specification says which ports they publish. */
export const publish = (transaction: Pick<Prisma.TransactionClient, '$executeRaw'>, applicationId: string) =>
  transaction.$executeRaw`
    UPDATE deployments SET due_at = now()
    WHERE application_id = ${applicationId}::uuid AND cluster_id IS NOT NULL AND due_at > now()`;

/** The names of the deployments whose addresses environments have. */
const addressedIn = (...all: readonly StoredEnv[]): string[] => [
  ...new Set(
    all
      .flatMap((env) => Object.values(env))
      .flatMap((value) => referencesOf(value))
      .flatMap(([, reference]) => (isAddress(reference) ? reference.deployment : [])),
  ),
];
