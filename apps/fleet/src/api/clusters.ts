import type { Input } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { etagOfVersion, given, Tagged } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { refuseUnrecordable } from '../audit/gate.ts';
import { authorOf } from '../audit/recording.ts';
import { abandon } from '../deployments/store.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { clusterCredentialsPlace, clusters, presentCluster } from '../resources/clusters.ts';
import {
  type Complaint,
  complaintsOfCertificates,
  complaintsOfPair,
  refuseAll,
  refuseInUse,
} from '../resources/field-errors.ts';
import { changedNow, holdRow, listRows, readRow, refuseRename } from '../resources/kind.ts';
import { decideAlone } from '../resources/placement-lock.ts';
import { usersOfTarget } from '../resources/targets.ts';
import type { Sealer } from '../sealing.ts';
import { change } from './change.ts';
import { route } from './context.ts';
import { againWithAddress, complaintsOfTarget, isAdmin } from './outbound-targets.ts';

type Auth = Input<typeof fleetEndpoints.createCluster>['body']['auth'];

export const listClusters = route(fleetEndpoints.listClusters, async ({ database }, { query }) => {
  const { rows, pagination } = await listRows(database.client, clusters, query);
  return { clusters: rows.map(presentCluster), pagination };
});

export const getCluster = route(fleetEndpoints.getCluster, async ({ database }, { params }) => {
  const cluster = presentCluster(await readRow(database.client, clusters, params.id));
  return new Tagged({ cluster }, etagOfVersion(cluster.version, cluster));
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

export const createCluster = change(fleetEndpoints.createCluster, async (context, { body }) => {
  const { transaction, principal, settings } = context;
  const { server, auth } = body;
  refuseAll([...complaintsOfTarget(context, 'server', new URL(server)), ...complaintsOfPem(body.ca_certificate, auth)]);
  const id = uuidv7();
  const data = {
    ...given(body, ['name', ...MEMBERS]),
    ...(await sealed(settings.sealer, id, { server, auth })),
    id,
    by_admin: isAdmin(context),
    created_by: authorOf(principal),
  };
  await transaction.cluster.create({ data: data as Prisma.ClusterUncheckedCreateInput });
  return { cluster: presentCluster(await readRow(transaction, clusters, id)) };
});

export const updateCluster = change(fleetEndpoints.updateCluster, async (context, { params, body }) => {
  const { transaction, settings, seen } = context;
  if (body.namespace !== undefined) await decideAlone(transaction);
  const before = await holdRow(transaction, clusters, { id: params.id, seen });
  refuseRename(body, before);
  const { server = before.server, auth } = body;
  const moves = server !== before.server;
  if (moves && auth === undefined) throw againWithAddress('auth', 'server');
  const ofTarget = moves || auth !== undefined ? complaintsOfTarget(context, 'server', new URL(server)) : [];
  refuseAll([...ofTarget, ...complaintsOfPem(body.ca_certificate, auth)]);
  if (body.namespace !== undefined && body.namespace !== before.namespace) {
    refuseInUse(await usersOfTarget(transaction, { kind: 'cluster', id: before.id }));
  }
  const data: Prisma.ClusterUncheckedUpdateInput = {
    ...given(body, MEMBERS),
    ...(auth === undefined ? {} : await sealed(settings.sealer, before.id, { server, auth })),
    ...(moves ? { by_admin: isAdmin(context), reachability: 'unknown' as const, message: '' } : {}),
    ...(ASKED_ANEW_FOR.some((member) => body[member] !== undefined) ? ASKED_ANEW : {}),
    ...changedNow(),
  };
  await transaction.cluster.update({ where: { id: before.id }, data });
  return { cluster: presentCluster(await readRow(transaction, clusters, before.id)) };
});

/** What another answer may come by. */
const ASKED_ANEW_FOR = ['server', 'ca_certificate', 'auth', 'namespace', 'gpu_resource_name'] as const;

const ASKED_ANEW = { check_failures: 0, check_at: new Date(0) } as const;

export const deleteCluster = change(fleetEndpoints.deleteCluster, async ({ transaction, seen }, { params, query }) => {
  await decideAlone(transaction);
  const { id, reachability } = await holdRow(transaction, clusters, { id: params.id, seen });
  const target = { kind: 'cluster', id } as const;
  if (query.abandon) await abandon(transaction, { target, reachability });
  refuseInUse(await usersOfTarget(transaction, target));
  await transaction.cluster.delete({ where: { id } });
  return undefined;
});

const complaintsOfPem = (ca: string | null | undefined, auth: Auth | undefined): Complaint[] => [
  ...(ca == null ? [] : complaintsOfCertificates('ca_certificate', ca)),
  ...(auth?.kind === 'client_certificate'
    ? complaintsOfPair({ path: 'auth.certificate', pem: auth.certificate }, { path: 'auth.key', pem: auth.key })
    : []),
];

/** Sealed together with the address that it is for: it goes nowhere else. */
async function sealed(sealer: Sealer, row: string, { server, auth }: { readonly server: string; readonly auth: Auth }) {
  const text = JSON.stringify({ address: server, ...auth });
  return {
    auth_kind: auth.kind,
    sealed: await sealer.seal(clusterCredentialsPlace(row), text),
    sealed_with: sealer.kid,
  };
}

/** Asks now; what it says is in the answer, also that it is away. */
export const checkCluster = route(fleetEndpoints.checkCluster, async (context, { params }) => {
  const { database, machines, recording } = context;
  const { id } = await readRow(database.client, clusters, params.id);
  recording.isKept = true;
  await refuseUnrecordable(database);
  const cluster = await database.client.cluster.findUniqueOrThrow({ where: { id } });
  await machines.checkCluster(cluster);
  return { cluster: presentCluster(await readRow(database.client, clusters, id)) };
});
