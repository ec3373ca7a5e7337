import { isDeepStrictEqual } from 'node:util';
import { tiers } from '@svc/contract';
import type { Target } from '@svc/contract/fleet';
import type { Prisma, SecretKind } from '../generated/prisma/client.ts';
import { type AddressesByType, bindAddresses } from '../placement/addresses.ts';
import { type PlacementRequirements, placementRequirementsOf } from '../placement/candidates.ts';
import { listAssessments } from '../placement/listed.ts';
import { type ChosenTarget, type Placement, place } from '../placement/place.ts';
import { containerOptionProblems } from '../render/container-options.ts';
import { PORTS_BIND_TO_ADDRESSES } from '../render/defaults.ts';
import { type ResolvedEnv, resolveEnv } from '../render/env.ts';
import { registryHost } from '../render/image.ts';
import { isSealedName, keyOf } from '../render/secrets.ts';
import { specProblems } from '../render/spec-problems.ts';
import { refuseUnsupported } from '../render/unsupported-values.ts';
import { withoutSealed } from '../resources/workloads.ts';
import { type BoundVariable, readBound, refusalsOfDependents } from './bindings.ts';
import type { Allocation, Candidates } from './candidates.ts';
import { type Draft, readWorkloadRevision } from './draft.ts';
import { allocatedGpus, decidePorts, type PortDecision } from './ports.ts';
import type { Refusal } from './refusals.ts';
import { type MountedVolume, mountVolumes, refusalsOfAddedVolumes, refusalsOfReplicas } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

/** What a decision reads. */
export interface DecisionContext {
  readonly transaction: Transaction;
  readonly candidates: Candidates;
}

interface DraftPlacement {
  readonly draft: Draft;
  readonly requirements: PlacementRequirements;
  readonly mounted: readonly MountedVolume[];
}

/**
 * Places a draft. If its requirements per replica are unchanged, existing replicas keep their target and their GPUs,
 * whatever the state of the target is now, and only additional replicas are placed. If they changed, all replicas are
 * placed again. A stopped deployment is not placed.
 */
async function placeDraft(
  { transaction, candidates }: DecisionContext,
  { draft, requirements, mounted }: DraftPlacement,
): Promise<Placement> {
  if (draft.desiredState === 'stopped') return { chosen: undefined, assessments: [] };
  const current = await readCurrentAllocation(transaction, draft, requirements);
  if (current && current.gpus.length >= requirements.replicas) return keepAllocation(current, requirements.replicas);
  const isAllocated = !current && draft.creates.length === 0;
  const own = isAllocated ? await readAllocation(transaction, draft.id) : undefined;
  const volumes = mounted.map(({ name, access_mode, boundTo, attachedTo }) => ({
    name,
    access_mode,
    boundTo,
    attached_to: attachedTo,
  }));
  const request = {
    ...requirements,
    volumes,
    target: draft.target ?? undefined,
    has_ports: draft.workload.spec.ports.length > 0,
  };
  const all = await candidates.read(transaction, own);
  if (!current) return place(request, all);
  const more = place({ ...request, replicas: requirements.replicas - current.gpus.length }, all);
  if (!more.chosen) return more;
  return { ...more, chosen: { ...more.chosen, gpus: [...current.gpus, ...more.chosen.gpus] } };
}

/** What is allocated to a deployment; undefined if it does not exist or has no target. */
async function readAllocation(transaction: Transaction, id: string): Promise<Allocation | undefined> {
  const row = await transaction.deployment.findUnique({ where: { id }, include: { allocated_gpus: true } });
  const targetId = row?.host_id ?? row?.cluster_id;
  if (!row || !targetId) return undefined;
  const { cpu_millis, memory_bytes, gpu_count, allocated_gpus } = row;
  const gpus = allocated_gpus.map(({ gpu_id }) => gpu_id);
  return { targetId, cpu_millis: Number(cpu_millis), memory_bytes: Number(memory_bytes), gpu_count, gpus };
}

