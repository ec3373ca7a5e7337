import type { Input, Reply } from '@svc/contract';
import { type fleetEndpoints, MAX_OPEN_RUNS, updateItemStates, updateRunStates } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { by, isOneOf, type List, readPage } from '../../database/lists.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Creator } from '../../identity/mcp-tokens.ts';
import { isUuid } from '../../resources/kind.ts';
import { idOf, type RunPlan } from './plan.ts';

type Transaction = Prisma.TransactionClient;
type Reader = Pick<Transaction, '$queryRaw'>;
type Run = Reply<typeof fleetEndpoints.getUpdateRun>['run'];
type Query = Input<typeof fleetEndpoints.listUpdateRuns>['query'];

const selection = z.object({
  template: z.string().nullable().default(null),
  application: z.string().nullable().default(null),
  label: z.string().nullable().default(null),
  deployment_ids: z.array(z.string()).nullable().default(null),
  application_ids: z.array(z.string()).nullable().default(null),
});

const runRow = z.object({
  id: z.string(),
  created_at: z.date(),
  created_by: z.string(),
  selection,
  wave: z.int(),
  stop_after: z.int(),
  state: z.enum(updateRunStates),
  finished_at: z.date().nullable(),
  counts: z.object(Object.fromEntries(updateItemStates.map((state) => [state, z.int()]))),
});

const itemRow = z.object({
  deployment_id: z.string().nullable(),
  application_id: z.string().nullable(),
  name: z.string(),
  wave: z.int().nullable(),
  state: z.enum(updateItemStates),
  generation: z.int().nullable(),
  message: z.string(),
});

const countOf = (state: string) =>
  Prisma.sql`${state}::text, (SELECT count(*) FROM update_run_items i WHERE i.run_id = r.id AND i.state = ${state})`;

const runList: List<Query & { readonly sort: '-created_at' }> = {
  table: Prisma.sql`update_runs`,
  columns: Prisma.sql`r.id, r.created_at, r.created_by, r.selection, r.wave, r.stop_after, r.state, r.finished_at,
    jsonb_build_object(${Prisma.join(updateItemStates.map(countOf))}) AS counts`,
  rules: {
    filters: { state: isOneOf(Prisma.sql`r.state`) },
    sorts: { created_at: by(Prisma.sql`r.created_at`) },
  },
};

/** Each state of an item is a member of the counts. */
const presentRow = (row: unknown) => runRow.parse(row) as Omit<Run, 'items'>;

/** A page of runs, newest first. */
export async function readRuns(reader: Reader, query: Query) {
  const { rows, pagination } = await readPage(reader, runList, { ...query, sort: '-created_at' });
  return { runs: rows.map(presentRow), pagination };
}

/** A run with its items. @throws 404 */
export async function readRun(reader: Reader, id: string): Promise<Run> {
  if (!isUuid(id)) throw notFound();
  const [row] = await reader.$queryRaw<
    unknown[]
  >`SELECT ${runList.columns} FROM update_runs r WHERE r.id = ${id}::uuid`;
  if (row === undefined) throw notFound();
  const items = await reader.$queryRaw<unknown[]>`
    SELECT CASE WHEN kind = 'deployment' THEN deployment_id END AS deployment_id,
      CASE WHEN kind = 'application' THEN deployment_id END AS application_id, name, wave, state, generation, message
    FROM update_run_items
    WHERE run_id = ${id}::uuid ORDER BY position`;
  return { ...presentRow(row), items: items.map((item) => itemRow.parse(item)) };
}

/** Locks the creation of runs, so that their number stays within its bound. */
const lockRuns = (transaction: Transaction) =>
  transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('update runs'))`;

interface NewRun {
  readonly creator: Creator;
  readonly selection: Prisma.InputJsonObject;
  readonly wave: number;
  readonly stopAfter: number;
  readonly plan: {
    readonly items: readonly Pick<
      RunPlan['items'][number],
      'deployment_id' | 'application_id' | 'name' | 'wave' | 'expected' | 'skipped'
    >[];
  };
}

/** Stores a run, which a worker continues. @returns its id. @throws 409 if too many have not ended */
export async function insertRun(
  transaction: Transaction,
  { creator, plan, stopAfter, ...run }: NewRun,
): Promise<string> {
  await lockRuns(transaction);
  const open = await transaction.updateRun.count({ where: { state: 'running' } });
  if (open >= MAX_OPEN_RUNS) {
    const detail = `Nothing was started: ${open} update runs have not ended, and at most ${MAX_OPEN_RUNS} are allowed.`;
    throw new Problem('too_many_runs', detail);
  }
  const id = uuidv7();
  const isEmpty = plan.items.every(({ skipped }) => skipped !== null);
  const ended = isEmpty ? { state: 'completed', finished_at: new Date() } : {};
  await transaction.updateRun.create({ data: { id, ...creator, stop_after: stopAfter, ...run, ...ended } });
  await transaction.updateRunItem.createMany({
    data: plan.items.map(({ deployment_id, application_id, name, wave, expected, skipped }, position) => ({
      run_id: id,
      deployment_id: idOf({ deployment_id, application_id }),
      kind: deployment_id === null ? 'application' : 'deployment',
      position,
      name,
      wave,
      expected,
      state: skipped === null ? 'waiting' : 'skipped',
      message: skipped ?? '',
    })),
  });
  return id;
}

/** Ends a run, and skips the items that have not begun. A run that has ended stays as it is. */
export async function endRun(
  transaction: Transaction,
  id: string,
  { state, message }: { readonly state: 'completed' | 'stopped' | 'cancelled'; readonly message: string },
): Promise<void> {
  const ended = await transaction.updateRun.updateMany({
    where: { id, state: 'running' },
    data: { state, finished_at: new Date() },
  });
  if (ended.count === 0) return;
  await transaction.updateRunItem.updateMany({
    where: { run_id: id, state: 'waiting' },
    data: { state: 'skipped', message },
  });
}
