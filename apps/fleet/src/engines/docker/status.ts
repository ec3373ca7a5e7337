import { type AddressesByType, scopeOf } from '../../placement/addresses.ts';
import type { DockerManifest } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import {
  type DeploymentStatus,
  type InstanceCounts,
  messageOfCounts,
  statusOfCounts,
  supersededObservation,
  withFailure,
} from '../deployment-status.ts';
import { type EngineFailure, NetworkFailure, Permanent } from '../errors.ts';
import type { Endpoint, Fence, HostImage, Instance, Observation } from '../observation.ts';
import { messageOfFailure, redactorOf } from '../redact.ts';
import type { FoundContainer, ReconcileRun } from './containers.ts';
import { imageIdOf } from './images.ts';
import {
  type ContainerPair,
  type ContainerState,
  isCurrent,
  isExtra,
  isJob,
  isUp,
  pairByOrdinal,
  processOf,
  stateOf,
} from './plan.ts';

interface HostNetwork {
  /** The address of the engine, for ports that bind to all interfaces. */
  readonly endpoint: string;
  readonly addresses: AddressesByType;
}

/** A container that publishes ports, with its bindings by port. */
interface Publisher extends Pick<Endpoint, 'instance' | 'ready' | 'current'> {
  readonly bindings: Readonly<Record<string, readonly { readonly HostIp?: string; readonly HostPort: string }[]>>;
}

/**
 * The addresses of the published ports of containers: the address to which the port binds, and the
 * host port.
 */
export function endpointsOf(publishers: readonly Publisher[], { endpoint, addresses }: HostNetwork): Endpoint[] {
  const host = new URL(endpoint).hostname || 'localhost'; // a Unix socket has no host name
  return publishers.flatMap(({ bindings, instance, ready, current }) =>
    Object.entries(bindings).flatMap(([key, bound]) => {
      const [port = '', protocol = ''] = key.split('/');
      return bound.map(({ HostIp = '', HostPort }) => ({
        container_port: Number(port),
        protocol: protocol.toUpperCase(),
        address: `${hostOf(HostIp, host)}:${HostPort}`,
        scope: isUnspecified(HostIp) ? 'all' : scopeOf(HostIp, addresses),
        instance,
        ready,
        current,
      }));
    }),
  );
}

const isUnspecified = (ip: string): boolean => ['', '0.0.0.0', '::'].includes(ip);

/**
 * Replaces the unspecified address, to which a client cannot connect, with the address of the host.
 */
function hostOf(ip: string, host: string): string {
  if (isUnspecified(ip)) return host;
  return ip.includes(':') ? `[${ip}]` : ip;
}

/**
 * Redacts all values that the engine received, because the driver does not know which of them are
 * secrets.
 */
export function redactorFor({
  containers,
  registryAuth,
}: Pick<DockerManifest<'values'>, 'containers' | 'registryAuth'>): (text: string) => string {
  const environments = new Set(containers.map(({ body }) => body.Env)); // replicas share one array
  const values = [...environments].flat().map((entry) => entry.slice(entry.indexOf('=') + 1));
  return redactorOf([...values, ...credentialsIn(registryAuth)]);
}

function credentialsIn(registryAuth: string | undefined): string[] {
  if (registryAuth === undefined) return [];
  // Written by this service when it created the container.
  const { username, password } = JSON.parse(Buffer.from(registryAuth, 'base64url').toString('utf8')) as Record<
    string,
    string
  >;
  return [registryAuth, username ?? '', password ?? ''];
}

/** The observation if containers of a later generation exist; otherwise undefined. */
export function supersededBy(
  found: readonly FoundContainer[],
  { generation }: Fence,
  actions: readonly string[] = [],
): Observation | undefined {
  const latest = Math.max(generation, ...found.map((container) => container.generation));
  if (latest === generation) return undefined;
  return supersededObservation(generation, latest, actions);
}

