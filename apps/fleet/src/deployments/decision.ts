import { isDeepStrictEqual } from 'node:util';
import type { Target, Trust } from '@svc/contract/fleet';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Changer } from '../identity/principal.ts';
import { bindAddresses } from '../placement/addresses.ts';
import { type NeededPort, type PlacementRequirements, placementRequirementsOf } from '../placement/candidates.ts';
import { type ChosenTarget, type Placement, place } from '../placement/place.ts';
import { CONTAINERS_ARE_ISOLATED, PORTS_BIND_TO_ADDRESSES } from '../render/defaults.ts';
import { type ResolvedEnv, resolveEnv } from '../render/env.ts';
import { type PodSettings, podSettings } from '../render/pod-settings.ts';
import { refuseUnsupported } from '../render/unsupported-values.ts';
import { problemOfAccount } from '../resources/cluster-policies.ts';
import { withoutSealed } from '../resources/workloads.ts';
import { readNeeded, resolveAddresses } from './addresses/needed.ts';
import { type Bound, type BoundVariable, readBound } from './bindings.ts';
import type { Allocation, Candidates } from './candidates.ts';
import { runChecks } from './checks.ts';
import type { Draft } from './draft.ts';
import { networksIn } from './networks/attached.ts';
import { decideNetworks, type NetworkDecision } from './networks/decide.ts';
import { NOTHING_PENDING, type Pending, pendingPortsOn, reallocationOf } from './plans/pending.ts';
import { allocatedGpus, decidePorts, type PortDecision } from './ports.ts';
import type { Refusal } from './refusals.ts';
import { countedReplicas } from './scaling/scaling.ts';
import {
  admittedOf,
  examineTrust,
  isRefusedOn,
  type OfApplication,
  type RefusedTargets,
  type Trusted,
  trustedIn,
} from './templates/trust.ts';
import { type Extra, NO_EXTRA, replacedBy, whyNoExtra, whyNoRoom, withExtra } from './updates/extra.ts';
import { type PresentDeployment, readPresent } from './updates/present.ts';
import { namesOfSecrets, readSecretMetadata, type SecretMetadata } from './values/secret-metadata.ts';
import { type MountedVolume, mountVolumes } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

/** What a decision reads. */
export interface DecisionContext {
  readonly transaction: Transaction;
  /** The caller who requests the change; absent: the fleet itself. */
  readonly principal?: Changer;
  readonly candidates: Candidates;
  /** What earlier changes of the same plan would store. Default: nothing. */
  readonly pending?: Pending;
  /** Default: it is read for this decision. */
  readonly trusted?: Trusted;
  /** Who signed the application of which what is decided are parts. Default: that of its stored specification. */
  readonly ofApplication?: OfApplication;
  /** Whether parts of applications can be changed: by their application, or by a restart. */
  readonly ofParts?: boolean;
  /** The port at which this process serves its API. Default: not known. */
  readonly servicePort?: number | undefined;
}

interface DraftPlacement {
  readonly draft: Draft;
  /** As `readPresent`. */
  readonly present: PresentDeployment | undefined;
  readonly requirements: PlacementRequirements;
  readonly mounted: readonly MountedVolume[];
  readonly needed: readonly NeededPort[];
  /** Targets on which the policy of trust refuses it. Others come first. */
  readonly refusedTargets: RefusedTargets;
}

/**
 * Places a draft. If its requirements per replica are unchanged, existing replicas keep their
 * target and their GPUs, whatever the state of the target is now, and only additional replicas are
 * placed. If they changed, all replicas are placed again. A stopped deployment is not placed. A target on which the policy of trust
 * refuses the draft is chosen only if there is no other one, so that the decision states the reason.
 */
