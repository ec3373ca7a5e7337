import type { FieldError, Input, Reply } from '@svc/contract';
import { clusterPolicyDefaults, clusterPolicyNames, fleetEndpoints } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { etagOfVersion, pickDefined, withEtag } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { requireWritableAuditLog } from '../audit/gate.ts';
import { abandon, remedyFor } from '../deployments/store.ts';
import { userOfCredentials } from '../engines/kubernetes/check/account.ts';
import { expiryOf } from '../engines/kubernetes/check/expiry.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { isAdmin, resolvedTargetErrors, secretRequiredAgain, targetErrors } from '../identity/outbound-targets.ts';
import { accountErrors, deploymentsWithToken, refusePolicies } from '../resources/cluster-policies.ts';
import { clusterCredentialsLocation, clusters, presentCluster } from '../resources/clusters.ts';
import {
  certificateErrors,
  clientCertificateErrors,
  refuseFieldErrors,
  refuseInUse,
} from '../resources/field-errors.ts';
import { refuseRegistered, registeredAs } from '../resources/identity.ts';
import { lockRow, nextVersion, presentConditions, readRow, refuseRename } from '../resources/kind.ts';
import { clusterList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { dependentsOfTarget } from '../resources/targets.ts';
import { type ChangeContext, changeRoute, runAudited } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';
import { replyWithResources } from './request/pages.ts';

type Auth = Input<typeof fleetEndpoints.createCluster>['body']['auth'];

export const listClusters = route(fleetEndpoints.listClusters, (context, { query }) =>
  replyWithResources(
    context,
    {
      kind: clusters,
      rules: clusterList,
      present: presentCluster,
      element: fleetEndpoints.listClusters.reply.shape.clusters.element,
      compose: (items, pagination) => ({ clusters: items, pagination }),
    },
    query,
  ),
);

export const getCluster = route(fleetEndpoints.getCluster, async ({ database }, { params }) => {
  const cluster = presentCluster(await readRow(database.client, clusters, params.id));
  return withEtag({ cluster }, etagOfVersion(cluster.version, cluster));
});

const MEMBERS = [
  'labels',
  'server',
  'ca_certificate',
  'namespace',
  'network_types',
  'public_service_type',
  'default_storage_class',
  'gpu_resource_name',
  ...clusterPolicyNames,
] as const;

/** The columns of the given members, which have the same names. */
function columnsOf(given: Partial<Pick<Change['body'], (typeof MEMBERS)[number]>>) {
  const { elastic, ...columns } = pickDefined(given, MEMBERS);
  return { ...columns, ...(elastic === undefined ? {} : { elastic: elastic ?? Prisma.DbNull }) };
}

/** Checks a cluster before it is registered. The reply shows the result, including a failure. */
export const checkNewCluster = route(fleetEndpoints.checkNewCluster, async (context, { body }) => {
  const { database, engineRuntime, recording } = context;
  const { namespace } = body;
  const ofTarget = await resolvedTargetErrors(context, 'server', new URL(body.server));
  refuseFieldErrors([...ofTarget, ...pemErrors(body.ca_certificate, body.auth)]);
  recording.isRequired = true;
  await requireWritableAuditLog(database);
  const examined = await engineRuntime.examineCluster({ ...body, by_admin: isAdmin(context) });
  if ('failure' in examined) return { check: { ...NOTHING_FOUND, message: examined.failure } };
  const { version, nodes, conditions, identity, credentials_expire_at } = examined.facts;
  const areNodesKnown = conditions.some(({ type, status }) => type === 'NodesKnown' && status === 'True');
  return {
    check: {
      reachability: 'online' as const,
      message: '',
      kubernetes_version: version,
      credentials_expire_at,
      node_count: areNodesKnown ? nodes.length : null,
      conditions: presentConditions(conditions),
      registered_as: (await registeredAs(database.client, { kind: 'cluster', identity, namespace })) ?? null,
    },
  };
});

const NOTHING_FOUND = {
  reachability: 'unreachable' as const,
  kubernetes_version: null,
  credentials_expire_at: null,
  node_count: null,
  conditions: [],
  registered_as: null,
};

export const createCluster = route(fleetEndpoints.createCluster, async (context, { body }) => {
  const { principal, settings, engineRuntime } = context;
  const { server, auth } = body;
  const by_admin = isAdmin(context);
  refusePolicies(body, clusterPolicyDefaults, by_admin);
  const ofTarget = await resolvedTargetErrors(context, 'server', new URL(server));
  refuseFieldErrors([...ofTarget, ...pemErrors(body.ca_certificate, auth)]);
  const fleet_account = userOfCredentials(auth) ?? null;
  refuseFieldErrors(accountErrors({ ...body, fleet_account }));
  const id = uuidv7();
  const { ca_certificate, namespace, gpu_resource_name } = body;
  const address = { server, ca_certificate, namespace, gpu_resource_name, auth, by_admin };
  const identity = await engineRuntime.identifyCluster(address);
  const data = {
    name: body.name,
    ...columnsOf(body),
    ...(await sealCredentials(settings.sealer, id, { server, auth })),
    id,
    by_admin,
    identity,
    fleet_account,
    created_by: authorOf(principal),
  };
  return runAudited(context, fleetEndpoints.createCluster, async (transaction) => {
    await acquirePlacementLock(transaction);
    await refuseRegistered(transaction, { kind: 'cluster', id, identity, namespace });
    // The schema of the contract accepted the members, and the columns have the same names.
    await transaction.cluster.create({ data: data as Prisma.ClusterUncheckedCreateInput });
    return { cluster: presentCluster(await readRow(transaction, clusters, id)) };
  });
});

export const updateCluster = route(fleetEndpoints.updateCluster, async (context, { params, body }) => {
  const identity = await identityAtNewServer(context, params.id, body);
  return runAudited(context, fleetEndpoints.updateCluster, (transaction) =>
    changeCluster({ ...context, transaction }, { params, body, identity }),
  );
});

type Change = Input<typeof fleetEndpoints.updateCluster>;

/**
 * The identity of the cluster at another address that a request sets; null if it sets none or the
 * identity is not known. It is read before the transaction, which must not wait for a cluster.
 */
async function identityAtNewServer(context: RequestContext, id: string, body: Change['body']): Promise<string | null> {
  const { server, auth } = body;
  if (server === undefined || auth === undefined) return null;
  const before = await readRow(context.database.client, clusters, id);
  if (server === before.server) return null;
  const ofTarget = await resolvedTargetErrors(context, 'server', new URL(server));
  refuseFieldErrors([...ofTarget, ...pemErrors(body.ca_certificate, auth)]);
  const { ca_certificate = before.ca_certificate, namespace = before.namespace } = body;
  const { gpu_resource_name } = before;
  const address = { server, ca_certificate, namespace, gpu_resource_name, auth, by_admin: isAdmin(context) };
  return context.engineRuntime.identifyCluster(address);
}

async function changeCluster(
  context: ChangeContext,
  { params, body, identity }: Pick<Change, 'params' | 'body'> & { readonly identity: string | null },
): Promise<Reply<typeof fleetEndpoints.updateCluster>> {
  const { transaction, settings, ifMatch } = context;
  const forbidsTokens = body.allow_service_account_tokens === false;
  if (body.namespace !== undefined || body.server !== undefined || forbidsTokens)
    await acquirePlacementLock(transaction);
  const before = await lockRow(transaction, clusters, { id: params.id, ifMatch });
  refuseRename(body, before);
  refusePolicies(body, before, isAdmin(context));
  const { server = before.server, namespace = before.namespace, auth } = body;
  const serverChanges = server !== before.server;
  const namespaceChanges = namespace !== before.namespace;
  if (serverChanges && auth === undefined) throw secretRequiredAgain('auth', 'server');
  const ofTarget = serverChanges || auth !== undefined ? targetErrors(context, 'server', new URL(server)) : [];
  refuseFieldErrors([...ofTarget, ...pemErrors(body.ca_certificate, auth)]);
  if (namespaceChanges) {
    refuseInUse(await dependentsOfTarget(transaction, { kind: 'cluster', id: before.id }));
  }
  // Until the next check, other credentials than those of a service account have no known user.
  const fleet_account = auth === undefined ? before.fleet_account : (userOfCredentials(auth) ?? null);
  const accounts = { ...before, ...pickDefined(body, ACCOUNT_MEMBERS), fleet_account };
  const changesAccount = auth !== undefined || ACCOUNT_MEMBERS.some((member) => accounts[member] !== before[member]);
  if (changesAccount) refuseFieldErrors(accountErrors(accounts));
  if (forbidsTokens && before.allow_service_account_tokens)
    refuseInUse(await deploymentsWithToken(transaction, before.id));
  if (serverChanges || namespaceChanges) {
    const known = serverChanges || body.accept_engine ? identity : before.identity;
    await refuseRegistered(transaction, { kind: 'cluster', id: before.id, identity: known, namespace });
  }
  const isToBeChecked = body.accept_engine === true || CHECK_INPUTS.some((member) => body[member] !== undefined);
  const data: Prisma.ClusterUncheckedUpdateInput = {
    ...columnsOf(body),
    ...(auth === undefined
      ? {}
      : { ...(await sealCredentials(settings.sealer, before.id, { server, auth })), fleet_account }),
    ...(serverChanges ? { by_admin: isAdmin(context), reachability: 'unknown' as const, unreachable_reason: '' } : {}),
    // Also for the same server.
    ...(body.server !== undefined && isAdmin(context) ? { by_admin: true } : {}),
    ...(body.accept_engine ? { identity: null } : {}),
    ...(isToBeChecked ? CHECK_NOW : {}),
    ...nextVersion(),
  };
  await transaction.cluster.update({ where: { id: before.id }, data });
  return { cluster: presentCluster(await readRow(transaction, clusters, before.id)) };
}

/** Members that determine with which account pods run. */
const ACCOUNT_MEMBERS = ['namespace', 'service_account', 'allow_service_account_tokens'] as const;

/** Members that can change the result of a check. */
const CHECK_INPUTS = ['server', 'ca_certificate', 'auth', 'namespace', 'gpu_resource_name'] as const;

const CHECK_NOW = { check_failures: 0, check_at: new Date(0) } as const;

export const deleteCluster = changeRoute(
  fleetEndpoints.deleteCluster,
  async ({ transaction, ifMatch, recording }, { params, query }) => {
    await acquirePlacementLock(transaction);
    const { id, name, reachability } = await lockRow(transaction, clusters, { id: params.id, ifMatch });
    recording.objectName = name;
    const target = { kind: 'cluster', id } as const;
    if (query.abandon) await abandon(transaction, { target, reachability });
    refuseInUse(await dependentsOfTarget(transaction, target), remedyFor(reachability));
    await transaction.cluster.delete({ where: { id } });
    return undefined;
  },
);

const pemErrors = (ca: string | null | undefined, auth: Auth | undefined): FieldError[] => [
  ...(ca == null ? [] : certificateErrors('ca_certificate', ca)),
  ...(auth?.kind === 'client_certificate'
    ? clientCertificateErrors({ path: 'auth.certificate', pem: auth.certificate }, { path: 'auth.key', pem: auth.key })
    : []),
];

/**
 * Credentials are sealed together with the address of the server, so that they are never sent to
 * another one. Their end is stored with them.
 */
async function sealCredentials(
  sealer: Sealer,
  row: string,
  { server, auth }: { readonly server: string; readonly auth: Auth },
) {
  const text = JSON.stringify({ address: server, ...auth });
  return {
    auth_kind: auth.kind,
    credentials_expire_at: expiryOf(auth),
    sealed: await sealer.seal(clusterCredentialsLocation(row), text),
    key_id: sealer.kid,
  };
}

/**
 * Checks the cluster now. The reply shows the result, including that the cluster is unreachable.
 */
export const checkCluster = route(fleetEndpoints.checkCluster, async (context, { params }) => {
  const { database, engineRuntime, recording } = context;
  const { id } = await readRow(database.client, clusters, params.id);
  recording.isRequired = true;
  await requireWritableAuditLog(database);
  const cluster = await database.client.cluster.findUniqueOrThrow({ where: { id } });
  await engineRuntime.checkCluster(cluster);
  return { cluster: presentCluster(await readRow(database.client, clusters, id)) };
});
