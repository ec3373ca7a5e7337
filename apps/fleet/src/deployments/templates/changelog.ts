import { type ChangelogEntry, changelogEntry, type Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { WorkloadRevision } from '../plans/revision.ts';

type Plan = Reply<typeof fleetEndpoints.planDeployment>;

/** A change of a deployment from the revision that it runs to a copy of a template. */
export interface CopyChange {
  readonly present: WorkloadRevision;
  readonly workload: WorkloadRevision;
  readonly templateId: string;
}

/**
 * What the publisher says about the changes between the copy of a template that a deployment runs and the later one of a change; null
 * for an earlier one, and if the mirror does not know it. Of a copy whose revision is not known, only the last change is stated.
 */
export async function changelogOf(
  transaction: Pick<Prisma.TransactionClient, 'catalogChangelog'>,
  { present, workload: { templateRevision: to }, templateId }: CopyChange,
): Promise<Plan['changelog']> {
  if (to === null) return null;
  const from = present.templateId === templateId ? present.templateRevision : null;
  const row = await transaction.catalogChangelog.findUnique({ where: { template_id: templateId } });
  return row && changesBetween(row.entries, { from, to });
}

interface Between {
  /** The revision that was copied; null: not known. */
  readonly from: number | null;
  readonly to: number;
}

/** The entries of a stored changelog that are about the changes between two copies of an object. */
export function changesBetween(stored: unknown, { from, to }: Between): Plan['changelog'] {
  if (from !== null && from >= to) return null;
  const known = z
    .array(changelogEntry)
    .parse(stored)
    .filter(({ revision }) => revision <= to);
  if (known.length === 0) return null;
  if (from === null) return { entries: known.slice(0, 1), complete: false };
  const isEarlier = ({ revision }: ChangelogEntry) => revision <= from;
  return { entries: known.filter((entry) => !isEarlier(entry)), complete: known.some(isEarlier) };
}
