import type { FieldError, Input } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { etagOfVersion, pickDefined, WithEtag } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { requireWritableAuditLog } from '../audit/gate.ts';
import { authorOf } from '../audit/recording.ts';
import { abandon } from '../deployments/store.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { clusterCredentialsLocation, clusters, presentCluster } from '../resources/clusters.ts';
import { certificateErrors, keyPairErrors, refuseFieldErrors, refuseInUse } from '../resources/field-errors.ts';
import { listRows, lockRow, nextVersion, readRow, refuseRename } from '../resources/kind.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { dependentsOfTarget } from '../resources/targets.ts';
import type { Sealer } from '../sealing.ts';
import { changeRoute } from './change.ts';
import { route } from './context.ts';
import { isAdmin, secretRequiredAgain, targetErrors } from './outbound-targets.ts';

type Auth = Input<typeof fleetEndpoints.createCluster>['body']['auth'];

export const listClusters = route(fleetEndpoints.listClusters, async ({ database }, { query }) => {
  const { rows, pagination } = await listRows(database.client, clusters, query);
  return { clusters: rows.map(presentCluster), pagination };
});

export const getCluster = route(fleetEndpoints.getCluster, async ({ database }, { params }) => {
  const cluster = presentCluster(await readRow(database.client, clusters, params.id));
  return new WithEtag({ cluster }, etagOfVersion(cluster.version, cluster));
});

const MEMBERS = [
  'labels',
  'server',
  'ca_certificate',
  'namespace',
  'network_types',
  'default_storage_class',
  'gpu_resource_name',
] as const;

export const createCluster = changeRoute(fleetEndpoints.createCluster, async (context, { body }) => {
  const { transaction, principal, settings } = context;
  const { server, auth } = body;
  refuseFieldErrors([...targetErrors(context, 'server', new URL(server)), ...pemErrors(body.ca_certificate, auth)]);
  const id = uuidv7();
  const data = {
    ...pickDefined(body, ['name', ...MEMBERS]),
    ...(await sealCredentials(settings.sealer, id, { server, auth })),
    id,
    by_admin: isAdmin(context),
    created_by: authorOf(principal),
  };
  // The schema of the contract accepted the members, and the columns have the same names.
  await transaction.cluster.create({ data: data as Prisma.ClusterUncheckedCreateInput });
  return { cluster: presentCluster(await readRow(transaction, clusters, id)) };
});

export const updateCluster = changeRoute(fleetEndpoints.updateCluster, async (context, { params, body }) => {
  const { transaction, settings, ifMatch } = context;
  if (body.namespace !== undefined) await acquirePlacementLock(transaction);
  const before = await lockRow(transaction, clusters, { id: params.id, ifMatch });
  refuseRename(body, before);
  const { server = before.server, auth } = body;
  const serverChanges = server !== before.server;
  if (serverChanges && auth === undefined) throw secretRequiredAgain('auth', 'server');
  const ofTarget = serverChanges || auth !== undefined ? targetErrors(context, 'server', new URL(server)) : [];
  refuseFieldErrors([...ofTarget, ...pemErrors(body.ca_certificate, auth)]);
  if (body.namespace !== undefined && body.namespace !== before.namespace) {
    refuseInUse(await dependentsOfTarget(transaction, { kind: 'cluster', id: before.id }));
  }
  const data: Prisma.ClusterUncheckedUpdateInput = {
    ...pickDefined(body, MEMBERS),
    ...(auth === undefined ? {} : await sealCredentials(settings.sealer, before.id, { server, auth })),
    ...(serverChanges ? { by_admin: isAdmin(context), reachability: 'unknown' as const, unreachable_reason: '' } : {}),
    ...(CHECK_INPUTS.some((member) => body[member] !== undefined) ? CHECK_NOW : {}),
    ...nextVersion(),
  };
  await transaction.cluster.update({ where: { id: before.id }, data });
  return { cluster: presentCluster(await readRow(transaction, clusters, before.id)) };
});

/** Members that can change the result of a check. */
const CHECK_INPUTS = ['server', 'ca_certificate', 'auth', 'namespace', 'gpu_resource_name'] as const;

const CHECK_NOW = { check_failures: 0, check_at: new Date(0) } as const;

export const deleteCluster = changeRoute(
  fleetEndpoints.deleteCluster,
  async ({ transaction, ifMatch }, { params, query }) => {
    await acquirePlacementLock(transaction);
    const { id, reachability } = await lockRow(transaction, clusters, { id: params.id, ifMatch });
    const target = { kind: 'cluster', id } as const;
    if (query.abandon) await abandon(transaction, { target, reachability });
    refuseInUse(await dependentsOfTarget(transaction, target));
    await transaction.cluster.delete({ where: { id } });
    return undefined;
  },
);

const pemErrors = (ca: string | null | undefined, auth: Auth | undefined): FieldError[] => [
  ...(ca == null ? [] : certificateErrors('ca_certificate', ca)),
  ...(auth?.kind === 'client_certificate'
    ? keyPairErrors({ path: 'auth.certificate', pem: auth.certificate }, { path: 'auth.key', pem: auth.key })
    : []),
];

/** Credentials are sealed together with the address of the server, so that they are never sent to another one. */
async function sealCredentials(
  sealer: Sealer,
  row: string,
  { server, auth }: { readonly server: string; readonly auth: Auth },
) {
  const text = JSON.stringify({ address: server, ...auth });
  return {
    auth_kind: auth.kind,
    sealed: await sealer.seal(clusterCredentialsLocation(row), text),
    key_id: sealer.kid,
  };
}

/** Checks the cluster now. The reply shows the result, including that the cluster is unreachable. */
export const checkCluster = route(fleetEndpoints.checkCluster, async (context, { params }) => {
  const { database, engineRuntime, recording } = context;
  const { id } = await readRow(database.client, clusters, params.id);
  recording.isRequired = true;
  await requireWritableAuditLog(database);
  const cluster = await database.client.cluster.findUniqueOrThrow({ where: { id } });
  await engineRuntime.checkCluster(cluster);
  return { cluster: presentCluster(await readRow(database.client, clusters, id)) };
});
