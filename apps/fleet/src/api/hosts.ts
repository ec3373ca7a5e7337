import type { Input } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { etagOfVersion, given, Problem, Tagged } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { refuseUnrecordable } from '../audit/gate.ts';
import { authorOf } from '../audit/recording.ts';
import { abandon } from '../deployments/store.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import {
  type Complaint,
  complaintsOfCertificates,
  complaintsOfPair,
  refuseAll,
  refuseInUse,
} from '../resources/field-errors.ts';
import { type HostRow, hostCredentialsPlace, hosts, machines, presentHost } from '../resources/hosts.ts';
import { changedNow, holdRow, isUuid, listRows, readRow, refuseRename } from '../resources/kind.ts';
import { decideAlone } from '../resources/placement-lock.ts';
import { usersOfTarget } from '../resources/targets.ts';
import type { Sealer } from '../sealing.ts';
import { change } from './change.ts';
import { route } from './context.ts';
import { againWithAddress, complaintsOfTarget, isAdmin } from './outbound-targets.ts';

/** A node is what its cluster says. @throws 409 for the id of one */
export async function refuseNode(reader: Pick<Prisma.TransactionClient, 'node'>, id: string): Promise<void> {
  const node = isUuid(id) ? await reader.node.findUnique({ where: { id }, include: { cluster: true } }) : null;
  if (!node) return;
  const { id: clusterId, name } = node.cluster;
  const message = `${node.name} is a node of the cluster ${name}, which says what it is: POST /api/v1/clusters/${clusterId}/check asks.`;
  throw new Problem('read_only', message);
}

type Credentials = Input<typeof fleetEndpoints.createHost>['body']['credentials'];

export const listHosts = route(fleetEndpoints.listHosts, async ({ database }, { query }) => {
  const { rows, pagination } = await listRows(database.client, machines, query);
  return { hosts: rows.map(presentHost), pagination };
});

export const getHost = route(fleetEndpoints.getHost, async ({ database }, { params }) => {
  const host = presentHost(await readRow(database.client, machines, params.id));
  return new Tagged({ host }, etagOfVersion(host.version, host));
});

export const createHost = change(fleetEndpoints.createHost, async (context, { body }) => {
  const { transaction, principal, settings } = context;
  const { endpoint, credentials } = body;
  const url = urlOf(endpoint, credentials !== null);
  refuseAll([...complaintsOfTarget(context, 'endpoint', url), ...complaintsOfCredentials(credentials)]);
  const id = uuidv7();
  const data = {
    ...given(body, ['name', 'labels', 'engine', 'endpoint', 'network_types', 'taints', 'schedulable', 'gpus']),
    ...(await sealed(settings.sealer, id, { endpoint, credentials })),
    id,
    by_admin: isAdmin(context),
    created_by: authorOf(principal),
  };
  await transaction.host.create({ data: data as Prisma.HostUncheckedCreateInput });
  return { host: presentHost(await readRow(transaction, hosts, id)) };
});

export const updateHost = change(fleetEndpoints.updateHost, async (context, { params, body }) => {
  const { transaction, settings, seen } = context;
  await refuseNode(transaction, params.id);
  if (body.engine !== undefined || body.gpus !== undefined) await decideAlone(transaction);
  const before = await holdRow(transaction, hosts, { id: params.id, seen });
  refuseRename(body, before);
  const { endpoint = before.endpoint, credentials } = body;
  const moves = endpoint !== before.endpoint;
  if (moves && before.has_credentials && credentials === undefined) throw againWithAddress('credentials', 'endpoint');
  if (moves || credentials !== undefined) {
    const url = urlOf(endpoint, credentials === undefined ? before.has_credentials : credentials !== null);
    refuseAll([...complaintsOfTarget(context, 'endpoint', url), ...complaintsOfCredentials(credentials ?? null)]);
  }
  const isOther = body.engine !== undefined && body.engine !== before.engine;
  if (isOther) {
    refuseInUse(await usersOfTarget(transaction, { kind: 'host', id: before.id }));
  }
  await refuseLostGpus(transaction, before, body.gpus);
  const data = {
    ...given(body, ['labels', 'engine', 'endpoint', 'network_types', 'taints', 'schedulable', 'gpus']),
    ...(credentials === undefined ? {} : await sealed(settings.sealer, before.id, { endpoint, credentials })),
    ...(moves ? { by_admin: isAdmin(context), reachability: 'unknown' as const, message: '' } : {}),
    ...(moves || isOther || credentials !== undefined ? ASKED_ANEW : {}),
    ...changedNow(),
  };
  await transaction.host.update({ where: { id: before.id }, data: data as Prisma.HostUncheckedUpdateInput });
  return { host: presentHost(await readRow(transaction, hosts, before.id)) };
});

export const deleteHost = change(fleetEndpoints.deleteHost, async ({ transaction, seen }, { params, query }) => {
  await refuseNode(transaction, params.id);
  await decideAlone(transaction);
  const { id, reachability } = await holdRow(transaction, hosts, { id: params.id, seen });
  const target = { kind: 'host', id } as const;
  if (query.abandon) await abandon(transaction, { target, reachability });
  refuseInUse(await usersOfTarget(transaction, target));
  await transaction.host.delete({ where: { id } });
  return undefined;
});

/** A GPU that somebody has does not go. @throws 409 */
async function refuseLostGpus(
  transaction: Prisma.TransactionClient,
  { id }: HostRow,
  gpus: HostRow['gpus'] | undefined,
) {
  if (!gpus) return;
  const held = await transaction.allocatedGpu.findMany({
    where: { host_id: id, gpu_id: { notIn: gpus.map((gpu) => gpu.id) } },
    include: { deployment: true },
    distinct: ['deployment_id'],
  });
  refuseInUse(held.map(({ deployment }) => ({ kind: 'deployment', name: deployment.name })));
}

/** Another engine may answer now, or the same one otherwise. */
const ASKED_ANEW = { check_failures: 0, check_at: new Date(0) } as const;

/** Where its engine is called: by TLS where there are credentials for it. */
const urlOf = (endpoint: string, withTls: boolean) => new URL(endpoint.replace(/^tcp:/, withTls ? 'https:' : 'http:'));

function complaintsOfCredentials(credentials: Credentials): Complaint[] {
  if (credentials === null) return [];
  const { ca_certificate, certificate, key } = credentials;
  return [
    ...complaintsOfCertificates('credentials.ca_certificate', ca_certificate),
    ...complaintsOfPair({ path: 'credentials.certificate', pem: certificate }, { path: 'credentials.key', pem: key }),
  ];
}

/** Sealed together with the address that they are for: they go nowhere else. */
async function sealed(
  sealer: Sealer,
  row: string,
  it: { readonly endpoint: string; readonly credentials: Credentials },
) {
  if (it.credentials === null) return { sealed: null, sealed_with: null };
  const { credentials, endpoint: address } = it;
  return {
    sealed: await sealer.seal(hostCredentialsPlace(row), JSON.stringify({ address, ...credentials })),
    sealed_with: sealer.kid,
  };
}

/** Asks now; what it says is in the answer, also that it is away. */
export const checkHost = route(fleetEndpoints.checkHost, async (context, { params }) => {
  const { database, machines, recording } = context;
  await refuseNode(database.client, params.id);
  const { id } = await readRow(database.client, hosts, params.id);
  recording.isKept = true;
  await refuseUnrecordable(database);
  const host = await database.client.host.findUniqueOrThrow({ where: { id } });
  await machines.checkHost(host);
  return { host: presentHost(await readRow(database.client, hosts, id)) };
});
