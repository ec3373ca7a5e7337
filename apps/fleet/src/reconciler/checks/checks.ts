import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type PeriodicTask, runPeriodically } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Database } from '../../database/client.ts';
import { check as checkHost } from '../../engines/docker/check.ts';
import { removeOrphans as sweepHost } from '../../engines/docker/cleanup.ts';
import { listManaged as listOnHost } from '../../engines/docker/managed.ts';
import { EngineFailure, Transient, Unreachable } from '../../engines/errors.ts';
import { type ClusterFacts, check as checkCluster } from '../../engines/kubernetes/check/check.ts';
import { removeOrphans as sweepCluster } from '../../engines/kubernetes/cleanup.ts';
import { listManaged as listInCluster } from '../../engines/kubernetes/managed.ts';
import type { ManagedObject } from '../../engines/managed.ts';
import { logEvents, problemRecord, RECORDED, type RecordedEvent } from '../../events/record.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { formatAmount } from '../../placement/quantities.ts';
import { expiryWarning } from '../../resources/clusters.ts';
import { dependentsOfTarget } from '../../resources/targets.ts';
import { recordOutside, removeUnused } from '../networks/isolation.ts';
import { recordOrphans } from '../orphans.ts';
import { claimTargets, recordOnline, recordUnreachable } from '../reachability.ts';
import type { ReconcilerContext, TargetRow } from '../targets.ts';
import { compareWithRows } from './compare.ts';

/**
 * Stores the result of a check of a cluster and its nodes, unless the address of the cluster was
 * changed since the check began.
 * @returns the recorded events
 */
async function storeCluster(
  { client }: Database,
  target: Extract<TargetRow, { kind: 'cluster' }>,
  { version, nodes, storage_classes, conditions, identity, ...access }: ClusterFacts,
): Promise<readonly RecordedEvent[]> {
  const { missing_permissions, credentials_expire_at, fleet_account, disruption_budgets, network_policies } = access;
  const areNodesKnown = conditions.some(({ type, status }) => type === 'NodesKnown' && status === 'True');
  const usable = nodes.filter(({ ready, schedulable }) => ready && schedulable);
  const allocatable = areNodesKnown ? sumOf(usable.map((node) => node.allocatable)) : UNKNOWN_AMOUNTS;
  const capacity = areNodesKnown ? formatAmount(sumOf(nodes.map((node) => node.capacity))) : null;
  const facts = Prisma.sql`kubernetes_version = ${version}, cpu_millis = ${allocatable.cpu_millis},
    memory_bytes = ${allocatable.memory_bytes}, gpu_count = ${allocatable.gpu_count},
    capacity = ${capacity && JSON.stringify(capacity)}::jsonb, conditions = ${JSON.stringify(conditions)}::jsonb,
    storage_classes = ${JSON.stringify(storage_classes)}::jsonb, identity = coalesce(${identity}, identity),
    missing_permissions = ${missing_permissions}::text[], credentials_expire_at = ${credentials_expire_at}::timestamptz,
    fleet_account = coalesce(${fleet_account}, fleet_account), disruption_budgets = ${disruption_budgets},
    network_policies = ${network_policies}`;
  const warning = expiryWarning(credentials_expire_at);
  return client.$transaction(async (transaction) => {
    const recorded = await recordOnline(transaction, target, facts, lastingProblem(warning));
    if (!recorded) return [];
    await storeNodes(transaction, target.row.id, nodes);
    if (havePermissionsChanged(target, conditions)) await retryFailed(transaction, target);
    const expiring = warning === undefined ? [] : await recordExpiry(transaction, target, warning);
    return [...recorded, ...expiring];
  });
}

/** The reason of the event of a cluster whose credentials must be replaced. */
const CREDENTIALS_EXPIRE = 'CredentialsExpire';

/** The reason of the problem of a cluster that a successful check does not end. */
const lastingProblem = (warning: string | undefined) => (warning === undefined ? '' : CREDENTIALS_EXPIRE);

async function recordExpiry(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { row: { id } }: TargetRow,
  message: string,
): Promise<readonly RecordedEvent[]> {
  const [result] = await transaction.$queryRaw<[{ recorded: readonly RecordedEvent[] }]>`
    WITH updated AS (SELECT id, name FROM clusters WHERE id = ${id}::uuid),
    ${problemRecord({ kind: 'clusters', reason: CREDENTIALS_EXPIRE, message })}
    SELECT ${RECORDED} AS recorded`;
  return result.recorded;
}

