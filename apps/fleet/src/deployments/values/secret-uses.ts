import type { Reply } from '@svc/contract';
import type { fleetEndpoints, WorkloadSpec } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../../generated/prisma/client.ts';
import { isSealedName, keyOf, secretRefs } from '../../render/secrets.ts';
import { problemOfUse } from '../../resources/secret-uses.ts';
import { type StoredSpec, storedSpec } from '../../resources/workloads.ts';
import type { BoundVariable } from '../bindings.ts';
import { type Draft, readWorkloadRevision } from '../draft.ts';
import { isSameEnv } from '../env.ts';
import type { Refusal } from '../refusals.ts';
import { readSecretMetadata, type SecretMetadata } from './secret-metadata.ts';

type Transaction = Prisma.TransactionClient;

/** A use of a secret, with the member that declares it. */
interface DeclaredUse {
  readonly path: string;
  readonly name: string;
  /** null: an image is pulled. */
  readonly variable: string | null;
  readonly key?: string | undefined;
}

type Declaring = Pick<WorkloadSpec, 'secret_refs' | 'registry_credentials'>;

const usesOfWorkload = ({ secret_refs, registry_credentials: name }: Declaring): DeclaredUse[] => [
  ...secret_refs.map(({ env, ...ref }) => ({ ...ref, path: 'secret_refs', variable: env })),
  ...(name === null ? [] : [{ path: 'registry_credentials', name, variable: null }]),
];

const usesOfBindings = (bound: readonly BoundVariable[]): DeclaredUse[] =>
  bound
    .filter(({ name }) => !isSealedName(name))
    .map(({ env, ...ref }) => ({ ...ref, path: `env.${env}`, variable: env }));

function refusalsOfUses(
  uses: readonly DeclaredUse[],
  secrets: readonly SecretMetadata[],
  workload: string | undefined,
): Refusal[] {
  return uses.flatMap(({ path, name, ...use }) => {
    const secret = secrets.find((each) => each.name === name);
    const message = secret && problemOfUse(secret, { ...use, workload });
    return message === undefined ? [] : [{ code: 'deployment_refused', path, message }];
  });
}

/** The members of a draft that state how it uses secrets. */
interface Using {
  readonly draft: Draft;
  readonly bound: readonly BoundVariable[];
  readonly secrets: readonly SecretMetadata[];
}

/**
 * A secret is used only as it permits. What a deployment used before continues with the same
 * revision, because versions without purposes have stored it.
 */
export async function refusalsOfSecretUses(
  transaction: Transaction,
  { draft, bound, secrets }: Using,
): Promise<Refusal[]> {
  const uses = [...usesOfWorkload(draft.workload.spec), ...usesOfBindings(bound)];
  const isLimited = secrets.some(({ workloads }) => workloads !== null);
  return refusalsOfUses(
    uses.filter((use) => !isContinued(draft, use)),
    secrets,
    isLimited ? await nameOfWorkload(transaction, draft) : undefined,
  );
}

function isContinued({ before, workload, env }: Draft, { path, variable }: DeclaredUse): boolean {
  if (before?.revision !== workload.revision) return false;
  return (
    variable === null ||
    path === 'secret_refs' ||
    isSameEnv({ value: before.env[variable] ?? '' }, { value: env[variable] ?? '' })
  );
}

/** The name of the workload of a draft; undefined for a plan that would create it and has no name. */
async function nameOfWorkload(transaction: Transaction, { name, workload, creates }: Draft) {
  if (creates.includes('workload')) return name;
  return (await transaction.workload.findUnique({ where: { id: workload.workloadId } }))?.name;
}

/**
 * Refuses secrets that a workload must not use. Only the members that a request writes are checked.
 * @throws 422
 */
export async function refuseSecretUses(
  transaction: Transaction,
  workload: string,
  { secret_refs = [], registry_credentials = null }: Partial<Declaring>,
): Promise<void> {
  const uses = usesOfWorkload({ secret_refs, registry_credentials });
  const secrets = await readSecretMetadata(
    transaction,
    uses.map(({ name }) => name),
  );
  const errors = refusalsOfUses(uses, secrets, workload).map(({ path, message }) => ({ path, message }));
  if (errors.length === 0) return;
  const detail = `Nothing was changed: ${errors.map(({ path, message }) => `${path} ${message}`).join('; ')}.`;
  throw new Problem('unsupported_value', detail, { errors });
}

type Plan = Reply<typeof fleetEndpoints.planDeployment>;
type Listed = Reply<typeof fleetEndpoints.getDeploymentManifest>['secrets'];

/** The variables that receive values of secrets. */
export const listSecretUses = (
  rendering: Parameters<typeof secretRefs>[0],
  secrets: readonly SecretMetadata[],
): Listed =>
  secretRefs(rendering)
    .filter(({ name }) => !isSealedName(name))
    .map((ref) => ({ variable: ref.env, secret: ref.name, key: resolvedKey(ref, secrets) ?? null }));

const resolvedKey = (ref: BoundVariable, secrets: readonly SecretMetadata[]): string | undefined => {
  const secret = secrets.find(({ name }) => name === ref.name);
  return secret && keyOf(ref, secret.keys);
};

/**
 * The secrets that a plan lists. A secret, or the token of an account, is new if the workload asks for it,
 * and did not before.
 */
export async function planSecrets(
  transaction: Transaction,
  { draft, bound, secrets }: Using,
): Promise<Pick<Plan, 'secrets'> & { readonly isNewPullSecret: boolean; readonly isNewToken: boolean }> {
  const { spec } = draft.workload;
  const previous = await readDeployedBefore(transaction, draft);
  const known = new Set(previous?.secret_refs.map((ref) => `${ref.name}/${resolvedKey(ref, secrets)}`));
  const asked = new Set(spec.secret_refs.map(({ env }) => env));
  const listed = listSecretUses({ spec, bound, defaults: draft.defaultsVersion }, secrets);
  return {
    secrets: listed.map((use) => ({
      ...use,
      is_new: asked.has(use.variable) && !known.has(`${use.secret}/${use.key ?? undefined}`),
    })),
    isNewPullSecret: previous?.registry_credentials !== spec.registry_credentials,
    isNewToken: previous?.service_account_token !== true,
  };
}

/**
 * The specification that was deployed before: that of the deployment, or for a new deployment the
 * latest copy of the same template, or revision of the same workload, that a deployment has.
 */
async function readDeployedBefore(
  transaction: Transaction,
  { before, workload }: Draft,
): Promise<StoredSpec | undefined> {
  const { secret_refs, registry_credentials, service_account_token } = workload.spec;
  if (secret_refs.length === 0 && registry_credentials === null && !service_account_token) return undefined;
  if (before) {
    if (before.revision === workload.revision) return workload.spec;
    return (await readWorkloadRevision(transaction, workload.workloadId, before.revision)).spec;
  }
  const isSame =
    workload.templateId === null
      ? Prisma.sql`v.workload_id = ${workload.workloadId}::uuid`
      : Prisma.sql`v.template_id = ${workload.templateId}::uuid`;
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT v.spec FROM workload_revisions v
    WHERE ${isSame} AND EXISTS (SELECT FROM deployments d WHERE d.workload_id = v.workload_id AND d.revision = v.revision)
    ORDER BY v.created_at DESC, v.revision DESC LIMIT 1`;
  return z.array(z.object({ spec: storedSpec })).parse(rows)[0]?.spec;
}