/** The target that a deployment has, with the resources that are allocated to it there. */
interface CurrentAllocation {
  readonly kind: 'host' | 'cluster';
  readonly id: string;
  readonly name: string;
  /** The GPU ids of each replica that has an allocation. */
  readonly gpus: readonly (readonly string[])[];
}

/** The current allocation; undefined if there is none, or if the requirements of a replica changed. */
async function readCurrentAllocation(
  transaction: Transaction,
  { id, target, creates }: Draft,
  requirements: PlacementRequirements,
): Promise<CurrentAllocation | undefined> {
  if (creates.includes('deployment')) return undefined;
  const row = await transaction.deployment.findUnique({ where: { id }, include: { host: true, cluster: true } });
  if (!row || !target || row.desired_state === 'stopped') return undefined;
  const { spec } = await readWorkloadRevision(transaction, row.workload_id, row.revision);
  const { replicas } = row;
  if (!isDeepStrictEqual(placementRequirementsOf(spec, replicas), { ...requirements, replicas })) return undefined;
  const gpus = await allocatedGpus(transaction, row);
  return { ...target, name: row.host?.name ?? row.cluster?.name ?? target.id, gpus };
}

const keepAllocation = ({ kind, id, name, gpus }: CurrentAllocation, replicas: number): Placement => ({
  chosen: { kind, id, gpus: gpus.slice(0, replicas) },
  assessments: [{ kind, id, name, fits: true, reasons: ['chosen: it runs there and needs no additional resources'] }],
});

/** A secret that a deployment needs, without its values. */
export interface SecretMetadata {
  readonly name: string;
  readonly version: number;
  readonly keys: readonly string[];
  readonly kind: SecretKind;
  /** The only registry that receives the secret; null for other kinds, and for a secret without a server. */
  readonly server: string | null;
}

/** The result that a draft would have, and all reasons to refuse it. */
export interface Decision {
  readonly draft: Draft;
  readonly refusals: readonly Refusal[];
  readonly requirements: PlacementRequirements;
  readonly env: ResolvedEnv['env'];
  /** The variables that the deployment binds to secrets and sealed values. */
  readonly bound: readonly BoundVariable[];
  readonly mounted: readonly MountedVolume[];
  readonly secrets: readonly SecretMetadata[];
  readonly placement: Placement;
  /** The target on which the deployment is to run; undefined if no candidate fits, or if the deployment is stopped. */
  readonly chosen: ChosenTarget | undefined;
  /** The host ports on the chosen host; undefined if no host is chosen. */
  readonly ports: PortDecision | undefined;
}

/**
 * Validates and places a draft without writing anything. A stopped deployment needs no capacity.
 * @throws 422 for values of a selected revision that this fleet does not support, because it cannot be placed
 */
export async function decide(context: DecisionContext, draft: Draft): Promise<Decision> {
  const { transaction } = context;
  const { workload } = draft;
  if (draft.isNewRevision) refuseUnsupported(withoutSealed(workload.spec));
  const { env, bindings, problems } = resolveEnv(workload.spec, draft.env, workload.secretVariables);
  const { bound, refusals: ofBindings } = await readBound(transaction, draft, bindings);
  const secrets = await readSecretMetadata(transaction, namesOfSecrets(draft, bound));
  const { mounted, refusals: ofVolumes } = await mountVolumes(transaction, draft);
  const requirements = placementRequirementsOf(workload.spec, draft.replicas);
  const placement = await placeDraft(context, { draft, requirements, mounted });
  const ports = await portsOn(transaction, draft, placement.chosen);
  const isUnassessed = draft.desiredState === 'stopped' || placement.chosen !== undefined;
  return {
    draft,
    requirements,
    env,
    bound,
    mounted,
    secrets,
    placement,
    chosen: placement.chosen,
    ports,
    refusals: [
      ...(await refusalsOfName(transaction, draft)),
      ...specProblems(workload.spec).map((problem) => ({ code: 'deployment_refused' as const, ...problem })),
      ...(await refusalsOfTier(transaction, draft)),
      ...[...problems, ...containerOptionProblems(workload.spec, env)].map((problem) => ({
        code: 'invalid_env' as const,
        ...problem,
      })),
      ...ofBindings,
      ...(draft.creates.length === 0 ? await refusalsOfDependents(transaction, draft) : []),
      ...refusalsOfSecrets(draft, secrets, bound),
      ...(await refusalsOfRegistry(transaction, draft, secrets)),
      ...ofVolumes,
      ...(await refusalsOfReplicas(transaction, draft, mounted)),
      ...(isUnassessed ? refusalsOfAddedVolumes(mounted, draft.target) : []),
      ...refusalsOfPlacement(draft, placement),
      ...(ports?.refusals ?? []),
    ],
  };
}

