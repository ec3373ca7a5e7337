import { createHash } from 'node:crypto';
import type { Input, Reply } from '@svc/contract';
import { type fleetEndpoints, MAX_RUN_ITEMS } from '@svc/contract/fleet';
import { invalid, Problem, type TurnQueue } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { DefaultLimits } from '../../render/defaults.ts';
import { readRow } from '../../resources/kind.ts';
import { deploymentList } from '../../resources/list-rules.ts';
import { presentUpdate } from '../../resources/updates.ts';
import { type DeploymentRow, deployments } from '../rows.ts';
import { digestOfUpgrade } from '../updates/upgrade.ts';

type Body = Input<typeof fleetEndpoints.planUpdateRun>['body'];
export type RunPlan = Reply<typeof fleetEndpoints.planUpdateRun>['plan'];
type Item = RunPlan['items'][number];

interface PlanContext {
  readonly database: Database;
  readonly defaultLimits: DefaultLimits;
  readonly planQueue: TurnQueue;
  /** Identifies the caller in the queue. */
  readonly caller: string;
}

/**
 * Plans the update of each selected deployment, each when it is the turn of the caller.
 * @throws 400 without exactly one selection, for deployments that do not exist, and for too many
 */
export async function planRun(context: PlanContext, body: Body): Promise<RunPlan> {
  const { database, planQueue, caller } = context;
  const ids = await selectedIds(database, body);
  const planned: Omit<Item, 'wave'>[] = [];
  for (const id of ids) {
    const item = await planQueue.run(caller, () =>
      database.client.$transaction((transaction) => planItem(transaction, id, context.defaultLimits)),
    );
    if (item) planned.push(item);
  }
  const items = inWaves(planned, body.wave);
  return {
    digest: createHash('sha256')
      .update(JSON.stringify([body.stop_after, items]))
      .digest('hex'),
    items,
  };
}

/** The deployments that are updated are divided into waves in their order. */
function inWaves(planned: readonly Omit<Item, 'wave'>[], size: number): Item[] {
  let count = 0;
  return planned.map((item) => ({ ...item, wave: item.skipped === null ? Math.floor(count++ / size) + 1 : null }));
}

/** The plan of an update; undefined if the deployment has been deleted meanwhile. */
async function planItem(
  transaction: Prisma.TransactionClient,
  id: string,
  defaultLimits: DefaultLimits,
): Promise<Omit<Item, 'wave'> | undefined> {
  try {
    const row = await readRow(transaction, deployments, id);
    const skipped = whySkipped(row);
    const expected = skipped === null ? await digestOfUpgrade(transaction, row, defaultLimits) : null;
    return { deployment_id: id, name: row.name, expected, skipped };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    if (error.status === 404) return undefined;
    const { name } = await readRow(transaction, deployments, id);
    return { deployment_id: id, name, expected: null, skipped: error.message };
  }
}

function whySkipped(row: DeploymentRow): string | null {
  if (row.deleting) return 'It is being deleted.';
  const update = presentUpdate({ ...row, automatic_hold: null }); // a run is the decision of a person
  return update === null ? 'No update is available.' : (update.held?.message ?? null);
}

/** The ids of the selected deployments, by name or as they are given. */
async function selectedIds({ client }: Database, { template, label, deployment_ids: ids }: Body): Promise<string[]> {
  if ([template, label, ids].filter((given) => given !== undefined).length !== 1) {
    const message = 'is required if neither label nor deployment_ids is given, and must not be given with one of them';
    throw invalid([{ path: 'template', message }]);
  }
  if (ids !== undefined) return existingIds(client, ids);
  const { filters } = deploymentList;
  const condition = label === undefined ? filters.template([template ?? '']) : filters.label(label);
  const rows = await client.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM deployments r WHERE ${condition} AND ${filters.update(['available', 'held'])}
    ORDER BY r.name COLLATE "C" LIMIT ${MAX_RUN_ITEMS + 1}`;
  if (rows.length <= MAX_RUN_ITEMS) return rows.map(({ id }) => id);
  const message = `selects more than ${MAX_RUN_ITEMS} deployments with an available update. Select at most ${MAX_RUN_ITEMS}`;
  throw invalid([{ path: label === undefined ? 'template' : 'label', message }]);
}

/** @throws 400 for an id that is no deployment */
async function existingIds(client: Database['client'], given: readonly string[]): Promise<string[]> {
  const ids = [...new Set(given)];
  const rows = await client.$queryRaw<{ id: string }[]>(
    Prisma.sql`SELECT r.id FROM deployments r WHERE r.id = ANY(${ids}::uuid[])`,
  );
  const known = new Set(rows.map(({ id }) => id));
  const unknown = given.flatMap((id, index) => (known.has(id) ? [] : [index]));
  if (unknown.length === 0) return ids;
  throw invalid(
    unknown.map((index) => ({ path: `deployment_ids.${index}`, message: 'must be the id of a deployment' })),
  );
}