async function placeDraft(
  { transaction, candidates, pending = NOTHING_PENDING }: DecisionContext,
  { draft, present, requirements, mounted, needed, refusedTargets }: DraftPlacement,
): Promise<Placement> {
  if (draft.desiredState === 'stopped') return { chosen: undefined, assessments: [] };
  const current = await readCurrentAllocation(transaction, draft, { present, requirements });
  if (current && current.gpus.length >= requirements.replicas)
    return keepAllocation(transaction, current, requirements.replicas);
  const isAllocated = !current && draft.creates.length === 0;
  const own = isAllocated ? await readAllocation(transaction, draft.id) : undefined;
  const volumes = mounted.map(({ mount, name, access_mode, boundTo, attachedTo }) => ({
    mount,
    name,
    access_mode,
    boundTo,
    attached_to: attachedTo,
  }));
  const request = {
    ...requirements,
    volumes,
    needed_ports: needed,
    scaling: draft.autoscaling === null ? draft.scaledBy : ('autoscaling' as const),
    target: draft.target ?? undefined,
    has_ports: draft.workload.spec.ports.length > 0,
  };
  const all = await candidates.read(transaction, reallocationOf(pending, own));
  if (!current) {
    const admitted = draft.target === null ? admittedOf(all, refusedTargets) : all;
    const placed = place(request, admitted);
    return placed.chosen || admitted.length === all.length ? placed : place(request, all);
  }
  const more = place({ ...request, replicas: requirements.replicas - current.gpus.length }, all);
  if (!more.chosen) return more;
  return { ...more, chosen: { ...more.chosen, gpus: [...current.gpus, ...more.chosen.gpus] } };
}

/** What is allocated to a deployment; undefined if it does not exist or has no target. */
export async function readAllocation(transaction: Transaction, id: string): Promise<Allocation | undefined> {
  const row = await transaction.deployment.findUnique({ where: { id }, include: { allocated_gpus: true } });
  const targetId = row?.host_id ?? row?.cluster_id;
  if (!row || !targetId) return undefined;
  const { cpu_millis, memory_bytes, gpu_count, allocated_gpus } = row;
  const gpus = allocated_gpus.map(({ gpu_id }) => gpu_id);
  return { targetId, cpu_millis: Number(cpu_millis), memory_bytes: Number(memory_bytes), gpu_count, gpus };
}

/** The target that a deployment has, with the resources that are allocated to it there. */
interface CurrentAllocation {
  readonly target: Target;
  /** The GPU ids of each replica that has an allocation. */
  readonly gpus: readonly (readonly string[])[];
}

/**
 * The current allocation; undefined if there is none, or if the requirements of a replica changed.
 */
async function readCurrentAllocation(
  transaction: Transaction,
  { id, target }: Draft,
  { present, requirements }: Pick<DraftPlacement, 'present' | 'requirements'>,
): Promise<CurrentAllocation | undefined> {
  if (!present || !target || present.desired_state === 'stopped') return undefined;
  const { spec, replicas, extra_instances } = present;
  if (!isDeepStrictEqual(placementRequirementsOf(spec, replicas), { ...requirements, replicas })) return undefined;
  const gpus = await allocatedGpus(transaction, { id, replicas: replicas + extra_instances });
  // The GPUs of a deployment that could not start are released.
  const { gpu_count } = requirements.per_replica;
  if (target.kind === 'host' && gpus.some(({ length }) => length < gpu_count)) return undefined;
  return { target, gpus };
}

async function keepAllocation(
  transaction: Transaction,
  { target: { kind, id }, gpus }: CurrentAllocation,
  replicas: number,
): Promise<Placement> {
  const query = { where: { id }, select: { name: true } };
  const found = await (kind === 'host' ? transaction.host.findUnique(query) : transaction.cluster.findUnique(query));
  const reasons = ['chosen: it runs there and needs no additional resources'];
  return {
    chosen: { kind, id, gpus: gpus.slice(0, replicas) },
    assessments: [{ kind, id, name: found?.name ?? id, fits: true, reasons, obstacles: [] }],
  };
}

/** Where a draft runs, and the extra instance of its rollout. */
interface Placed {
  readonly placement: Placement;
  readonly ports: PortDecision | undefined;
  readonly extra: Extra;
  /** What is allocated until the rollout ends. */
  readonly allocated: PlacementRequirements;
}