/** The targets whose first check can change a refusal of the deployment into an acceptance. */
export const uncheckedTargets = ({ chosen, refusals, placement }: Decision): readonly Target[] =>
  !chosen && refusals.every(({ code }) => code === 'no_placement')
    ? placement.assessments.filter(({ isUnchecked }) => isUnchecked)
    : [];

async function portsOn(transaction: Transaction, draft: Draft, chosen: ChosenTarget | undefined) {
  if (chosen?.kind !== 'host') return undefined;
  const { id, replicas, workload, defaultsVersion, replacesInstances, creates } = draft;
  const hasPorts = workload.spec.ports.length > 0;
  const { addresses } = hasPorts
    ? await transaction.host.findUniqueOrThrow({ where: { id: chosen.id } })
    : { addresses: {} };
  return decidePorts(transaction, {
    hostId: chosen.id,
    deploymentId: id,
    isNew: creates.includes('deployment'),
    replicas,
    spec: workload.spec,
    addresses:
      defaultsVersion >= PORTS_BIND_TO_ADDRESSES
        ? bindAddresses(workload.spec.required_network_types, addresses as AddressesByType) // validated by the contract
        : [],
    rebinds: replacesInstances,
  });
}

/** The names of resources are unique. A name stays taken until a deleted deployment is removed from its target. */
async function refusalsOfName(transaction: Transaction, { name, creates }: Draft): Promise<Refusal[]> {
  const where = { name };
  const refusal = (message: string): Refusal => ({ code: 'name_taken', path: 'name', message });
  const deployment = creates.includes('deployment') && (await transaction.deployment.findUnique({ where }));
  const workload = creates.includes('workload') && (await transaction.workload.findUnique({ where }));
  return [
    ...(deployment
      ? [refusal(`is already used by another deployment${deployment.deleting ? ', which is being deleted' : ''}`)]
      : []),
    ...(workload
      ? [
          refusal(
            `is already used by the workload ${workload.id}; choose another name, or deploy this workload with workload_id`,
          ),
        ]
      : []),
  ];
}

/** Checks the minimum tier of a template against the tier of the organization, as of the last sync. */
async function refusalsOfTier(transaction: Transaction, { workload, isNewRevision }: Draft): Promise<Refusal[]> {
  if (!isNewRevision || workload.minTier === null) return [];
  const [row] = await transaction.$queryRaw<{ tier: string | null }[]>`
    SELECT organization->>'tier' AS tier FROM catalog_sync`;
  const tier = row?.tier ?? tiers[0];
  // `indexOf` of a tuple of literals accepts only these literals.
  const rank = (name: string) => (tiers as readonly string[]).indexOf(name);
  if (rank(tier) >= rank(workload.minTier) && rank(workload.minTier) >= 0) return [];
  const message = `requires the tier ${workload.minTier}; your organization has the tier ${tier}`;
  return [{ code: 'tier_too_low', path: 'template', message }];
}

/** The secrets with these names that exist. */
export async function readSecretMetadata(
  transaction: Transaction,
  names: readonly string[],
): Promise<SecretMetadata[]> {
  if (names.length === 0) return [];
  const rows = await transaction.secret.findMany({ where: { name: { in: [...names] } } });
  return rows.map(({ name, values_version, keys, kind, server }) => ({
    ...{ name, version: values_version, keys, kind, server },
  }));
}

