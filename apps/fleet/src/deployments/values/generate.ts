import type { GeneratedValue } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import type { Prisma } from '../../generated/prisma/client.ts';
import { randomText, sealValue } from '../../resources/sealed-values.ts';
import { internalVariables } from '../../resources/workloads.ts';
import type { Draft } from '../draft.ts';

type Transaction = Pick<Prisma.TransactionClient, 'sealedValue' | '$queryRaw'>;

/**
 * Generates the values of a deployment that do not exist yet. Its revision of the workload is
 * stored. @returns the new values as text, for the response to the caller who requested them,
 * without those of internal variables
 */
export async function generateValues(
  transaction: Transaction,
  sealer: Sealer,
  { id: deployment_id, env, workload }: Pick<Draft, 'id' | 'env' | 'workload'>,
): Promise<GeneratedValue[]> {
  const wanted = Object.entries(env).flatMap(([name, value]) =>
    typeof value === 'object' && 'generate' in value ? [{ name, id: value.id, length: value.generate }] : [],
  );
  if (wanted.length === 0) return [];
  const existing = await transaction.sealedValue.findMany({ where: { deployment_id }, select: { id: true } });
  const ids = new Set(existing.map(({ id }) => id));
  const missing = wanted.filter(({ id }) => !ids.has(id));
  if (missing.length === 0) return [];
  const internal = await readInternalVariables(transaction, workload);
  const generated: GeneratedValue[] = [];
  for (const { name, id, length } of missing) {
    const value = randomText(length);
    const revealable = !internal.includes(name);
    await sealValue(transaction, sealer, { id, owner: { deployment_id }, variable: name, value, revealable });
    if (revealable) generated.push({ name, value });
  }
  return generated;
}

/** The names of the internal variables of a revision of a workload. */
export async function readInternalVariables(
  reader: Pick<Transaction, '$queryRaw'>,
  { workloadId, revision }: { readonly workloadId: string; readonly revision: number },
): Promise<readonly string[]> {
  const [row] = await reader.$queryRaw<{ names: string[] }[]>`
    SELECT ${internalVariables} AS names FROM workload_revisions v
    WHERE v.workload_id = ${workloadId}::uuid AND v.revision = ${revision}`;
  return row?.names ?? [];
}
