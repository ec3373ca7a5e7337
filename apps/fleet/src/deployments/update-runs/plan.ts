import { createHash } from 'node:crypto';
import type { Input, Reply } from '@svc/contract';
import { type fleetEndpoints, MAX_RUN_ITEMS } from '@svc/contract/fleet';
import { invalid, Problem, type TurnQueue } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { readRow } from '../../resources/kind.ts';
import { deploymentList } from '../../resources/list-rules.ts';
import { presentUpdate } from '../../resources/updates.ts';
import { inPlan, type PlanContext, type PlanServices } from '../plans/several.ts';
import { type DeploymentRow, deployments } from '../rows.ts';

type Body = Input<typeof fleetEndpoints.planUpdateRun>['body'];
export type RunPlan = Reply<typeof fleetEndpoints.planUpdateRun>['plan'];
type Item = RunPlan['items'][number];
type UpgradePlan = Pick<
  Reply<typeof fleetEndpoints.planDeployment>,
  'ok' | 'refusals' | 'digest' | 'held' | 'template' | 'outage'
>;

interface RunPlanContext extends PlanServices {
  readonly database: Database;
  /** Plans the update of one deployment to its present template. */
  readonly planUpgrade: (context: PlanContext, row: DeploymentRow) => Promise<UpgradePlan>;
  readonly planQueue: TurnQueue;
  /** Identifies the caller in the queue. */
  readonly caller: string;
}

/**
 * Plans the update of each selected deployment, each when it is the turn of the caller.
 * @throws 400 without exactly one selection, for deployments that do not exist, and for too many
 */
export async function planRun(context: RunPlanContext, body: Body): Promise<RunPlan> {
  const { database, candidates, defaultLimits, planQueue, planUpgrade, caller } = context;
  const ids = await selectedIds(database, body);
  const planned: Omit<Item, 'wave'>[] = [];
  for (const id of ids) {
    const item = await planQueue.run(caller, () =>
      inPlan({ database, candidates, defaultLimits }, (planning) => planItem(planning, id, planUpgrade)),
    );
    if (item) planned.push(item);
  }
  const items = inWaves(planned, body.wave);
  return { digest: digestOf(body.stop_after, items), items };
}

/** Outages and versions are not part of it: they depend on the rest, and on the state of other deployments. */
const digestOf = (stopAfter: number, items: readonly Item[]): string => {
  const applied = items.map(({ deployment_id, wave, expected, skipped }) => [deployment_id, wave, expected, skipped]);
  return createHash('sha256')
    .update(JSON.stringify([stopAfter, applied]))
    .digest('hex');
};

/** The deployments that are updated are divided into waves in their order. */
function inWaves(planned: readonly Omit<Item, 'wave'>[], size: number): Item[] {
  let count = 0;
  return planned.map((item) => ({ ...item, wave: item.skipped === null ? Math.floor(count++ / size) + 1 : null }));
}

/** The plan of an update; undefined if the deployment has been deleted meanwhile. */
async function planItem(
  context: PlanContext,
  id: string,
  planUpgrade: RunPlanContext['planUpgrade'],
): Promise<Omit<Item, 'wave'> | undefined> {
  const row = await readIfExists(context.transaction, id);
  if (!row) return undefined;
  const known = { deployment_id: id, name: row.name };
  const skip = (skipped: string): Omit<Item, 'wave'> => ({ ...NOT_PLANNED, ...known, skipped });
  if (row.deleting) return skip('It is being deleted.');
  if (row.application_name !== null) return skip(`It is a part of the application ${row.application_name}.`);
  const update = presentUpdate({ ...row, automatic_hold: null }); // a run is the decision of a person
  if (update === null) return skip('No update is available.');
  try {
    const plan = await planUpgrade(context, row);
    const skipped = update.held?.message ?? whySkipped(plan);
    const { refusals, template, outage, digest } = plan;
    return { ...known, skipped, refusals, template, outage, expected: skipped === null ? digest : null };
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return skip(error.message);
  }
}

const NOT_PLANNED = { expected: null, refusals: [], template: null, outage: null } as const satisfies Partial<Item>;

async function readIfExists(transaction: Prisma.TransactionClient, id: string): Promise<DeploymentRow | undefined> {
  try {
    return await readRow(transaction, deployments, id);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}

/** An update that is refused or held needs a person who decides about this deployment. */
function whySkipped({ ok, refusals, held }: UpgradePlan): string | null {
  if (ok) return held?.message ?? null;
  return `The update is refused: ${refusals.map(({ path, message }) => `${path} ${message}`).join('; ')}.`;
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
