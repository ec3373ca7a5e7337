import { z } from 'zod';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import type { WaitsFor, WaitsUntil } from '../deployments/waits.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { readRows } from '../resources/kind.ts';
import type { ApplicationRow } from './rows.ts';

type Transaction = Prisma.TransactionClient;

/** The parts of a generation, as it stores them. */
export const storedParts = z.record(
  z.string(),
  z.object({
    deployment_id: z.string(),
    generation: z.int(),
    /** The parts that were decided before it: those that it needs, whose addresses it has, or whose volume it shares. */
    after: z.array(z.string()),
    /** The ids of its volumes by their mounts. */
    volumes: z.record(z.string(), z.string()).default({}),
  }),
);

/** A part of an application with its deployment. */
interface PartRow {
  readonly row: DeploymentRow;
  readonly name: string;
  readonly after: readonly string[];
}

/** The deployments of the parts of an application, also of those that its present generation no longer has. */
export const readPartRows = (
  transaction: Pick<Transaction, '$queryRaw'>,
  { part_ids }: Pick<ApplicationRow, 'part_ids'>,
): Promise<DeploymentRow[]> =>
  part_ids.length === 0 ? Promise.resolve([]) : readRows(transaction, deployments, part_ids);

/** The parts of an application, each after those that it needs. */
export async function readParts(
  transaction: Transaction,
  { id, generation, part_ids }: Pick<ApplicationRow, 'id' | 'generation' | 'part_ids'>,
): Promise<PartRow[]> {
  const stored = await transaction.applicationGeneration.findUniqueOrThrow({
    where: { application_id_generation: { application_id: id, generation } },
    select: { parts: true },
  });
  const known = storedParts.parse(stored.parts);
  const names = Object.keys(known);
  const left = new Map(
    (await readPartRows(transaction, { part_ids })).map((row): [string, PartRow] => {
      const name = row.part ?? '';
      const after = Object.hasOwn(known, name) ? (known[name]?.after ?? []) : [];
      return [name, { row, name, after }];
    }),
  );
  const ordered: PartRow[] = [];
  while (left.size > 0) {
    const remaining = [...left.values()].toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
    const next = remaining.find(({ after }) => !after.some((name) => left.has(name))) ?? remaining[0];
    if (!next) break;
    left.delete(next.name);
    ordered.push(next);
  }
  return ordered;
}

/** What each part waits for. */
type Waits = ReadonlyMap<string, WaitsFor['for']>;

/** Each part waits for those that were decided after it because of it, so that they end in reverse order. */
export const reverseWaits = (parts: readonly PartRow[], until: WaitsUntil): Waits =>
  new Map(
    parts.map(({ row, name }) => [
      row.id,
      parts.filter(({ after }) => after.includes(name)).map((dependent) => ({ id: dependent.row.id, until })),
    ]),
  );

/** Stores what deployments wait for. Those that wait for nothing begin at once. */
export async function storeWaits(transaction: Transaction, waits: Waits): Promise<void> {
  const since = new Date().toISOString();
  const rows = [...waits].map(([id, list]) => ({ id, waits_for: list.length > 0 ? { since, for: list } : null }));
  await transaction.$executeRaw`
    UPDATE deployments d SET waits_for = nullif(p.waits_for, 'null')
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) p(id uuid, waits_for jsonb) WHERE d.id = p.id`;
}
