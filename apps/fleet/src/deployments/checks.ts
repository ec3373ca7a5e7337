import { deviceVariableErrors, registryHost, tiers } from '@svc/contract';
import type { Prisma } from '../generated/prisma/client.ts';
import { gpuCountOf } from '../placement/candidates.ts';
import { listAssessments } from '../placement/listed.ts';
import type { Placement } from '../placement/place.ts';
import { containerOptionProblems } from '../render/container-options.ts';
import type { ResolvedEnv } from '../render/env.ts';
import { isSealedName, keyOf } from '../render/secrets.ts';
import { specProblems } from '../render/spec-problems.ts';
import { type BoundVariable, refusalsOfDependents } from './bindings.ts';
import { type Draft, readWorkloadRevision } from './draft.ts';
import { refusalsOfHostPorts } from './host-ports/refusals.ts';
import type { NetworkDecision } from './networks/decide.ts';
import type { Pending } from './plans/pending.ts';
import type { PortDecision } from './ports.ts';
import type { Refusal } from './refusals.ts';
import { refusalsOfScaling } from './scaling/refusals.ts';
import { refusalsOfTemplate } from './templates/advice.ts';
import type { Extra } from './updates/extra.ts';
import { isPullSecret, type SecretMetadata } from './values/secret-metadata.ts';
import { refusalsOfSecretUses } from './values/secret-uses.ts';
import { type MountedVolume, refusalsOfAddedVolumes, refusalsOfReplicas } from './volumes.ts';

type Transaction = Prisma.TransactionClient;

/** A draft, and what its decision has read and chosen so far. */
interface Examined {
  readonly draft: Draft;
  readonly pending: Pending;
  readonly env: ResolvedEnv['env'];
  /** The problems of its variables. */
  readonly problems: ResolvedEnv['problems'];
  readonly bound: readonly BoundVariable[];
  readonly ofBindings: readonly Refusal[];
  readonly ofTrust: readonly Refusal[];
  readonly mounted: readonly MountedVolume[];
  readonly ofVolumes: readonly Refusal[];
  readonly secrets: readonly SecretMetadata[];
  readonly placement: Placement;
  readonly ofCluster: readonly Refusal[];
  readonly ports: PortDecision | undefined;
  readonly networks: NetworkDecision | undefined;
  readonly extra: Extra;
}

type Check = (examined: Examined, transaction: Transaction) => readonly Refusal[] | Promise<readonly Refusal[]>;

/** The checks of a draft, in the order in which a response lists the reasons of a refusal. */
const checks = {
  name: ({ draft, pending }, transaction) => refusalsOfName(transaction, draft, pending),
  spec: ({ draft: { workload, creates } }) =>
    [...specProblems(workload.spec), ...(creates.includes('workload') ? deviceVariableErrors(workload.spec) : [])].map(
      (problem) => ({ code: 'deployment_refused', ...problem }),
    ),
  template: ({ draft }, transaction) => refusalsOfTemplate(transaction, draft),
  trust: ({ ofTrust }) => ofTrust,
  tier: ({ draft }, transaction) => refusalsOfTier(transaction, draft),
  variables: ({ draft, env, problems }) =>
    [...problems, ...containerOptionProblems(draft.workload.spec, env)].map((problem) => ({
      code: 'invalid_env',
      ...problem,
    })),
  bindings: ({ ofBindings }) => ofBindings,
  dependents: ({ draft, pending }, transaction) =>
    draft.creates.length === 0 ? refusalsOfDependents(transaction, draft, pending) : [],
  secrets: ({ draft, secrets, bound }) => refusalsOfSecrets(draft, secrets, bound),
  secretUses: ({ draft, secrets, bound }, transaction) => refusalsOfSecretUses(transaction, { draft, secrets, bound }),
  registry: ({ draft, secrets }, transaction) => refusalsOfRegistry(transaction, draft, secrets),
  volumes: ({ ofVolumes }) => ofVolumes,
  replicas: ({ draft, mounted }, transaction) => refusalsOfReplicas(transaction, draft, mounted),
  scaling: ({ draft, mounted, placement }) => refusalsOfScaling(draft, mounted, placement),
  // The placement assesses the volumes of the other drafts.
  addedVolumes: ({ draft, mounted, placement }) =>
    draft.desiredState === 'stopped' || placement.chosen ? refusalsOfAddedVolumes(mounted, draft.target) : [],
  placement: ({ draft, placement }) => refusalsOfPlacement(draft, placement),
  cluster: ({ ofCluster }) => ofCluster,
  files: ({ draft, placement }, transaction) => refusalsOfFiles(transaction, draft, placement),
  hostPorts: ({ draft }) => refusalsOfHostPorts(draft),
  ports: ({ ports }) => ports?.refusals ?? [],
  networks: ({ networks }) => networks?.refusals ?? [],
  updates: ({ draft, mounted, extra }) => refusalsOfOrder(draft, mounted, extra),
} as const satisfies Readonly<Record<string, Check>>;