/** A desired container with its state and its failure in this reconciliation. */
interface ContainerStatus {
  readonly pair: ContainerPair;
  readonly state: ContainerState;
  readonly failure: EngineFailure | undefined;
  /** Whether it serves. */
  readonly isReady: boolean;
  /** Whether it exists but is not current. It is replaced when the other containers are up. */
  readonly isOutdated: boolean;
  /** Whether its state will change without intervention. */
  readonly isChanging: boolean;
}

const CHANGING_PHASES: readonly Instance['phase'][] = [
  'missing',
  'created',
  'starting',
  'stopping',
  'stopped',
  'paused',
];

/** The observed state of a deployment after it was reconciled to run. `before`: its containers before the actions. */
export function observationOf(
  run: ReconcileRun,
  found: readonly FoundContainer[],
  before: readonly FoundContainer[],
): Observation {
  const pairsIn = (containers: readonly FoundContainer[]) =>
    pairByOrdinal(containers, run.desired.manifest, run.image?.id);
  const processesIn = (pairs: readonly ContainerPair[]) =>
    pairs.flatMap((pair) => (pair.found && processOf(pair.found, run.client.timing)) ?? []);
  const { pairs, surplus } = pairsIn(found);
  const { rollout } = run.desired;
  const isExpected = (pair: ContainerPair) =>
    pair.found !== undefined || run.failures.has(pair.rendered.ordinal) || !isExtra(pair, rollout);
  const statuses = pairs.filter(isExpected).map((pair) => containerStatusOf(pair, run));
  const redact = redactorFor(run.desired.manifest);
  const failures = [...run.failures.values()];
  const instances = [
    ...statuses.map((status) => instanceOf(status, run.image, redact)),
    ...surplus.map((found) => ({
      ...instance(found, 'stopping', run.image),
      message: 'is surplus',
      current: false,
      ready: false,
    })),
  ];
  return {
    ...deploymentStatus(statuses, { failures, surplus: surplus.length, redact }),
    ...(surplus.length === 0 && changeOf(statuses)),
    instances,
    processes: processesIn(pairs),
    ...(before !== found && { processesBefore: processesIn(pairsIn(before).pairs) }),
    endpoints: endpointsOf(statuses.filter(({ pair }) => !isLeaving(pair, run)).flatMap(publisherOf), {
      endpoint: run.client.address.endpoint,
      addresses: run.desired.addresses,
    }),
    volumes: run.volumes,
    networks: run.networks,
    networkFailure: failures.find((failure) => failure instanceof NetworkFailure),
    imageDigest: digestOf(found, run.image),
    leaving: run.leaving,
    actions: run.actions,
  };
}

const isLeaving = ({ found }: ContainerPair, { leaving }: ReconcileRun): boolean =>
  found !== undefined && leaving.includes(found.name);

/**
 * The ports of a container that serves. An outdated one publishes those of its own configuration,
 * which only the engine knows.
 */
function publisherOf({ pair: { rendered, found }, isReady, isOutdated }: ContainerStatus): Publisher[] {
  if (!isReady || !found) return [];
  const bindings = isOutdated ? (found.details.HostConfig.PortBindings ?? {}) : rendered.body.HostConfig.PortBindings;
  return [{ instance: found.name, ready: true, current: !isOutdated, bindings }];
}

/** The digest of the image of all containers, if it is the same one and known. */
function digestOf(found: readonly FoundContainer[], image: HostImage | undefined): string | undefined {
  const [digest, ...others] = new Set(found.map((container) => imageDigestOf(container, image)));
  return others.length === 0 ? (digest ?? undefined) : undefined;
}

/** The digest of the image of a container; null if it is not known. */
const imageDigestOf = (container: FoundContainer, image: HostImage | undefined): string | null =>
  container.details.Config.Labels[KEYS.imageDigest] ?? (imageIdOf(container) === image?.id ? image.digest : null);

function containerStatusOf(pair: ContainerPair, { client, failures }: ReconcileRun): ContainerStatus {
  const failure = failures.get(pair.rendered.ordinal);
  const state = pair.found ? stateOf(pair.found, client.timing) : MISSING;
  const current = isCurrent(pair);
  const isReady = state.phase === 'running';
  const isOutdated = pair.found !== undefined && !current;
  return {
    pair,
    state,
    failure,
    isReady,
    isOutdated,
    isChanging: failure === undefined && state.reason === null && CHANGING_PHASES.includes(state.phase),
  };
}

