import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Prisma } from '../generated/prisma/client.ts';
import { keyOf } from '../render/secrets.ts';
import { refuseInUse } from '../resources/in-use.ts';
import type { SecretRow } from './rows.ts';

interface Row {
  readonly name: string;
  readonly refs: WorkloadSpec['secret_refs'];
}

/** What a deployment takes of a secret stays there while its values change. @throws 409 */
export async function refuseKeysInUse(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { name }: SecretRow,
  keys: readonly string[],
): Promise<void> {
  const rows = await transaction.$queryRaw<Row[]>`
    SELECT d.name, v.spec->'secret_refs' AS refs FROM workload_revisions v
    JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision
    WHERE v.secret_names @> ARRAY[${name}] ORDER BY d.name`;
  const without = rows.filter(({ refs }) => refs.some((ref) => ref.name === name && keyOf(ref, keys) === undefined));
  refuseInUse(without.map((row) => ({ kind: 'deployment', name: row.name })));
}
