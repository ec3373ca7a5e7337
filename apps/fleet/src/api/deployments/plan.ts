import type { Input, Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { given, invalid } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { type Decision, decide } from '../../deployments/decision.ts';
import { type Draft, draftOf, runsFrom, runsOf } from '../../deployments/draft.ts';
import {
  differencesOf,
  manifestOf,
  presentManifest,
  type Renderable,
  renderingOf,
  type Shown,
} from '../../deployments/manifest.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { redacted } from '../../render/secrets.ts';
import { readRow } from '../../resources/kind.ts';
import { columnsOfTarget, refuseUnknownTarget } from '../../resources/targets.ts';
import { baseOf } from '../../resources/workloads.ts';
import { route } from '../context.ts';
import { refuseUnclear } from '../deployments.ts';
import { isSame } from './changes.ts';

type Transaction = Prisma.TransactionClient;
type Body = Input<typeof fleetEndpoints.planDeployment>['body'];

/** The same decision as of the real thing, with nothing stored and nothing locked. */
export const planDeployment = route(fleetEndpoints.planDeployment, ({ database }, { body }) =>
  database.client.$transaction(async (transaction) => {
    const { deployment_id } = body;
    if (deployment_id === undefined) return planNew(transaction, body);
    return planChange(transaction, await readRow(transaction, deployments, deployment_id), body);
  }),
);

async function planNew(transaction: Transaction, body: Body): Promise<Reply<typeof fleetEndpoints.planDeployment>> {
  refuseUnclear(body);
  const {
    name = 'planned',
    template,
    target = null,
    replicas = 1,
    env = {},
    volumes = {},
    desired_state: desired = 'running',
  } = body;
  await refuseUnknownTarget(transaction, target, { hold: false });
  const runs =
    template === undefined
      ? await runsOf(transaction, body.workload_id ?? '', body.revision)
      : runsFrom(await baseOf(transaction, template));
  const draft: Draft = { id: uuidv7(), name, runs, isNewRevision: true, replicas, env, volumes, target, desired };
  const decision = await decide(transaction, draft);
  const after = await manifestAfter(transaction, decision, { generation: 1, restarted_at: null });
  return presentPlan(decision, { before: [], after });
}

/** What a deployment is for good, and what changes nothing of what runs. */
const NOT_CHANGED = ['workload_id', 'template', 'target', 'name', 'labels'] as const;

async function planChange(transaction: Transaction, row: DeploymentRow, body: Body) {
  const errors = NOT_CHANGED.filter((member) => body[member] !== undefined).map((path) => ({
    path,
    message: 'is no part of what a change of a deployment changes: leave it out',
  }));
  if (errors.length > 0) throw invalid(errors);
  const runs = await runsOf(transaction, row.workload_id, body.revision ?? row.revision);
  const { desired_state: desired = row.desired_state } = body;
  const isNewRevision = runs.revision !== row.revision;
  const changed = given(body, ['replicas', 'env', 'volumes']);
  const draft = draftOf(row, { ...changed, runs, isNewRevision, desired });
  const decision = await decide(transaction, draft);
  const before = await presentManifest(transaction, row);
  // What is so already is left alone, whatever would be decided of it now.
  if (isSame(row, draft)) return presentPlan({ ...decision, refusals: [] }, { before, after: before });
  const { restarted_at } = row;
  const after = await manifestAfter(transaction, decision, { generation: row.generation + 1, restarted_at });
  return presentPlan(decision, { before, after });
}

/** What is refused is not rendered: it may lack what a manifest is made of. */
async function manifestAfter(
  transaction: Transaction,
  decision: Decision,
  at: Pick<Renderable, 'generation' | 'restarted_at'>,
): Promise<Shown[]> {
  if (decision.refusals.length > 0) return [];
  const { chosen, draft, env, mounted, secrets } = decision;
  const target = chosen ?? draft.target;
  const rendering = renderingOf({ draft, env, mounted, ...at }, redacted(secrets));
  return manifestOf(transaction, { rendering, target, gpus: chosen?.gpus ?? [] });
}

function presentPlan(
  { refusals, placement, chosen, draft }: Decision,
  { before, after }: { readonly before: Shown[]; readonly after: Shown[] },
) {
  const target = chosen ?? draft.target;
  const isRefused = refusals.length > 0;
  return {
    ok: !isRefused,
    refusals: refusals.map((refusal) => ({ ...refusal })),
    placement: {
      target: target && columnsOfTarget(target),
      candidates: placement.judged.map(({ kind, id, name, fits, reasons }) => ({
        kind,
        id,
        name,
        fits,
        reasons: [...reasons],
      })),
    },
    manifest: after,
    changes: isRefused ? [] : differencesOf(before, after),
  };
}
