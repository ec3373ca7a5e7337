import { isDeepStrictEqual } from 'node:util';
import { tiers } from '@svc/contract';
import type { Target } from '@svc/contract/fleet';
import type { Prisma, SecretKind } from '../generated/prisma/client.ts';
import { type AddressesByType, bindAddresses } from '../placement/addresses.ts';
import {
  type ClusterCandidate,
  type ClusterNode,
  type HostCandidate,
  observedLabels,
  type PlacementRequirements,
  placementRequirementsOf,
  type Reachability,
  type Taint,
} from '../placement/candidates.ts';
import { type ChosenTarget, type Placement, place } from '../placement/place.ts';
import { bytes } from '../quantities.ts';
import { containerOptionProblems } from '../render/container-options.ts';
import { PORTS_BIND_TO_ADDRESSES } from '../render/defaults.ts';
import { type ResolvedEnv, resolveEnv } from '../render/env.ts';
import { registryHost } from '../render/image.ts';
import { isSealedName, keyOf } from '../render/secrets.ts';
import { specProblems } from '../render/spec-problems.ts';
import { refuseUnsupported } from '../render/unsupported-values.ts';
import { engineKey, registeredFirst } from '../resources/identity.ts';
import { withoutSealed } from '../resources/workloads.ts';
import { type BoundVariable, readBound, refusalsOfDependents } from './bindings.ts';
import { type Draft, readWorkloadRevision } from './draft.ts';
import { allocatedGpus, decidePorts, type PortDecision } from './ports.ts';
import type { Refusal } from './refusals.ts';
import { type MountedVolume, mountVolumes, refusalsOfAddedVolumes, refusalsOfReplicas } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

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
  transaction: Transaction,
  { draft, requirements, mounted }: DraftPlacement,
): Promise<Placement> {
  if (draft.desiredState === 'stopped') return { chosen: undefined, assessments: [] };
  const current = await readCurrentAllocation(transaction, draft, requirements);
  if (current && current.gpus.length >= requirements.replicas) return keepAllocation(current, requirements.replicas);
  const candidates = await readCandidates(transaction, current ? undefined : draft.id);
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
  if (!current) return place(request, candidates);
  const more = place({ ...request, replicas: requirements.replicas - current.gpus.length }, candidates);
  return more.chosen ? { ...more, chosen: { ...more.chosen, gpus: [...current.gpus, ...more.chosen.gpus] } } : more;
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
export async function decide(transaction: Transaction, draft: Draft): Promise<Decision> {
  const { workload } = draft;
  if (draft.isNewRevision) refuseUnsupported(withoutSealed(workload.spec));
  const { env, bindings, problems } = resolveEnv(workload.spec, draft.env, workload.secretVariables);
  const { bound, refusals: ofBindings } = await readBound(transaction, draft, bindings);
  const secrets = await readSecretMetadata(transaction, namesOfSecrets(draft, bound));
  const { mounted, refusals: ofVolumes } = await mountVolumes(transaction, draft);
  const requirements = placementRequirementsOf(workload.spec, draft.replicas);
  const placement = await placeDraft(transaction, { draft, requirements, mounted });
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
      ...(await refusalsOfDependents(transaction, draft)),
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

function refusalsOfPlacement({ desiredState }: Draft, { chosen, assessments }: Placement): Refusal[] {
  if (desiredState === 'stopped' || chosen) return [];
  const code = 'no_placement' as const;
  if (assessments.length === 0) {
    return [{ code, path: 'target', message: 'cannot be chosen: no host or cluster is registered' }];
  }
  return assessments.map(({ kind, name, reasons }) => ({
    code,
    path: 'target',
    message: `cannot be ${kind} ${name}: ${reasons.join('; ')}`,
  }));
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

interface HostRow {
  readonly id: string;
  readonly name: string;
  readonly duplicate_of: string | null;
  readonly labels: Record<string, string>;
  readonly arch: string | null;
  readonly taints: Taint[];
  readonly schedulable: boolean;
  readonly reachability: Reachability;
  readonly network_types: string[];
  readonly addresses: AddressesByType;
  readonly cpu_millis: number | null;
  readonly memory_bytes: number | null;
  readonly gpus: { readonly id: string; readonly model: string; readonly vram: string }[];
  readonly used_cpu: number;
  readonly used_memory: number;
  readonly used_gpus: string[];
}

interface ClusterRow {
  readonly id: string;
  readonly name: string;
  readonly duplicate_of: string | null;
  readonly reachability: Reachability;
  readonly network_types: string[];
  readonly cpu_millis: number | null;
  readonly memory_bytes: number | null;
  readonly gpu_count: number | null;
  readonly used_cpu: number;
  readonly used_memory: number;
  readonly used_gpus: number;
  readonly nodes: NodeRow[];
}

interface NodeRow {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly taints: Taint[];
  readonly schedulable: boolean;
  readonly cpu_millis: number;
  readonly memory_bytes: number;
  readonly gpu_count: number;
}

const NO_DEPLOYMENT = '00000000-0000-0000-0000-000000000000';

/**
 * All hosts and clusters as candidates, with their allocated resources; the allocation of `deploymentId` does not
 * count. Registrations of the same engine share its allocated resources. It runs two statements, regardless of the number
 * of candidates.
 */
async function readCandidates(reader: Reader, deploymentId = NO_DEPLOYMENT) {
  const hosts = await reader.$queryRaw<HostRow[]>`
    SELECT s.id, s.name, s.labels, s.arch, s.taints, s.schedulable, s.reachability::text AS reachability, s.network_types,
           s.addresses, s.gpus, s.cpu_millis::float8, s.memory_bytes::float8, ${registeredFirst('hosts')} AS duplicate_of,
           coalesce(d.cpu, 0)::float8 AS used_cpu, coalesce(d.memory, 0)::float8 AS used_memory,
           coalesce(g.ids, '{}') AS used_gpus
    FROM hosts s
    LEFT JOIN (SELECT ${engineKey} AS engine, sum(d.cpu_millis) AS cpu, sum(d.memory_bytes) AS memory
               FROM deployments d JOIN hosts s ON s.id = d.host_id
               WHERE d.id <> ${deploymentId}::uuid GROUP BY 1) d ON d.engine = ${engineKey}
    LEFT JOIN (SELECT ${engineKey} AS engine, array_agg(g.gpu_id) AS ids
               FROM allocated_gpus g JOIN hosts s ON s.id = g.host_id
               WHERE g.deployment_id <> ${deploymentId}::uuid GROUP BY 1) g ON g.engine = ${engineKey}`;
  const clusters = await reader.$queryRaw<ClusterRow[]>`
    SELECT s.id, s.name, s.reachability::text AS reachability, s.network_types, s.gpu_count,
           s.cpu_millis::float8, s.memory_bytes::float8, ${registeredFirst('clusters')} AS duplicate_of,
           coalesce(d.cpu, 0)::float8 AS used_cpu, coalesce(d.memory, 0)::float8 AS used_memory,
           coalesce(d.gpus, 0)::int AS used_gpus, coalesce(n.nodes, '[]') AS nodes
    FROM clusters s
    LEFT JOIN (SELECT cluster_id, jsonb_agg(jsonb_build_object('name', name, 'labels', labels, 'taints', taints,
                 'schedulable', schedulable AND ready, 'cpu_millis', cpu_millis, 'memory_bytes', memory_bytes,
                 'gpu_count', gpu_count) ORDER BY name) AS nodes
               FROM nodes GROUP BY cluster_id) n ON n.cluster_id = s.id
    LEFT JOIN (SELECT ${engineKey} AS engine, sum(d.cpu_millis) AS cpu, sum(d.memory_bytes) AS memory, sum(d.gpu_count) AS gpus
               FROM deployments d JOIN clusters s ON s.id = d.cluster_id
               WHERE d.id <> ${deploymentId}::uuid GROUP BY 1) d ON d.engine = ${engineKey}`;
  return [...hosts.map(hostCandidate), ...clusters.map(clusterCandidate)];
}

const amounts = ({ cpu_millis, memory_bytes }: Pick<HostRow, 'cpu_millis' | 'memory_bytes'>) =>
  cpu_millis === null || memory_bytes === null ? null : { cpu_millis, memory_bytes };

const hostCandidate = (row: HostRow): HostCandidate => ({
  kind: 'host',
  id: row.id,
  name: row.name,
  labels: { ...observedLabels(row.arch), ...row.labels },
  taints: row.taints,
  schedulable: row.schedulable,
  reachability: row.reachability,
  network_types: row.network_types,
  addresses: row.addresses,
  duplicate_of: row.duplicate_of ?? undefined,
  capacity: amounts(row),
  gpus: row.gpus.map(({ id, model, vram }) => ({ id, model, vram_bytes: bytes(vram) })),
  allocated: { cpu_millis: row.used_cpu, memory_bytes: row.used_memory, gpus: row.used_gpus },
});

/** The scheduler of the cluster makes the final choice of a node. */
function clusterCandidate(row: ClusterRow): ClusterCandidate {
  const known = amounts(row);
  return {
    kind: 'cluster',
    id: row.id,
    name: row.name,
    reachability: row.reachability,
    network_types: row.network_types,
    duplicate_of: row.duplicate_of ?? undefined,
    allocatable: known && { ...known, gpu_count: row.gpu_count ?? 0 },
    allocated: { cpu_millis: row.used_cpu, memory_bytes: row.used_memory, gpu_count: row.used_gpus },
    nodes: row.nodes.map(nodeOf),
  };
}

/** The node label of NVIDIA's GPU feature discovery: the memory of each GPU in MiB. */
const GPU_MEMORY = 'nvidia.com/gpu.memory';

function nodeOf({ name, labels, taints, schedulable, ...allocatable }: NodeRow): ClusterNode {
  const mebibytes = Number(labels[GPU_MEMORY]);
  const vram = mebibytes > 0 ? { vram_bytes: mebibytes * 2 ** 20 } : {};
  return { name, labels, taints, schedulable, allocatable, ...vram };
}
