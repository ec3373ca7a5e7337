import { HTTP_PORTS } from '@svc/contract';
import type { GeneratedValue } from '@svc/contract/fleet';
import type { Database } from '../../database/client.ts';
import { targetOf } from '../../resources/targets.ts';
import type { Allocation } from '../candidates.ts';
import {
  type DecidedChange,
  type DeploymentChange,
  type DeploymentContext,
  decideChange,
  storeChange,
} from '../changes.ts';
import { type Decision, type DecisionContext, readAllocation } from '../decision.ts';
import type { DraftContext, NewDeploymentRequest } from '../draft.ts';
import type { DeploymentRow } from '../rows.ts';
import { allocationOf } from '../store.ts';
import { trustedIn } from '../templates/trust.ts';
import { type DecidedCreation, decideCreation, storeCreations } from './creation.ts';
import { type DecidedDeletion, decideDeletion, storeDeletion } from './deletion.ts';
import { NOTHING_PENDING, type Pending, type PendingDeployment } from './pending.ts';

/** What decisions are made in and from. */
export type PlanContext = DecisionContext & DraftContext;

export interface PlanServices extends Omit<PlanContext, 'transaction' | 'pending'> {
  readonly database: Pick<Database, 'client'>;
}

/**
 * Makes decisions that are not stored. All of them see one moment of the database, which accepts no
 * write in this transaction. It holds no lock that a change waits for. `timeout` is in milliseconds.
 */
