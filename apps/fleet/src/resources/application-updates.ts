// The upgrades that are available to applications: that of the catalog has changed since it was copied.
import type { UpdateState } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { applicationHash } from './application-copies.ts';
import { storedFailure, storedHold } from './updates.ts';

/**
 * The application of the mirror of which an application `r` is a copy, with what identifies both. `OFFSET 0`: the hash is computed
 * once.
 */
const present = Prisma.sql`(
  SELECT c.id, c.document->>'version' AS version, c.document->>'status' AS status, c.document->>'status_message' AS status_message,
    ${applicationHash(Prisma.sql`c.document`)} AS hash, s.catalog_hash AS copied, g.inputs, g.overrides, g.uses
  FROM application_generations g
    JOIN application_specs s ON s.application_id = g.application_id AND s.spec_version = g.spec_version
    JOIN catalog_applications c ON c.id = s.catalog_id
  WHERE g.application_id = r.id AND g.generation = r.generation OFFSET 0) p`;

/**
 * The last failed generation of an application `r` that had the content of the present application `p` of the catalog with the present
 * inputs, overrides and uses: an upgrade leads to it. Few applications have failed generations.
 */
const failedUpgrade = Prisma.sql`(
  SELECT jsonb_build_object('generation', f.generation, 'reason', f.outcome_reason, 'at', f.outcome_at)
  FROM application_generations f
    JOIN application_specs s ON s.application_id = f.application_id AND s.spec_version = f.spec_version
  WHERE f.application_id = r.id AND f.outcome = 'failed' AND f.inputs = p.inputs AND f.overrides = p.overrides AND f.uses = p.uses AND s.catalog_id = p.id AND s.catalog_hash = p.hash
  ORDER BY f.generation DESC LIMIT 1)`;

/** What a hold of an application `r` is about: its present state, and the application `p` of the catalog. */
const subjectOfHold = Prisma.sql`jsonb_build_object('from', r.updates->>'from', 'generation', r.generation, 'hash', p.hash)`;

const validHold = Prisma.sql`CASE WHEN r.update_held @> ${subjectOfHold} THEN r.update_held END`;

const isHeld = Prisma.sql`(coalesce(p.status, '') = 'blocked' OR ${failedUpgrade} IS NOT NULL OR ${validHold} IS NOT NULL)`;

const storedUpgrade = z.object({
  version: z.string().nullable(),
  state: z.enum(['current', 'outdated']),
  status: z.string().nullable(),
  status_message: z.string().nullable(),
  failed: storedFailure,
  hold: storedHold,
});

/** The present application of the catalog of an application, as a list shows it; null if it is not in the mirror. */
export const storedPresent = storedUpgrade.nullable();

/** The same of an application `r`. */
export const presentUpgrade = Prisma.sql`(
  SELECT jsonb_build_object('version', p.version, 'state', CASE WHEN p.hash = p.copied THEN 'current' ELSE 'outdated' END,
    'status', p.status, 'status_message', p.status_message,
    'failed', CASE WHEN p.hash <> p.copied THEN ${failedUpgrade} END, 'hold', CASE WHEN p.hash <> p.copied THEN ${validHold} END)
  FROM ${present})`;

/** Whether an application `r` is a copy of the application of the mirror with a slug. */
export const isCopyOf = (slug: string): Prisma.Sql =>
  Prisma.sql`EXISTS (SELECT FROM ${present} JOIN catalog_applications c ON c.id = p.id WHERE c.slug = ${slug})`;

/** The ids of the applications that are outdated copies. The hash of each application of the catalog is computed once. */
const outdated = Prisma.sql`(
  WITH present AS MATERIALIZED (
    SELECT c.id, ${applicationHash(Prisma.sql`c.document`)} AS hash FROM catalog_applications c
    WHERE EXISTS (SELECT FROM application_specs s WHERE s.catalog_id = c.id))
  SELECT a.id
  FROM present JOIN application_specs s ON s.catalog_id = present.id AND s.catalog_hash <> present.hash
    JOIN application_generations g ON g.application_id = s.application_id AND g.spec_version = s.spec_version
    JOIN applications a ON a.id = g.application_id AND a.generation = g.generation)`;

/** Whether an application `r` is one of them. It is checked before what is more expensive. */
export const isOutdatedCopy = Prisma.sql`r.id = ANY (ARRAY ${outdated})`;

/** Whether an application `r` has an available upgrade in one of these states. */
export const hasUpgrade = (states: readonly UpdateState[]): Prisma.Sql =>
  states.includes('available') && states.includes('held')
    ? isOutdatedCopy
    : Prisma.sql`(${isOutdatedCopy} AND EXISTS (SELECT FROM ${present} WHERE ${isHeld} = ${states.includes('held')}))`;

/** Whether the policy of an application `r` permits automatic upgrades. A literal, so that an index on the condition is used. */
const isAutomaticApplication = Prisma.sql`r.updates->>'from' = 'application'`;

/**
 * Whether an application `r` has an upgrade that its policy permits, and that nothing but the decision about it can hold. What was
 * held is examined again after `interval`, because what is refused can become possible.
 */
export const hasAutomaticUpgrade = (
  interval: Prisma.Sql,
): Prisma.Sql => Prisma.sql`(${isAutomaticApplication} AND EXISTS (
  SELECT FROM ${present} WHERE p.hash <> p.copied AND coalesce(p.status, '') <> 'blocked' AND ${failedUpgrade} IS NULL
    AND coalesce((${validHold}->>'at')::timestamptz < now() - ${interval}, true)))`;

/** Stores why an automatic upgrade of an application is not made. */
export const storeUpgradeHold = (
  client: Pick<Prisma.TransactionClient, '$executeRaw'>,
  id: string,
  { reason, message }: { readonly reason: string; readonly message: string },
) => client.$executeRaw`
  UPDATE applications a SET update_held = held.value
  FROM (
    SELECT ${subjectOfHold} || jsonb_build_object('reason', ${reason}::text, 'message', ${message}::text, 'at', now()) AS value
    FROM applications r CROSS JOIN LATERAL ${present} WHERE r.id = ${id}::uuid) held
  WHERE a.id = ${id}::uuid`;

/** The upgrade that is available to an application; null if there is none. */
export function presentAvailableUpgrade(upgrade: z.output<typeof storedPresent>) {
  if (upgrade?.state !== 'outdated') return null;
  return { to_version: upgrade.version, held: heldBy(upgrade) };
}

function heldBy({ status, status_message, failed, hold }: z.output<typeof storedUpgrade>) {
  if (status === 'blocked') {
    const why = status_message ? `: ${status_message}` : '.';
    return {
      reason: 'ApplicationBlocked',
      message: `The application is blocked by the hub${why}`,
      at: null,
      generation: null,
    };
  }
  if (failed === null)
    return hold && { reason: hold.reason, message: hold.message, at: new Date(hold.at), generation: null };
  const { generation, reason, at } = failed;
  const on = at === null ? '' : ` on ${at.slice(0, 10)}`;
  const message = `Generation ${generation} with the same content failed${on} (${reason ?? 'Failed'}).`;
  return { reason: 'Failed', message, at: at === null ? null : new Date(at), generation };
}