/** Places a draft, if possible with an extra instance for the rollout that replaces its instances. */
async function placeRollout(context: DecisionContext, wanted: Omit<DraftPlacement, 'present'>): Promise<Placed> {
  const { draft, requirements, mounted } = wanted;
  const present = await readPresent(context.transaction, draft);
  const given = { ...wanted, present };
  const placed = async (extra: Extra, allocated: PlacementRequirements): Promise<Placed> => {
    const placement = await placeDraft(context, { ...given, requirements: allocated });
    const ports = await portsOn(context, draft, { chosen: placement.chosen, extra });
    return { placement, ports, extra, allocated };
  };
  const before = replacedBy(draft, present);
  if (!before) return placed(NO_EXTRA, requirements);
  const reason = whyNoExtra(draft, mounted, before);
  if (reason !== undefined) return placed({ instances: 0, reason }, requirements);
  const withRoom = await placed({ instances: 1, reason: '' }, withExtra(requirements, before));
  const { placement, ports } = withRoom;
  if (placement.chosen && (ports?.refusals.length ?? 0) === 0) return withRoom;
  const noRoom = placement.chosen ? 'Its host has too few free ports for one instance more.' : whyNoRoom(placement);
  return placed({ instances: 0, reason: noRoom }, requirements);
}

/** The result that a draft would have, and all reasons to refuse it. */
export interface Decision {
  readonly draft: Draft;
  readonly refusals: readonly Refusal[];
  /** Who signed what it runs. */
  readonly trust: Trust;
  /** What is allocated until the rollout of the change ends. */
  readonly allocated: PlacementRequirements;
  readonly extra: Extra;
  readonly env: ResolvedEnv['env'];
  /** The variables that the deployment binds to secrets and sealed values. */
  readonly bound: readonly BoundVariable[];
  readonly composed: Bound['composed'];
  readonly mounted: readonly MountedVolume[];
  readonly secrets: readonly SecretMetadata[];
  readonly placement: Placement;
  /**
   * The target on which the deployment is to run; undefined if no candidate fits, or if the
   * deployment is stopped.
   */
  readonly chosen: ChosenTarget | undefined;
  /** The host ports on the chosen host; undefined if no host is chosen. */
  readonly ports: PortDecision | undefined;
  /** The networks on the chosen host; undefined if no host is chosen, and with earlier defaults. */
  readonly networks: NetworkDecision | undefined;
}

/**
 * Validates and places a draft without writing anything. A stopped deployment needs no capacity.
 * @throws 422 for values of a selected revision that this fleet does not support, because it cannot
 * be placed
 */
export async function decide(context: DecisionContext, requested: Draft): Promise<Decision> {
  const { transaction, pending = NOTHING_PENDING } = context;
  const { workload } = requested;
  if (requested.isNewRevision) refuseUnsupported(withoutSealed(workload.spec));
  const needed = await readNeeded(transaction, requested, pending);
  const { mounted, refusals: ofVolumes } = await mountVolumes(transaction, requested, pending);
  const requirements = placementRequirementsOf(workload.spec, countedReplicas(requested));
  const {
    verdict,
    refusals: byPolicy,
    refusedTargets,
  } = await examineTrust(transaction, requested, {
    principal: context.principal,
    trusted: context.trusted ?? trustedIn(transaction),
    ofApplication: context.ofApplication,
  });
  const wanted = { draft: requested, requirements, mounted, needed: needed.ports, refusedTargets };
  const placed = await placeRollout(context, wanted);
  const { placement, ports, extra, allocated } = placed;
  const target = placement.chosen ?? requested.target;
  const published = ports?.replicas[0] ?? [];
  const resolved = await resolveAddresses(transaction, requested, { ports: needed.ports, target, published });
  const { draft, refusals: ofCluster } = await applyCluster(
    transaction,
    { ...requested, env: resolved.env },
    placement.chosen,
  );
  const networks = await networksOn(context, draft, { chosen: placement.chosen, extra });
  const ofTrust = isRefusedOn(refusedTargets, target) ? byPolicy : [];
  const { env, bindings, problems } = resolveEnv(workload.spec, draft.env, workload.secretVariables);
  const { bound, composed, refusals: ofValues } = await readBound(transaction, draft, bindings, pending);
  const secrets = await readSecretMetadata(transaction, namesOfSecrets(draft, bound));
  const isPlaced = placement.chosen !== undefined;
  const ofBindings = [...ofValues, ...needed.refusals, ...(isPlaced ? resolved.refusals : [])];
  const examined = {
    draft,
    pending,
    ofTrust,
    env,
    problems,
    bound,
    ofBindings,
    mounted,
    ofVolumes,
    secrets,
    placement,
    ofCluster,
    ports,
    networks,
    extra,
  };
  return {
    draft,
    allocated,
    extra,
    env,
    bound,
    composed,
    mounted,
    secrets,
    placement,
    chosen: placement.chosen,
    ports,
    networks,
    trust: verdict,
    refusals: await runChecks(transaction, examined),
  };
}