/** When the last container changes, if only such changes are expected whose time is known. */
function changeOf(statuses: readonly ContainerStatus[]): Pick<Observation, 'changesInMs'> {
  const changing = statuses.filter(({ isChanging }) => isChanging);
  const times = changing.flatMap(({ state }) => state.changesInMs ?? []);
  const isKnown = times.length > 0 && times.length === changing.length;
  return isKnown ? { changesInMs: Math.max(...times) } : {};
}

const MISSING: ContainerState = { phase: 'missing', message: 'does not exist', reason: null };

const instance = (found: FoundContainer, phase: Instance['phase'], image: HostImage | undefined) => ({
  name: found.name,
  phase,
  restarts: found.details.RestartCount,
  ordinal: found.ordinal,
  image_digest: imageDigestOf(found, image),
});

function instanceOf(
  { pair, state, failure, isReady, isOutdated }: ContainerStatus,
  image: HostImage | undefined,
  redact: Redact,
): Instance {
  const { rendered, found } = pair;
  const message = failure && !(isReady && !isOutdated) ? messageOfFailure(failure, redact) : state.message;
  const { name, ordinal } = rendered;
  return found
    ? { ...instance(found, state.phase, image), message, current: !isOutdated, ready: isReady }
    : { name, phase: 'missing', message, restarts: 0, ordinal, current: false, ready: false, image_digest: null };
}

type Redact = (text: string) => string;

interface StatusInput {
  readonly failures: readonly EngineFailure[];
  /** Number of containers that are still to be removed. */
  readonly surplus: number;
  readonly redact: Redact;
}

function deploymentStatus(
  statuses: readonly ContainerStatus[],
  { failures, surplus, redact }: StatusInput,
): DeploymentStatus {
  const anyRuns = statuses.some(({ pair }) => pair.found && isUp(pair.found));
  const failure = failures.find((failure) => failure instanceof Permanent) ?? failures[0];
  if (failure) {
    const message = messageOfFailure(failure, redact);
    return withFailure({ reason: failure.reason, message, anyRuns, isPermanent: failure instanceof Permanent });
  }
  const counts: InstanceCounts = {
    desired: statuses.length,
    up: statuses.filter(({ state }) => state.phase === 'running').length,
    completed: statuses.filter(({ state }) => state.phase === 'completed').length,
    outdated: statuses.filter(({ isOutdated }) => isOutdated).length,
    terminating: surplus,
    isChanging: statuses.some((status) => status.isChanging),
  };
  const crashed = statuses.find(({ state }) => state.reason !== null);
  if (crashed) return crashedStatus(crashed, { anyRuns, counts });
  const status = statusOfCounts(counts);
  return status.phase === 'degraded'
    ? { ...status, message: `${messageOfUnhealthy(statuses)} ${status.message}` }
    : status;
}

const messageOfUnhealthy = (statuses: readonly ContainerStatus[]): string =>
  statuses
    .filter(({ isReady, isOutdated }) => !isReady || isOutdated)
    .slice(0, 1)
    .map(({ pair, state }) => `${pair.rendered.name} ${state.message}.`)
    .join('');

/** The status if a container has crashed or a job has failed. A failed job is not restarted. */
function crashedStatus(
  { pair, state }: ContainerStatus,
  { anyRuns, counts }: { readonly anyRuns: boolean; readonly counts: InstanceCounts },
): DeploymentStatus {
  const message = `${pair.rendered.name} ${state.message}. ${messageOfCounts(counts)}`;
  const isPermanent = isJob(pair.rendered.body.HostConfig);
  const status = withFailure({ reason: state.reason, message, anyRuns, isPermanent, isCrash: !isPermanent });
  return counts.isChanging || counts.terminating > 0 ? { ...status, next: 'soon' } : status;
}