/** All reasons to refuse a draft. */
export async function runChecks(transaction: Transaction, examined: Examined): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  for (const check of Object.values<Check>(checks)) refusals.push(...(await check(examined, transaction)));
  return refusals;
}

/** Docker places no files in a container whose file system is read-only. */
async function refusalsOfFiles(
  transaction: Transaction,
  { workload: { spec } }: Draft,
  { chosen }: Placement,
): Promise<Refusal[]> {
  if (!spec.read_only_root || spec.files.length === 0 || chosen?.kind !== 'host') return [];
  const { engine } = await transaction.host.findUniqueOrThrow({ where: { id: chosen.id }, select: { engine: true } });
  if (engine !== 'docker') return [];
  const message =
    'must not be a host with Docker, which places no files in the read-only file system that the workload requests';
  return [{ code: 'deployment_refused', path: 'target', message }];
}

/** An update that must start the new instance first is refused where the old one must end first. */
function refusalsOfOrder(
  { workload, target, updates }: Draft,
  mounted: readonly MountedVolume[],
  extra: Extra,
): Refusal[] {
  if (updates.order !== 'start_first') return [];
  const reason = target?.kind === 'cluster' ? whyNoSurge(workload.spec, mounted) : extra.reason;
  if (reason === '') return [];
  const message = `cannot start the new instance first: ${reason} Choose auto, which then ends the old one first`;
  return [{ code: 'deployment_refused', path: 'updates.order', message }];
}

/** Why an old pod must end before its successor starts; '' if it need not. */
function whyNoSurge(spec: Draft['workload']['spec'], mounted: readonly MountedVolume[]): string {
  const exclusive = mounted.find(({ access_mode }) => access_mode === 'ReadWriteOnce');
  if (exclusive) return `Only one pod at a time can use the volume ${exclusive.name}.`;
  return gpuCountOf(spec) > 0 ? 'No GPUs are allocated for one pod more.' : '';
}

/**
 * The names of resources are unique. A name stays taken until a deleted deployment is removed from
 * its target.
 */
async function refusalsOfName(
  transaction: Transaction,
  { name, creates }: Draft,
  pending: Pending,
): Promise<Refusal[]> {
  if (creates.length === 0) return [];
  const refusal = (message: string): Refusal => ({ code: 'name_taken', path: 'name', message });
  const [used] = await transaction.$queryRaw<
    [{ is_deleting: boolean | null; by_workload: boolean; by_application: boolean }]
  >`
    SELECT (SELECT deleting FROM deployments WHERE name = ${name}) AS is_deleting,
      EXISTS (SELECT FROM workloads WHERE name = ${name}) AS by_workload,
      EXISTS (SELECT FROM applications WHERE name = ${name}) AS by_application`;
  const planned = pending.filter((each) => each.name === name);
  const isUsed = creates.includes('deployment') && (used.is_deleting !== null || planned.length > 0);
  const hasWorkload = used.by_workload || planned.some(({ createsWorkload }) => createsWorkload);
  return [
    ...(creates.includes('deployment') && used.by_application ? [refusal('is already used by an application')] : []),
    ...(isUsed
      ? [refusal(`is already used by another deployment${used.is_deleting ? ', which is being deleted' : ''}`)]
      : []),
    ...(creates.includes('workload') && hasWorkload
      ? [refusal('is already used by a workload; choose another name, or deploy this workload')]
      : []),
  ];
}

/**
 * Checks the minimum tier of a template against the tier of the organization, as of the last sync.
 */
async function refusalsOfTier(transaction: Transaction, { workload, isNewRevision }: Draft): Promise<Refusal[]> {
  const message = isNewRevision ? await tierProblem(transaction, workload.minTier) : undefined;
  return message === undefined ? [] : [{ code: 'tier_too_low', path: 'template', message }];
}

/** Why the organization cannot use what requires a minimum tier; undefined if it can. */
export async function tierProblem(transaction: Transaction, minTier: string | null): Promise<string | undefined> {
  if (minTier === null) return undefined;
  const [row] = await transaction.$queryRaw<{ tier: string | null }[]>`
    SELECT organization->>'tier' AS tier FROM catalog_sync`;
  const tier = row?.tier ?? tiers[0];
  // `indexOf` of a tuple of literals accepts only these literals.
  const rank = (name: string) => (tiers as readonly string[]).indexOf(name);
  if (rank(tier) >= rank(minTier) && rank(minTier) >= 0) return undefined;
  return `requires the tier ${minTier}; your organization has the tier ${tier}`;
}

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
 * A pull secret is used only with its own registry. A secret without one is used only by
 * deployments that already use it with the same registry.
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
