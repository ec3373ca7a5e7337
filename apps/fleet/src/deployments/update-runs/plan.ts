import { createHash } from 'node:crypto';
import type { Input, Reply } from '@svc/contract';
import { type fleetEndpoints, MAX_RUN_ITEMS } from '@svc/contract/fleet';
import { invalid, Problem, type TurnQueue } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { isCopyOf } from '../../resources/application-updates.ts';
import { readRow } from '../../resources/kind.ts';
import { applicationList, deploymentList } from '../../resources/list-rules.ts';
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

/** The plan of an upgrade of an application, and why it is not upgraded in a run. */
type ApplicationItem = Pick<Item, 'application_id' | 'name' | 'expected' | 'skipped' | 'refusals' | 'template'>;

interface RunPlanContext extends PlanServices {
  readonly database: Database;
  /** Plans the update of one deployment to its present template. */
  readonly planUpgrade: (context: PlanContext, row: DeploymentRow) => Promise<UpgradePlan>;
  /** Plans the upgrade of one application; undefined if it does not exist. */
  readonly planApplication: (context: PlanContext, id: string) => Promise<ApplicationItem | undefined>;
  readonly planQueue: TurnQueue;
  /** Identifies the caller in the queue. */
  readonly caller: string;
}

/**
 * Plans the update of each selected deployment and application, each when it is the turn of the caller.
 * @throws 400 without exactly one selection, for what does not exist, and for too many
 */
export async function planRun(context: RunPlanContext, body: Body): Promise<RunPlan> {
  const { database, candidates, defaultLimits, planQueue, planUpgrade, planApplication, caller } = context;
  const planned: Omit<Item, 'wave'>[] = [];
  for (const { kind, id } of await selected(database, body)) {
    const item = await planQueue.run(caller, () =>
      inPlan({ database, candidates, defaultLimits }, async (planning) => {
        if (kind === 'deployment') return planItem(planning, id, planUpgrade);
        const found = await planApplication(planning, id);
        return found && { ...NOT_PLANNED, ...found };
      }),
    );
    if (item) planned.push(item);
  }
  const items = inWaves(planned, body.wave);
  return { digest: digestOf(body.stop_after, items), items };
}

/** Outages and versions are not part of it: they depend on the rest, and on the state of other deployments. */
const digestOf = (stopAfter: number, items: readonly Item[]): string => {
  const applied = items.map(({ wave, expected, skipped, ...item }) => [idOf(item), wave, expected, skipped]);
  return createHash('sha256')
    .update(JSON.stringify([stopAfter, applied]))
    .digest('hex');
};

/** What is updated is divided into waves in their order. */
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
  const known = { deployment_id: id, application_id: null, name: row.name };
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

const NOT_PLANNED = {
  ...{ deployment_id: null, expected: null, refusals: [], template: null, outage: null },
} as const satisfies Partial<Item>;

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

/** A deployment or an application of a run. */
interface Selected {
  readonly kind: 'deployment' | 'application';
  readonly id: string;
}

/** The selected deployments and applications, by name or as they are given. */
async function selected({ client }: Database, body: Body): Promise<Selected[]> {
  const { template, application, label, deployment_ids: deployments, application_ids: applications } = body;
  const ids = deployments ?? applications;
  if ([template, application, label, ids].filter((given) => given !== undefined).length !== 1) {
    const message = 'is required if no application, label and ids are given, and must not be given with one of them';
    throw invalid([{ path: 'template', message }]);
  }
  if (ids === undefined) return selectedBy(client, body);
  const given = [...existing('deployment', deployments), ...existing('application', applications)];
  refuseExcess(given, { path: deployments ? 'deployment_ids' : 'application_ids', of: 'deployments and applications' });
  await refuseUnknown(client, given);
  return given.filter(({ id }, index) => given.findIndex((other) => other.id === id) === index);
}

const existing = (kind: Selected['kind'], ids: readonly string[] = []): (Selected & { readonly path: string })[] =>
  ids.map((id, index) => ({ kind, id, path: `${kind}_ids.${index}` }));

/** What a template, an application of the catalog or a label selects, and has an available update. Parts have none of their own. */
async function selectedBy(client: Database['client'], { template, application, label }: Body): Promise<Selected[]> {
  const states = ['available', 'held'] as const;
  const ofDeployments = Prisma.sql`SELECT 'deployment' AS kind, r.id, r.name FROM deployments r
    WHERE r.application_id IS NULL AND ${label ? deploymentList.filters.label(label) : deploymentList.filters.template([template ?? ''])}
      AND ${deploymentList.filters.update([...states])}`;
  const ofApplications = Prisma.sql`SELECT 'application' AS kind, r.id, r.name FROM applications r
    WHERE ${label ? applicationList.filters.label(label) : isCopyOf(application ?? '')} AND ${applicationList.filters.update([...states])}`;
  const both = Prisma.sql`${ofDeployments} UNION ALL ${ofApplications}`;
  const chosen = template !== undefined ? ofDeployments : application !== undefined ? ofApplications : both;
  const rows = await client.$queryRaw<Selected[]>`
    SELECT kind, id FROM (${chosen}) r ORDER BY name COLLATE "C" LIMIT ${MAX_RUN_ITEMS + 1}`;
  const path = template !== undefined ? 'template' : application !== undefined ? 'application' : 'label';
  refuseExcess(rows, { path, of: 'deployments and applications with an available update' });
  return rows;
}

/** @throws 400 for too many */
function refuseExcess(chosen: readonly Selected[], { path, of }: { readonly path: string; readonly of: string }): void {
  if (chosen.length <= MAX_RUN_ITEMS) return;
  throw invalid([{ path, message: `selects more than ${MAX_RUN_ITEMS} ${of}. Select at most ${MAX_RUN_ITEMS}` }]);
}

/** @throws 400 for an id that is no deployment, or no application */
async function refuseUnknown(
  client: Database['client'],
  given: readonly (Selected & { readonly path: string })[],
): Promise<void> {
  const ids = given.map(({ id }) => id);
  const rows = await client.$queryRaw<Selected[]>(
    Prisma.sql`SELECT 'deployment' AS kind, r.id FROM deployments r WHERE r.id = ANY(${ids}::uuid[])
      UNION ALL SELECT 'application', r.id FROM applications r WHERE r.id = ANY(${ids}::uuid[])`,
  );
  const known = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  const unknown = given.filter(({ kind, id }) => !known.has(`${kind} ${id}`));
  if (unknown.length === 0) return;
  throw invalid(unknown.map(({ kind, path }) => ({ path, message: `must be the id of ${A[kind]}` })));
}

const A = { deployment: 'a deployment', application: 'an application' } as const;

/** The id of the deployment or application of an item. */
export const idOf = ({ deployment_id, application_id }: Pick<Item, 'deployment_id' | 'application_id'>): string =>
  deployment_id ?? application_id ?? '';