/** The names of the secrets that a deployment needs, by its workload and by its own bindings. */
export const namesOfSecrets = ({ workload }: Draft, bound: readonly BoundVariable[]): string[] => [
  ...new Set([...workload.secretNames, ...bound.map(({ name }) => name).filter((name) => !isSealedName(name))]),
];

function refusalsOfSecrets(
  { workload }: Draft,
  known: readonly SecretMetadata[],
  bound: readonly BoundVariable[],
): Refusal[] {
  const code = 'unknown_secret' as const;
  const find = (name: string) => known.find((secret) => secret.name === name);
  const refs = [
    ...workload.spec.secret_refs.map((ref) => ({ ref, path: 'secret_refs' })),
    ...bound.filter(({ name }) => !isSealedName(name)).map((ref) => ({ ref, path: `env.${ref.env}` })),
  ];
  const absentOf = (name: string, path: string) =>
    find(name) ? [] : [{ code, path, message: `requires the secret ${name}, which does not exist` }];
  const absent = [
    ...workload.secretNames.flatMap((name) => absentOf(name, 'secret_refs')),
    ...refs.flatMap(({ ref, path }) => (path === 'secret_refs' ? [] : absentOf(ref.name, path))),
  ];
  const keyless = refs.flatMap(({ ref, path }) => {
    const secret = find(ref.name);
    if (!secret || keyOf(ref, secret.keys) !== undefined) return [];
    const requiredKey = ref.key === undefined ? `a key for ${ref.env}` : `the key ${ref.key}`;
    const message = `requires ${requiredKey} of the secret ${ref.name}, which has the keys ${secret.keys.join(', ')}`;
    return [{ code, path, message }];
  });
  const pull = find(workload.spec.registry_credentials ?? '');
  const isPull = !pull || isPullSecret(pull);
  const message = `requires the secret ${pull?.name} to be of kind registry, with the keys username and password`;
  return [...absent, ...keyless, ...(isPull ? [] : [{ code, path: 'registry_credentials', message }])];
}

/**
 * A pull secret is used only with its own registry. A secret without one is used only by deployments that already use it
 * with the same registry.
 */
async function refusalsOfRegistry(
  transaction: Transaction,
  { id, workload: { spec } }: Draft,
  known: readonly SecretMetadata[],
): Promise<Refusal[]> {
  const secret = known.find(({ name }) => name === spec.registry_credentials);
  const server = registryHost(spec);
  if (!secret || !isPullSecret(secret) || secret.server === server) return [];
  const refusal = (message: string): Refusal[] => [
    { code: 'deployment_refused', path: 'registry_credentials', message },
  ];
  if (secret.server !== null) {
    return refusal(`names the secret ${secret.name}, which is for the registry ${secret.server} and not for ${server}`);
  }
  const row = await transaction.deployment.findUnique({ where: { id } });
  const current = row && (await readWorkloadRevision(transaction, row.workload_id, row.revision)).spec;
  if (current?.registry_credentials === secret.name && registryHost(current) === server) return [];
  return refusal(
    secret.kind === 'registry'
      ? `names the secret ${secret.name}, which has no server; set its server to ${server} first`
      : `names the secret ${secret.name}, which must be of kind registry with the server ${server}`,
  );
}

const isPullSecret = ({ keys }: SecretMetadata): boolean => ['username', 'password'].every((key) => keys.includes(key));

function refusalsOfPlacement({ desiredState }: Draft, placement: Placement): Refusal[] {
  if (desiredState === 'stopped' || placement.chosen) return [];
  const { assessments } = placement;
  const code = 'no_placement' as const;
  if (assessments.length === 0) {
    return [{ code, path: 'target', message: 'cannot be chosen: no host or cluster is registered' }];
  }
  const { listed, omitted } = listAssessments(assessments);
  const refusals = listed.map(({ kind, name, reasons }) => ({
    code,
    path: 'target',
    message: `cannot be ${kind} ${name}: ${reasons.join('; ')}`,
  }));
  if (omitted.rejected === 0) return refusals;
  return [
    ...refusals,
    { code, path: 'target', message: `cannot be any of the ${omitted.rejected} other hosts and clusters` },
  ];
}
