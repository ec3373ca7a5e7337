import { registryHost } from '@svc/contract';
import { fleetEndpoints, type WorkloadSpec } from '@svc/contract/fleet';
import { etagOfVersion, invalid, pickDefined, withEtag } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { secretBinding } from '../deployments/bindings.ts';
import { rotateSecretInDeployments } from '../deployments/generations.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { keyOf } from '../render/secrets.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { lockRow, nextVersion, readRow, refuseRename } from '../resources/kind.ts';
import { secretList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { referencesIn } from '../resources/references.ts';
import { acceptPurposes, problemOfUse, purposesOf, readUsersOf, type SecretScope } from '../resources/secret-uses.ts';
import {
  presentSecret,
  refuseBadValues,
  registryOfSecret,
  type SecretRow,
  sealValues,
  secrets,
} from '../resources/secrets.ts';
import { changeRoute } from './request/change.ts';
import { route } from './request/context.ts';
import { replyWithResources } from './request/pages.ts';

interface Row {
  readonly name: string;
  readonly refs: WorkloadSpec['secret_refs'];
}

/**
 * New values of a secret must contain the keys that deployments refer to. @throws 409 if one of
 * them is missing
 */
export async function refuseKeysInUse(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { name }: SecretRow,
  keys: readonly string[],
): Promise<void> {
  const rows = await transaction.$queryRaw<Row[]>`
    SELECT d.name, v.spec->'secret_refs' AS refs FROM workload_revisions v
    JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision
    WHERE v.secret_names @> ARRAY[${name}]
    UNION ALL
    SELECT d.name, jsonb_agg(jsonb_strip_nulls(jsonb_build_object('name', ${name}::text, 'env', e.key, 'key', e.value->>'key')))
    FROM deployments d, ${referencesIn(Prisma.sql`d.env`)} e
    WHERE d.bindings @> ARRAY[${secretBinding(name)}] AND e.value->>'secret' = ${name} GROUP BY d.name
    ORDER BY name`;
  const affected = rows.filter(({ refs }) => refs.some((ref) => ref.name === name && keyOf(ref, keys) === undefined));
  const names = [...new Set(affected.map((row) => row.name))];
  refuseInUse(names.map((deployment) => ({ kind: 'deployment', name: deployment })));
}

/**
 * Credentials are sent only to the registry with which they were given, or which already receives
 * them.
 * @throws 409 if a deployment uses the secret with another registry; 400 if another registry would
 * receive the values
 */
async function refuseServer(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { name, server: before }: SecretRow,
  { server, hasValues }: { readonly server: string; readonly hasValues: boolean },
): Promise<void> {
  const users = await transaction.$queryRaw<{ name: string; registry_url: string | null }[]>`
    SELECT d.name, v.spec->>'registry_url' AS registry_url FROM workload_revisions v
    JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision
    WHERE v.secret_names @> ARRAY[${name}] AND v.spec->>'registry_credentials' = ${name} ORDER BY d.name`;
  const others = users.filter((user) => registryHost(user) !== server);
  refuseInUse(others.map((user) => ({ kind: 'deployment', name: user.name })));
  if (hasValues || (before === null && users.length > 0)) return;
  throw invalid([
    { path: 'values', message: 'must be given with another server: the stored values are not sent to it' },
  ]);
}

/** The stored form of the names of workloads. */
const storedWorkloads = (names: readonly string[] | null) =>
  names === null ? Prisma.DbNull : [...new Set(names)].sort();

/**
 * A secret stays permitted where deployments use it. Uses from before the purposes, which were not
 * permitted before, are no reason.
 * @throws 409 with the deployments to which the change would forbid the secret
 */
async function refuseScopeInUse(
  transaction: Pick<Prisma.TransactionClient, '$queryRaw'>,
  before: SecretRow,
  after: SecretScope,
): Promise<void> {
  const users = await readUsersOf(transaction, before);
  const forbidden = users.filter(({ workload, uses }) =>
    uses.some(
      (use) =>
        problemOfUse({ ...use, ...after }, { ...use, workload }) !== undefined &&
        problemOfUse(use, { ...use, workload }) === undefined,
    ),
  );
  refuseInUse(forbidden.map(({ name }) => ({ kind: 'deployment', name })));
}

export const listSecrets = route(fleetEndpoints.listSecrets, (context, { query }) =>
  replyWithResources(
    context,
    {
      kind: secrets,
      rules: secretList,
      present: presentSecret,
      element: fleetEndpoints.listSecrets.reply.shape.secrets.element,
      compose: (items, pagination) => ({ secrets: items, pagination }),
    },
    query,
  ),
);

export const getSecret = route(fleetEndpoints.getSecret, async ({ database }, { params }) => {
  const secret = presentSecret(await readRow(database.client, secrets, params.id));
  return withEtag({ secret }, etagOfVersion(secret.version, secret));
});

export const createSecret = changeRoute(fleetEndpoints.createSecret, async (context, { body }) => {
  const { transaction, settings, principal } = context;
  const { name, labels, kind, values } = body;
  refuseBadValues(kind, values);
  const server =
    registryOfSecret(kind, body.server) ?? (kind === 'registry' ? registryHost({ registry_url: '' }) : null);
  const id = uuidv7();
  const purposes = body.purposes ? acceptPurposes(kind, body.purposes) : purposesOf({ kind, purposes: [] });
  const workloads = storedWorkloads(body.workloads ?? null);
  const data = { id, name, labels, kind, server, purposes, workloads, created_by: authorOf(principal) };
  await transaction.secret.create({ data: { ...data, ...(await sealValues(settings.sealer, id, values)) } });
  return { secret: presentSecret(await readRow(transaction, secrets, id)) };
});

/** The members on which decisions about deployments depend. */
const decisive = ['values', 'server', 'purposes', 'workloads'] as const;

/** New values start a new generation of the deployments that use the secret. */
export const updateSecret = changeRoute(fleetEndpoints.updateSecret, async (context, { params, body }) => {
  const { transaction, settings, ifMatch } = context;
  const { values } = body;
  if (decisive.some((member) => body[member] !== undefined)) await acquirePlacementLock(transaction);
  const before = await lockRow(transaction, secrets, { id: params.id, ifMatch });
  refuseRename(body, before);
  const server = registryOfSecret(before.kind, body.server) ?? before.server;
  if (server !== null && server !== before.server) {
    await refuseServer(transaction, before, { server, hasValues: values !== undefined });
  }
  const purposes = body.purposes ? acceptPurposes(before.kind, body.purposes) : before.purposes;
  const workloads = body.workloads === undefined ? before.workloads : body.workloads;
  if (body.purposes !== undefined || body.workloads !== undefined) {
    await refuseScopeInUse(transaction, before, { kind: before.kind, purposes, workloads });
  }
  const scope = { purposes, workloads: storedWorkloads(workloads) };
  const data = { ...pickDefined(body, ['labels']), server, ...scope, ...nextVersion() };
  if (values === undefined) {
    await transaction.secret.update({ where: { id: before.id }, data });
  } else {
    refuseBadValues(before.kind, values);
    await refuseKeysInUse(transaction, before, Object.keys(values));
    const rotated = { values_version: { increment: 1 }, last_rotated_at: new Date() };
    const sealed = await sealValues(settings.sealer, before.id, values);
    await transaction.secret.update({ where: { id: before.id }, data: { ...data, ...rotated, ...sealed } });
    await rotateSecretInDeployments(context, before);
  }
  return { secret: presentSecret(await readRow(transaction, secrets, before.id)) };
});

export const deleteSecret = changeRoute(
  fleetEndpoints.deleteSecret,
  async ({ transaction, ifMatch, recording }, { params }) => {
    await acquirePlacementLock(transaction);
    const { id, name, used_by } = await lockRow(transaction, secrets, { id: params.id, ifMatch });
    recording.objectName = name;
    refuseInUse(used_by);
    await transaction.secret.delete({ where: { id } });
    return undefined;
  },
);