/** The conditions that state what the fleet may do in a cluster. */
const PERMISSIONS: readonly string[] = ['NamespaceReady', 'Permitted', 'AutoscalingPermitted'];

const storedConditions = z.array(z.object({ type: z.string(), status: z.string(), message: z.string() }));

/** Whether the fleet may do other things in a cluster than at the last check. */
function havePermissionsChanged({ row }: Extract<TargetRow, { kind: 'cluster' }>, now: ClusterFacts['conditions']) {
  const permissionsIn = (conditions: z.output<typeof storedConditions>) =>
    conditions
      .filter(({ type }) => PERMISSIONS.includes(type))
      .map(({ type, status, message }) => [type, status, message]);
  const before = storedConditions.safeParse(row.conditions).data ?? [];
  return !isDeepStrictEqual(permissionsIn(before), permissionsIn([...now]));
}

/**
 * Makes the deployments of a target due that have failed. Their next delay is the first one, in case
 * a pass is under way that fails as before.
 */
const retryFailed = (transaction: Pick<Prisma.TransactionClient, '$executeRaw'>, { row: { id } }: TargetRow) =>
  transaction.$executeRaw`
    UPDATE deployments SET due_at = now(), failures = 0
    WHERE cluster_id = ${id}::uuid AND (reason IS NOT NULL OR failures > 0)`;

const UNKNOWN_AMOUNTS = { cpu_millis: null, memory_bytes: null, gpu_count: null };

const sumOf = (amounts: readonly ClusterFacts['nodes'][number]['allocatable'][]) => ({
  cpu_millis: BigInt(amounts.reduce((sum, { cpu_millis }) => sum + cpu_millis, 0)),
  memory_bytes: BigInt(amounts.reduce((sum, { memory_bytes }) => sum + memory_bytes, 0)),
  gpu_count: amounts.reduce((sum, { gpu_count }) => sum + gpu_count, 0),
});

/** Replaces the stored nodes of a cluster. Does not write nodes that have not changed. */
async function storeNodes(
  transaction: Pick<Prisma.TransactionClient, '$executeRaw'>,
  clusterId: string,
  nodes: ClusterFacts['nodes'],
): Promise<void> {
  const reported = nodes.map(({ allocatable, taints, uid, ...node }) => ({
    ...node,
    ...allocatable,
    id: uuidv7(),
    identity: uid,
    taints: taints.map(({ key, value = '', effect }) => ({ key, value, effect })),
  }));
  await transaction.$executeRaw`
    DELETE FROM nodes WHERE cluster_id = ${clusterId}::uuid AND name <> ALL (${nodes.map(({ name }) => name)}::text[])`;
  await transaction.$executeRaw`
    INSERT INTO nodes AS existing
      (id, cluster_id, name, identity, labels, taints, schedulable, ready, version, arch, cpu_millis, memory_bytes, gpu_count)
    SELECT id, ${clusterId}::uuid, name, identity, labels, taints, schedulable, ready, version, arch, cpu_millis, memory_bytes,
      gpu_count
    FROM jsonb_to_recordset(${JSON.stringify(reported)}::jsonb) AS reported (id uuid, name text, identity text, labels jsonb, taints jsonb,
      schedulable boolean, ready boolean, version text, arch text, cpu_millis bigint, memory_bytes bigint, gpu_count int)
    ON CONFLICT (cluster_id, name) DO UPDATE SET updated_at = now(), identity = excluded.identity, labels = excluded.labels, taints = excluded.taints,
      schedulable = excluded.schedulable, ready = excluded.ready, version = excluded.version, arch = excluded.arch,
      cpu_millis = excluded.cpu_millis, memory_bytes = excluded.memory_bytes, gpu_count = excluded.gpu_count
    WHERE (existing.identity, existing.labels, existing.taints, existing.schedulable, existing.ready, existing.version, existing.arch,
           existing.cpu_millis, existing.memory_bytes, existing.gpu_count)
      IS DISTINCT FROM (excluded.identity, excluded.labels, excluded.taints, excluded.schedulable, excluded.ready, excluded.version,
           excluded.arch, excluded.cpu_millis, excluded.memory_bytes, excluded.gpu_count)`;
}

