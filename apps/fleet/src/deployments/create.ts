import type { Input } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { type ChangeContext, recorded } from '../audit/change.ts';
import { authorOf } from '../audit/recording.ts';
import { noteTemplateUse } from '../catalog/template-uses.ts';
import { route } from '../context.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { decideAlone } from '../resources/decisions.ts';
import { readRow } from '../resources/rows.ts';
import { refuseUnknownTarget } from '../resources/target-rows.ts';
import { type Base, baseOf, insertRevision } from '../workloads/revisions.ts';
import { decide } from './decide.ts';
import { type Draft, runsFrom, runsOf } from './draft.ts';
import { PENDING, recordGeneration } from './generations.ts';
import { refuse } from './refusals.ts';
import { madeBefore, rememberMade, repeatableOf } from './repeats.ts';
import { deployments, presentDeployment } from './rows.ts';
import { allocate, allocationOf } from './store.ts';

type Body = Input<typeof fleetEndpoints.createDeployment>['body'];

/** Decided, placed, allocated and stored in one transaction, or refused with every reason and nothing stored. */
export const createDeployment = route(fleetEndpoints.createDeployment, async (context, { body }) => {
  refuseUnclear(body);
  const repeatable = repeatableOf(context, body);
  const reply = await recorded(context, fleetEndpoints.createDeployment, async (transaction) => {
    await decideAlone(transaction);
    const before = repeatable && (await madeBefore(transaction, repeatable));
    const id = before ?? (await make({ ...context, transaction }, body));
    if (before !== undefined) await refuseGone(transaction, before);
    if (repeatable && before === undefined) await rememberMade(transaction, repeatable, id);
    return { deployment: presentDeployment(await readRow(transaction, deployments, id)) };
  });
  context.sync.tellUses();
  return reply;
});

/** @throws 404 where what the request made the first time was deleted since */
async function refuseGone(transaction: Prisma.TransactionClient, id: string): Promise<void> {
  if (await transaction.deployment.findUnique({ where: { id } })) return;
  throw new Problem('not_found', 'What this Idempotency-Key made was deleted: use another key to make it again.');
}

/** @throws 400 unless it says what to run, once */
export function refuseUnclear(body: Pick<Body, 'workload_id' | 'template' | 'revision'>): void {
  const { workload_id, template, revision } = body;
  if ((workload_id === undefined) === (template === undefined)) {
    throw invalid([{ path: 'workload_id', message: 'or template must say what to run: one of the two' }]);
  }
  if (template !== undefined && revision !== undefined) {
    throw invalid([{ path: 'revision', message: 'goes with workload_id only: a template makes a new workload' }]);
  }
}

async function make(context: ChangeContext, body: Body): Promise<string> {
  const { transaction, principal } = context;
  const { name, labels, template, target, desired_state } = body;
  await refuseUnknownTarget(transaction, target);
  const author = authorOf(principal);
  const base = template === undefined ? undefined : await baseOf(transaction, template);
  const runs = base ? runsFrom(base) : await runsOf(transaction, body.workload_id ?? '', body.revision);
  const { replicas, env, volumes } = body;
  const draft: Draft = {
    id: uuidv7(),
    name,
    runs,
    isNewRevision: true,
    replicas,
    env,
    volumes,
    target,
    desired: desired_state,
  };
  const decision = await decide(transaction, draft);
  refuse(decision.refusals);
  if (base) await makeWorkload(context, draft, base);
  await transaction.deployment.create({
    data: {
      ...{ id: draft.id, name, labels, replicas, env, desired_state, created_by: author },
      ...{ workload_id: runs.workloadId, revision: runs.revision },
      ...allocationOf(decision),
      ...(desired_state === 'stopped' ? { phase: 'stopped' } : PENDING),
    },
  });
  await allocate(transaction, decision, author);
  await recordGeneration(context, {
    id: draft.id,
    operation: 'create',
    message: `${replicas} of revision ${runs.revision}`,
  });
  await noteTemplateUse(transaction, runs);
  return draft.id;
}

/** A template becomes a workload with the deployment's name. */
async function makeWorkload(
  { transaction, principal }: ChangeContext,
  { name, runs }: Draft,
  base: Base,
): Promise<void> {
  const author = authorOf(principal);
  await transaction.workload.create({ data: { id: runs.workloadId, name, created_by: author } });
  await insertRevision(transaction, { workloadId: runs.workloadId, revision: 1, base, said: {}, author });
}
