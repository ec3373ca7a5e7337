import { isDeepStrictEqual } from 'node:util';
import { codedMessages, type FieldError, type Input, type Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { etagOfVersion, Problem, pickDefined, withEtag } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { requireWritableAuditLog } from '../audit/gate.ts';
import { abandon, remedyFor } from '../deployments/store.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { isAdmin, resolvedTargetErrors, secretRequiredAgain, targetErrors } from '../identity/outbound-targets.ts';
import { formatAmount } from '../placement/quantities.ts';
import {
  certificateErrors,
  clientCertificateErrors,
  refuseFieldErrors,
  refuseInUse,
} from '../resources/field-errors.ts';
import { type HostRow, hostCredentialsLocation, hosts, hostsAndNodes, presentHost } from '../resources/hosts.ts';
import { refuseRegistered, registeredAs } from '../resources/identity.ts';
import { isUuid, lockRow, nextVersion, readRow, refuseRename } from '../resources/kind.ts';
import { hostList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { dependentsOfTarget } from '../resources/targets.ts';
import { type ChangeContext, changeRoute, runAudited } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';
import { replyWithResources } from './request/pages.ts';

/**
 * Nodes are read-only, since they are reported by their cluster. @throws 409 if the id is that of a
 * node
 */
export async function refuseNode(reader: Pick<Prisma.TransactionClient, 'node'>, id: string): Promise<void> {
  const node = isUuid(id) ? await reader.node.findUnique({ where: { id }, include: { cluster: true } }) : null;
  if (!node) return;
  const { id: clusterId, name } = node.cluster;
  const message = `${node.name} is a node of the cluster ${name} and is read-only. Use POST /api/v1/clusters/${clusterId}/check to update it.`;
  throw new Problem('read_only', message);
}

type Credentials = Input<typeof fleetEndpoints.createHost>['body']['credentials'];

export const listHosts = route(fleetEndpoints.listHosts, (context, { query }) =>
  replyWithResources(
    context,
    {
      kind: hostsAndNodes,
      rules: hostList,
      present: presentHost,
      element: fleetEndpoints.listHosts.reply.shape.hosts.element,
      compose: (items, pagination) => ({ hosts: items, pagination }),
    },
    query,
  ),
);

export const getHost = route(fleetEndpoints.getHost, async ({ database }, { params }) => {
  const host = presentHost(await readRow(database.client, hostsAndNodes, params.id));
  return withEtag({ host }, etagOfVersion(host.version, host));
});

const MEMBERS = [
  'labels',
  'engine',
  'endpoint',
  'network_types',
  'addresses',
  'taints',
  'schedulable',
  'gpus',
  'open_ports',
] as const;

/**
 * Only an admin opens ports of a host. The present ones are accepted, so that a body can be sent back as it was read. @throws 403
 */
function refuseOpenPorts(context: RequestContext, given: readonly string[] | undefined, present: readonly string[]) {
  if (given === undefined || isAdmin(context) || isDeepStrictEqual(given, present)) return;
  throw new Problem('insufficient_scope', 'Only an admin can open ports of a host.');
}

/**
 * Workloads select an address by network type, so an address for another type would never be used.
 */
const addressErrors = ({ addresses, network_types }: Pick<HostRow, 'addresses' | 'network_types'>): FieldError[] =>
  Object.keys(addresses)
    .filter((type) => !network_types.includes(type))
    .map((type) => ({ path: `addresses.${type}`, message: codedMessages.address_network }));

/** Checks an engine before it is registered. The reply shows the result, including a failure. */
export const checkNewHost = route(fleetEndpoints.checkNewHost, async (context, { body }) => {
  const { database, engineRuntime, recording } = context;
  refuseFieldErrors(await connectionErrors(context, body));
  recording.isRequired = true;
  await requireWritableAuditLog(database);
  const examined = await engineRuntime.examineHost({ ...body, by_admin: isAdmin(context) });
  if ('failure' in examined) return { check: { ...NOTHING_FOUND, message: examined.failure } };
  const { engine_version, arch, cpu_millis, memory_bytes, identity, addresses } = examined.facts;
  return {
    check: {
      reachability: 'online' as const,
      message: '',
      engine_version,
      arch,
      capacity: formatAmount({ cpu_millis: BigInt(cpu_millis), memory_bytes: BigInt(memory_bytes), gpu_count: 0 }),
      registered_as: (await registeredAs(database.client, { kind: 'host', identity })) ?? null,
      addresses: [...addresses],
    },
  };
});

const NOTHING_FOUND = {
  reachability: 'unreachable' as const,
  engine_version: null,
  arch: null,
  capacity: null,
  registered_as: null,
  addresses: [],
};

/** The errors in the address and the credentials of an engine. @throws 403 */
const connectionErrors = async (
  context: RequestContext,
  { endpoint, credentials }: Pick<Input<typeof fleetEndpoints.checkNewHost>['body'], 'endpoint' | 'credentials'>,
): Promise<FieldError[]> => [
  ...(await resolvedTargetErrors(context, 'endpoint', engineUrl(endpoint, credentials !== null))),
  ...credentialErrors(credentials),
];

export const createHost = route(fleetEndpoints.createHost, async (context, { body }) => {
  const { principal, settings, engineRuntime } = context;
  const { engine, endpoint, credentials } = body;
  refuseOpenPorts(context, body.open_ports, []);
  refuseFieldErrors([...(await connectionErrors(context, body)), ...addressErrors(body)]);
  const id = uuidv7();
  const by_admin = isAdmin(context);
  const identity = await engineRuntime.identifyHost({ engine, endpoint, credentials, by_admin });
  const data = {
    ...pickDefined(body, ['name', ...MEMBERS]),
    ...(await sealCredentials(settings.sealer, id, { endpoint, credentials })),
    id,
    by_admin,
    identity,
    created_by: authorOf(principal),
  };
  return runAudited(context, fleetEndpoints.createHost, async (transaction) => {
    await acquirePlacementLock(transaction);
    await refuseRegistered(transaction, { kind: 'host', id, identity });
    // The schema of the contract accepted the members, and the columns have the same names.
    await transaction.host.create({ data: data as Prisma.HostUncheckedCreateInput });
    return { host: presentHost(await readRow(transaction, hosts, id)) };
  });
});

export const updateHost = route(fleetEndpoints.updateHost, async (context, { params, body }) => {
  const identity = await identityAtNewEndpoint(context, params.id, body);
  return runAudited(context, fleetEndpoints.updateHost, (transaction) =>
    changeHost({ ...context, transaction }, { params, body, identity }),
  );
});

type Change = Input<typeof fleetEndpoints.updateHost>;

/**
 * The identity of the engine at another endpoint that a request sets; null if it sets none or the
 * identity is not known. It is read before the transaction, which must not wait for an engine.
 */
async function identityAtNewEndpoint(
  context: RequestContext,
  id: string,
  body: Change['body'],
): Promise<string | null> {
  const { endpoint, credentials = null } = body;
  if (endpoint === undefined) return null;
  await refuseNode(context.database.client, id);
  const before = await readRow(context.database.client, hosts, id);
  if (endpoint === before.endpoint || (before.has_credentials && body.credentials === undefined)) return null;
  refuseFieldErrors(await connectionErrors(context, { endpoint, credentials }));
  const { engine = before.engine } = body;
  if (engine === 'kubernetes') return null; // not the engine of a host
  return context.engineRuntime.identifyHost({ engine, endpoint, credentials, by_admin: isAdmin(context) });
}

async function changeHost(
  context: ChangeContext,
  { params, body, identity }: Pick<Change, 'params' | 'body'> & { readonly identity: string | null },
): Promise<Reply<typeof fleetEndpoints.updateHost>> {
  const { transaction, settings, ifMatch } = context;
  await refuseNode(transaction, params.id);
  const needsLock = body.engine !== undefined || body.gpus !== undefined || body.endpoint !== undefined;
  if (needsLock) await acquirePlacementLock(transaction);
  const before = await lockRow(transaction, hosts, { id: params.id, ifMatch });
  refuseRename(body, before);
  refuseOpenPorts(context, body.open_ports, before.open_ports);
  const { endpoint = before.endpoint, credentials } = body;
  const endpointChanges = endpoint !== before.endpoint;
  if (endpointChanges && before.has_credentials && credentials === undefined)
    throw secretRequiredAgain('credentials', 'endpoint');
  if (endpointChanges || credentials !== undefined) {
    const url = engineUrl(endpoint, credentials === undefined ? before.has_credentials : credentials !== null);
    refuseFieldErrors([...targetErrors(context, 'endpoint', url), ...credentialErrors(credentials ?? null)]);
  }
  refuseFieldErrors(addressErrors({ ...before, ...pickDefined(body, ['network_types', 'addresses']) }));
  const engineChanges = body.engine !== undefined && body.engine !== before.engine;
  if (engineChanges) {
    refuseInUse(await dependentsOfTarget(transaction, { kind: 'host', id: before.id }));
  }
  await refuseRegistered(transaction, { kind: 'host', id: before.id, identity });
  await refuseRemovingAllocatedGpus(transaction, before, body.gpus);
  const data = {
    ...pickDefined(body, MEMBERS),
    // Deployments that run there verify the addresses again.
    ...(endpointChanges || body.addresses !== undefined ? { verified_addresses: [] } : {}),
    ...(credentials === undefined ? {} : await sealCredentials(settings.sealer, before.id, { endpoint, credentials })),
    ...(endpointChanges
      ? { by_admin: isAdmin(context), reachability: 'unknown' as const, unreachable_reason: '' }
      : {}),
    // Also for the same endpoint.
    ...(body.endpoint !== undefined && isAdmin(context) ? { by_admin: true } : {}),
    ...(body.accept_engine ? { identity: null } : {}),
    ...(endpointChanges || engineChanges || credentials !== undefined || body.accept_engine ? CHECK_NOW : {}),
    ...nextVersion(),
  };
  // The schema of the contract accepted the members, and the columns have the same names.
  await transaction.host.update({ where: { id: before.id }, data: data as Prisma.HostUncheckedUpdateInput });
  if (body.addresses !== undefined) await reconcileNow(transaction, before);
  return { host: presentHost(await readRow(transaction, hosts, before.id)) };
}

/**
 * Makes the deployments on a host due at once: they verify its addresses, and show them in their
 * endpoints.
 */
const reconcileNow = (transaction: Prisma.TransactionClient, { id }: HostRow) =>
  transaction.deployment.updateMany({
    where: { host_id: id, due_at: { gt: new Date() } },
    data: { due_at: new Date(0) },
  });

export const deleteHost = changeRoute(
  fleetEndpoints.deleteHost,
  async ({ transaction, ifMatch, recording }, { params, query }) => {
    await refuseNode(transaction, params.id);
    await acquirePlacementLock(transaction);
    const { id, name, reachability } = await lockRow(transaction, hosts, { id: params.id, ifMatch });
    recording.objectName = name;
    const target = { kind: 'host', id } as const;
    if (query.abandon) await abandon(transaction, { target, reachability });
    refuseInUse(await dependentsOfTarget(transaction, target), remedyFor(reachability));
    await transaction.host.delete({ where: { id } });
    return undefined;
  },
);

/** @throws 409 if a GPU that is allocated to a deployment would be removed */
async function refuseRemovingAllocatedGpus(
  transaction: Prisma.TransactionClient,
  { id }: HostRow,
  gpus: HostRow['gpus'] | undefined,
) {
  if (!gpus) return;
  const allocated = await transaction.allocatedGpu.findMany({
    where: { host_id: id, gpu_id: { notIn: gpus.map((gpu) => gpu.id) } },
    include: { deployment: true },
    distinct: ['deployment_id'],
  });
  refuseInUse(allocated.map(({ deployment }) => ({ kind: 'deployment', name: deployment.name })));
}

/** Makes the next check due at once, since its result can be different now. */
const CHECK_NOW = { check_failures: 0, check_at: new Date(0) } as const;

/** The URL of the engine API. The scheme is https if the host has credentials. */
const engineUrl = (endpoint: string, withTls: boolean) =>
  new URL(endpoint.replace(/^tcp:/, withTls ? 'https:' : 'http:'));

function credentialErrors(credentials: Credentials): FieldError[] {
  if (credentials === null) return [];
  const { ca_certificate, certificate, key } = credentials;
  return [
    ...certificateErrors('credentials.ca_certificate', ca_certificate),
    ...clientCertificateErrors(
      { path: 'credentials.certificate', pem: certificate },
      { path: 'credentials.key', pem: key },
    ),
  ];
}

/**
 * Credentials are sealed together with the endpoint, so that they are never sent to another one.
 */
async function sealCredentials(
  sealer: Sealer,
  row: string,
  input: { readonly endpoint: string; readonly credentials: Credentials },
) {
  if (input.credentials === null) return { sealed: null, key_id: null };
  const { credentials, endpoint: address } = input;
  return {
    sealed: await sealer.seal(hostCredentialsLocation(row), JSON.stringify({ address, ...credentials })),
    key_id: sealer.kid,
  };
}

/** Checks the host now. The reply shows the result, including that the host is unreachable. */
export const checkHost = route(fleetEndpoints.checkHost, async (context, { params }) => {
  const { database, engineRuntime, recording } = context;
  await refuseNode(database.client, params.id);
  const { id } = await readRow(database.client, hosts, params.id);
  recording.isRequired = true;
  await requireWritableAuditLog(database);
  const host = await database.client.host.findUniqueOrThrow({ where: { id } });
  await engineRuntime.checkHost(host);
  return { host: presentHost(await readRow(database.client, hosts, id)) };
});