/**
 * Maximum number of concurrent checks per process, without those whose target is slow to respond.
 */
const MAX_CONCURRENT = 32;
/** Maximum number of checks per process. */
const MAX_CHECKS = 256;
/**
 * A check that takes longer does not count as one of the concurrent checks, so that slow targets do
 * not delay others.
 */
const SLOW_MS = 2000;
/**
 * Wait between the starts of checks that were claimed together, so that they do not delay requests
 * and reconciliations.
 */
const SPACING_MS = 5;
/**
 * Wait before further targets are claimed, if more are due than can be checked at the same time.
 */
const CLAIM_PAUSE_MS = 100;

/**
 * Checks each host and cluster at its interval until stopped. The replicas of the fleet share the
 * checks.
 */
export function startChecks(context: ReconcilerContext): PeriodicTask {
  const { database, log, timings } = context;
  const underWay = new Set<Promise<void>>();
  const slow = new Set<Promise<void>>();
  const startCheck = (target: TargetRow, delay: number) => {
    const check = pause(delay)
      .then(() => checkTarget(context, target))
      .catch((error) => log.warn({ err: error, [target.kind]: target.row.name }, 'storing the check result failed'))
      .finally(() => {
        clearTimeout(timer);
        underWay.delete(check);
        slow.delete(check);
      });
    const timer = setTimeout(() => slow.add(check), SLOW_MS);
    underWay.add(check);
  };
  const rounds = runPeriodically(0, async () => {
    const limit = Math.min(MAX_CONCURRENT - underWay.size + slow.size, MAX_CHECKS - underWay.size);
    if (limit <= 0) return CLAIM_PAUSE_MS;
    try {
      const targets = await claimTargets(database, { limit, interval: timings.check });
      for (const [index, target] of targets.entries()) startCheck(target, index * SPACING_MS);
      return targets.length === limit ? CLAIM_PAUSE_MS : timings.checkIdle;
    } catch (error) {
      log.warn({ err: error }, 'claiming hosts and clusters for checks failed; will retry');
      return timings.checkIdle;
    }
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all(underWay);
    },
  };
}

/** Checks a host or cluster now, and stores the result. */
export async function checkTarget(context: ReconcilerContext, target: TargetRow): Promise<void> {
  const { database, log, timings } = context;
  const startedAt = Date.now();
  try {
    logEvents(log, await checkAndStore(context, target));
  } catch (error) {
    const isEngineFailure = error instanceof EngineFailure;
    if (!isEngineFailure) log.warn({ err: error, [target.kind]: target.row.name }, 'check failed unexpectedly');
    const message = isEngineFailure
      ? `${error.message}${remedyOf(target, error)}`
      : 'The check failed with an internal error. See the log of the fleet.';
    logEvents(log, await recordUnreachable(database, target, { message, startedAt, timings }));
    return;
  }
  await compareObjects(context, target);
}

/**
 * What to do about credentials that a cluster has refused, after a space, with the time at which they expired if it is
 * known; '' for other failures.
 */
function remedyOf({ kind, row }: TargetRow, { response }: EngineFailure): string {
  if (kind === 'host' || response?.status !== 401) return '';
  return ` ${expiryWarning(row.credentials_expire_at) ?? 'Send a PUT with a new auth.'}`;
}

async function checkAndStore(
  { database, hosts, clusters }: ReconcilerContext,
  target: TargetRow,
): Promise<readonly RecordedEvent[]> {
  if (target.kind === 'cluster') {
    const facts = await unlessTransient(checkCluster(await clusters.of(target.row)));
    if (facts) {
      await refuseOtherEngine(database, target, facts.identity);
      return storeCluster(database, target, facts);
    }
    const lasting = lastingProblem(expiryWarning(target.row.credentials_expire_at));
    return (await recordOnline(database.client, target, Prisma.sql`conditions = conditions`, lasting)) ?? [];
  }
  const found = await checkHost(await hosts.of(target.row), target.row);
  await refuseOtherEngine(database, target, found.identity);
  const facts = Prisma.sql`engine_version = ${found.engine_version}, arch = ${found.arch}, cpu_millis = ${found.cpu_millis},
    memory_bytes = ${found.memory_bytes}, identity = coalesce(${found.identity}, identity)`;
  return (await recordOnline(database.client, target, facts)) ?? [];
}