export const inPlan = <T>(
  { database, ...services }: PlanServices,
  work: (context: PlanContext) => Promise<T>,
  limits: { readonly timeout?: number } = {},
): Promise<T> =>
  database.client.$transaction(async (transaction) => {
    await transaction.$executeRaw`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
    // The first reading determines the moment, so that it is not older than what is in memory.
    return work({ ...services, transaction, candidates: await services.candidates.readOnce(transaction) });
  }, limits);

/** A requested change of one of several deployments. */
export type Requested =
  | { readonly kind: 'creation'; readonly request: NewDeploymentRequest }
  | { readonly kind: 'change'; readonly before: DeploymentRow; readonly change: DeploymentChange }
  | Pick<DecidedDeletion, 'kind' | 'before' | 'keepsWorkload'>;

export type Decided = DecidedCreation | DecidedChange | DecidedDeletion;

/**
 * Decisions about several deployments, which write nothing. Each sees what the earlier ones would store. A refused one stores
 * nothing. Each deployment is changed at most once, and an application of the decisions makes them again under the placement lock.
 */
export interface Decisions {
  readonly one: (request: Requested) => Promise<Decided>;
  /** Makes decisions that belong together, such as those about the parts of an application. `decidedIn` are those that it would store. */
  readonly together: <T>(
    work: (context: PlanContext) => Promise<T>,
    decidedIn: (result: T) => readonly Decided[],
  ) => Promise<T>;
}

export async function decisionsIn(context: PlanContext): Promise<Decisions> {
  const { transaction } = context;
  const candidates = await context.candidates.readOnce(transaction);
  const once = { ...context, candidates, trusted: context.trusted ?? trustedIn(transaction) };
  let pending: Pending = context.pending ?? NOTHING_PENDING;
  const add = async (decided: Decided) => {
    pending = [...pending, ...(await pendingOf(once, decided))];
  };
  return {
    one: async (request) => {
      const decided = await decideOne({ ...once, pending }, request);
      await add(decided);
      return decided;
    },
    together: async (work, decidedIn) => {
      const result = await work({ ...once, pending });
      for (const decided of decidedIn(result)) await add(decided);
      return result;
    },
  };
}

/** Decides changes of several deployments in their order, as `decisionsIn` does. */
export async function decideAll(context: PlanContext, requests: readonly Requested[]): Promise<Decided[]> {
  const decisions = await decisionsIn(context);
  const decided: Decided[] = [];
  for (const request of requests) decided.push(await decisions.one(request));
  return decided;
}

function decideOne(context: PlanContext, requested: Requested): Promise<Decided> {
  if (requested.kind === 'creation') return decideCreation(context, requested.request);
  if (requested.kind === 'change') return decideChange(context, requested.before, requested.change);
  return decideDeletion(context, requested);
}

export const isRefused = (decided: Decided): boolean =>
  decided.kind === 'deletion' ? decided.dependents.length > 0 : decided.refusals.length > 0;

/** Stores decisions that were made under the placement lock, and not refused. @returns the values that each generated */
export async function storeAll(
  context: DeploymentContext,
  decided: readonly Decided[],
): Promise<readonly GeneratedValue[][]> {
  const alsoChanged = new Set([...(context.alsoChanged ?? []), ...changedIds(decided)]);
  const generated: GeneratedValue[][] = [];
  for (let index = 0; index < decided.length; index = generated.length) {
    const each = decided[index];
    if (each?.kind === 'change') generated.push(await storeChange(context, each, alsoChanged));
    else if (each?.kind === 'deletion') {
      await storeDeletion(context, each);
      generated.push([]);
    } else {
      const stored = await storeCreations(context, creationsFrom(decided, index));
      generated.push(...stored.map((creation) => creation.generated));
    }
  }
  return generated;
}

/** The ids of deployments to which decisions give a new generation, or that are new. */
export const changedIds = (decided: readonly Decided[]): string[] => decided.flatMap(idOfChanged);

function idOfChanged(decided: Decided): string[] {
  if (decided.kind === 'creation') return [decided.decision.draft.id];
  return decided.kind === 'change' && decided.decision !== undefined ? [decided.before.id] : [];
}

/** The creations from an index on, up to another change. */
function creationsFrom(decided: readonly Decided[], start: number): DecidedCreation[] {
  const creations: DecidedCreation[] = [];
  for (const each of decided.slice(start)) {
    if (each.kind !== 'creation') break;
    creations.push(each);
  }
  return creations;
}

/** What a decision would store. */
async function pendingOf({ transaction }: PlanContext, decided: Decided): Promise<PendingDeployment[]> {
  if (isRefused(decided)) return [];
  if (decided.kind === 'deletion') return [beingDeleted(decided.before)];
  const { decision } = decided;
  if (decision === undefined) return [];
  const { draft, env, chosen, mounted, ports, networks } = decision;
  const [own] = networks?.networks ?? [];
  const address = own?.addresses[0];
  const target = chosen ?? draft.target;
  const isNew = draft.creates.includes('deployment');
  return [
    {
      id: draft.id,
      name: draft.name,
      createsWorkload: draft.creates.includes('workload'),
      deleting: false,
      env: draft.env,
      newRevision: storesRevision(decided) ? draft.workload : undefined,
      target: target && { kind: target.kind, id: target.id },
      ports: draft.workload.spec.ports.map(({ containerPort }) => containerPort),
      webPorts: env.find(({ name }) => name === HTTP_PORTS)?.value ?? '',
      published: ports?.replicas[0] ?? [],
      volumes: mounted,
      released: isNew ? undefined : await readAllocation(transaction, draft.id),
      allocated: allocatedBy(decision),
      addedPorts: ports?.added.map(({ protocol, host_port }) => `${protocol}/${host_port}`) ?? [],
      network: own && address !== undefined ? { id: own.id, address } : null,
      networks: networks?.networks ?? [],
    },
  ];
}

/** A deployment that is being deleted keeps what is allocated to it until its engine has removed it. */
const beingDeleted = (before: DeploymentRow): PendingDeployment => ({
  id: before.id,
  name: before.name,
  createsWorkload: false,
  deleting: true,
  env: before.env,
  newRevision: undefined,
  target: targetOf(before),
  ports: [],
  webPorts: '',
  published: [],
  volumes: [],
  released: undefined,
  allocated: undefined,
  addedPorts: [],
  network: null,
  networks: [],
});

const storesRevision = (decided: DecidedCreation | DecidedChange): boolean =>
  decided.kind === 'creation' ? decided.created !== undefined : decided.change.newRevision !== undefined;

function allocatedBy(decision: Decision): Allocation | undefined {
  const { host_id, cluster_id, cpu_millis, memory_bytes, gpu_count } = allocationOf(decision);
  const targetId = host_id ?? cluster_id;
  if (targetId === null) return undefined;
  const gpus = decision.chosen?.kind === 'host' ? decision.chosen.gpus.flat() : [];
  return { targetId, cpu_millis: Number(cpu_millis), memory_bytes: Number(memory_bytes), gpu_count, gpus };
}