/**
 * The draft with the settings of its cluster, if the change replaces its instances, and the reasons
 * why nothing may run there.
 */
async function applyCluster(
  transaction: Transaction,
  draft: Draft,
  chosen: ChosenTarget | undefined,
): Promise<{ draft: Draft; refusals: readonly Refusal[] }> {
  if (!draft.replacesInstances || draft.keepsForm) return { draft, refusals: [] };
  const target = chosen ?? draft.target;
  if (target?.kind !== 'cluster') return { draft: { ...draft, podSettings: null }, refusals: [] };
  const cluster = await transaction.cluster.findUniqueOrThrow({ where: { id: target.id } });
  const defaultLimits = cluster.uses_limit_range ? { ...draft.defaultLimits, memory_bytes: null } : draft.defaultLimits;
  const problem = draft.desiredState === 'running' ? problemOfAccount(cluster) : undefined;
  return {
    draft: { ...draft, podSettings: settingsOfCluster(cluster), defaultLimits },
    refusals:
      problem === undefined
        ? []
        : [
            {
              code: 'deployment_refused',
              path: 'target',
              message: `cannot be cluster ${cluster.name}: the account of its pods ${problem}`,
            },
          ],
  };
}

/** The settings in the row of a cluster. */
const settingsOfCluster = (cluster: object): PodSettings => podSettings.parse(cluster);

/** The targets whose first check can change a refusal of the deployment into an acceptance. */
export const uncheckedTargets = ({ chosen, refusals, placement }: Decision): readonly Target[] =>
  !chosen && refusals.every(({ code }) => code === 'no_placement')
    ? placement.assessments.filter(({ isUnchecked }) => isUnchecked)
    : [];

async function portsOn(
  { transaction, servicePort, pending = NOTHING_PENDING }: DecisionContext,
  draft: Draft,
  { chosen, extra }: { readonly chosen: ChosenTarget | undefined; readonly extra: Extra },
) {
  if (chosen?.kind !== 'host') return undefined;
  const { id, replicas, workload, hostPorts, before, defaultsVersion, replacesInstances, creates } = draft;
  return decidePorts(transaction, {
    hostId: chosen.id,
    deploymentId: id,
    isNew: creates.includes('deployment'),
    taken: pendingPortsOn(pending, chosen.id),
    replicas: replicas + extra.instances,
    spec: workload.spec,
    requested: hostPorts,
    requestedBefore: before?.host_ports ?? {},
    servicePort,
    bindTo: (addresses) =>
      defaultsVersion >= PORTS_BIND_TO_ADDRESSES ? bindAddresses(workload.spec.required_network_types, addresses) : [],
    rebinds: replacesInstances,
  });
}

async function networksOn(
  { transaction, candidates, pending = NOTHING_PENDING }: DecisionContext,
  draft: Draft,
  { chosen, extra }: { readonly chosen: ChosenTarget | undefined; readonly extra: Extra },
): Promise<NetworkDecision | undefined> {
  if (chosen?.kind !== 'host' || draft.defaultsVersion < CONTAINERS_ARE_ISOLATED) return undefined;
  return decideNetworks(transaction, {
    hostId: chosen.id,
    deployment: draft,
    instances: draft.replicas + extra.instances,
    needed: networksIn(draft.env),
    pool: candidates.networkPool,
    pending: pending.flatMap(({ networks }) => networks),
  });
}