/**
 * Treats a target as unreachable if another engine than before responds at its address, as after a
 * reinstallation, and something runs on it. Otherwise the fleet would create everything again
 * there. A target on which nothing runs gets the new identity.
 * @throws Unreachable
 */
async function refuseOtherEngine({ client }: Database, target: TargetRow, identity: string | null): Promise<void> {
  const { kind, row } = target;
  if (identity === null || row.identity === null || identity === row.identity) return;
  if ((await dependentsOfTarget(client, { kind, id: row.id })).length === 0) return;
  throw new Unreachable(
    `Another engine responds at its address: its identity is ${identity} and was ${row.identity}. If the machine was replaced or reinstalled, send a PUT with {"accept_engine": true}; its deployments are then created again, and volumes that no longer exist are reported as lost.`,
  );
}

/**
 * The result of a check of a cluster, or undefined if the cluster responds but reports a temporary
 * error.
 */
async function unlessTransient<T>(check: Promise<T>): Promise<T | undefined> {
  try {
    return await check;
  } catch (error) {
    if (error instanceof Transient && !(error instanceof Unreachable)) return undefined;
    throw error;
  }
}

/**
 * By client: a digest of the list and of `observed` of the last comparison, if it found no
 * difference.
 */
const agreements = new WeakMap<object, string>();

/**
 * Lists the managed objects of a target, and does what follows from their differences from the
 * database. If neither the list nor the deployments have changed since a comparison without a
 * difference, they are not compared again.
 */
async function compareObjects(context: ReconcilerContext, target: TargetRow): Promise<void> {
  const { database, log } = context;
  const fields = { [target.kind]: target.row.name };
  try {
    const requestedAt = performance.now();
    const client = await clientOf(context, target);
    const managed = await listManaged(context, target);
    const compared = digestOf(managed, target.observed);
    if (target.observed !== undefined && agreements.get(client) === compared) return;
    const difference = await compareWithRows(database, target, { managed, requestedAt });
    const { due, deleted, has_orphans, unused_networks } = difference;
    if (target.kind === 'host') await recordOutside(database, target.row, managed);
    if (unused_networks.length > 0) await removeUnused(context, target, unused_networks);
    if (due > 0) log.info({ ...fields, due }, 'deployments differ from their target');
    const deletedIds = new Set(deleted);
    if (deletedIds.size > 0) await removeDeleted(context, target, deletedIds);
    const others = managed.filter(({ id }) => !deletedIds.has(id));
    if (has_orphans) await recordOrphans(context, target, others);
    const isDifferent = due > 0 || deletedIds.size > 0 || has_orphans || unused_networks.length > 0;
    if (isDifferent) agreements.delete(client);
    else agreements.set(client, compared);
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    log.warn({ ...fields, err: error }, 'comparing a target with the database failed; will retry');
  }
}

/** A digest of the managed objects in any order, and of the observations of their deployments. */
const digestOf = (managed: readonly ManagedObject[], observed: string | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([observed, managed.map((object) => JSON.stringify(object)).sort()]))
    .digest('base64');

const clientOf = ({ hosts, clusters }: ReconcilerContext, target: TargetRow) =>
  target.kind === 'host' ? hosts.of(target.row) : clusters.of(target.row);

const listManaged = async ({ hosts, clusters }: ReconcilerContext, target: TargetRow): Promise<ManagedObject[]> =>
  target.kind === 'host' ? listOnHost(await hosts.of(target.row)) : listInCluster(await clusters.of(target.row));

/**
 * Removes objects of deleted deployments and volumes from a target: a delayed request has created
 * them again.
 */
async function removeDeleted(
  { hosts, clusters, log }: ReconcilerContext,
  target: TargetRow,
  ids: ReadonlySet<string>,
): Promise<void> {
  const actions =
    target.kind === 'host'
      ? await sweepHost(await hosts.of(target.row), ids)
      : await sweepCluster(await clusters.of(target.row), ids);
  if (actions.length > 0) log.warn({ [target.kind]: target.row.name, actions }, 'removed orphaned objects');
}
