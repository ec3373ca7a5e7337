import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { type EngineFailure, Permanent, type Reason } from '../errors.ts';
import type { Endpoint, Fence, Instance, Observation } from '../observation.ts';
import { describeFailure, redactorOf } from '../redact.ts';
import type { FoundContainer, ReconcileRun } from './containers.ts';
import { type ContainerPair, type ContainerState, isCurrent, isJob, isUp, pairByOrdinal, stateOf } from './plan.ts';

/** The addresses of the published ports of containers: the address of the host and the allocated host port. */
export function endpointsOf(containers: readonly RenderedContainer[], endpoint: string): Endpoint[] {
  const host = new URL(endpoint).hostname || 'localhost'; // a Unix socket has no host name
  return containers.flatMap(({ body }) =>
    Object.entries(body.HostConfig.PortBindings).flatMap(([key, bindings]) => {
      const [port = '', protocol = ''] = key.split('/');
      return bindings.map(({ HostIp = '', HostPort }) => ({
        container_port: Number(port),
        protocol: protocol.toUpperCase(),
        address: `${hostOf(HostIp, host)}:${HostPort}`,
      }));
    }),
  );
}

/** Replaces the unspecified address, to which a client cannot connect, with the address of the host. */
function hostOf(ip: string, host: string): string {
  if (['', '0.0.0.0', '::'].includes(ip)) return host;
  return ip.includes(':') ? `[${ip}]` : ip;
}

/** Redacts all values that the engine received, because the driver does not know which of them are secrets. */
export function redactorFor({ containers, registryAuth }: DockerManifest<'values'>): (text: string) => string {
  const values = containers.flatMap(({ body }) => body.Env.map((entry) => entry.slice(entry.indexOf('=') + 1)));
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
  const message = `Generation ${generation} is superseded by generation ${latest}.`;
  const nothing = { reason: null, instances: [], endpoints: [], volumes: [] };
  return { ...nothing, phase: 'starting', message, actions, next: 'soon', superseded: true };
}

/** A desired container with its state and its failure in this reconciliation. */
interface ContainerStatus {
  readonly pair: ContainerPair;
  readonly state: ContainerState;
  readonly failure: EngineFailure | undefined;
  /** Whether it is running and current. */
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

/** The observed state of a deployment after it was reconciled to run. */
export function observationOf(run: ReconcileRun, found: readonly FoundContainer[]): Observation {
  const { pairs, surplus } = pairByOrdinal(found, run.desired.manifest);
  const statuses = pairs.map((pair) => containerStatusOf(pair, run));
  const redact = redactorFor(run.desired.manifest);
  const failures = [...run.failures.values()];
  const instances = [
    ...statuses.map((status) => instanceOf(status, redact)),
    ...surplus.map((it) => ({ ...instance(it, 'stopping'), message: 'is surplus' })),
  ];
  return {
    ...deploymentStatus(statuses, { failures, surplus: surplus.length, redact }),
    instances,
    endpoints: endpointsOf(
      statuses.filter(({ isReady }) => isReady).map(({ pair }) => pair.rendered),
      run.client.address.endpoint,
    ),
    volumes: run.volumes,
    actions: run.actions,
    superseded: false,
  };
}

function containerStatusOf(pair: ContainerPair, { client, failures }: ReconcileRun): ContainerStatus {
  const failure = failures.get(pair.rendered.ordinal);
  const state = pair.found ? stateOf(pair.found, client.timing) : MISSING;
  const current = isCurrent(pair);
  const isReady = current && state.phase === 'running';
  const isOutdated = pair.found !== undefined && !current;
  return {
    pair,
    state,
    failure,
    isReady,
    isOutdated,
    isChanging: failure === undefined && CHANGING_PHASES.includes(state.phase),
  };
}

const MISSING: ContainerState = { phase: 'missing', message: 'does not exist', reason: null };

const instance = ({ name, details }: FoundContainer, phase: Instance['phase']) => ({
  name,
  phase,
  restarts: details.RestartCount,
});

function instanceOf({ pair, state, failure, isReady }: ContainerStatus, redact: Redact): Instance {
  const { rendered, found } = pair;
  const message = failure && !isReady ? describeFailure(failure, redact) : state.message;
  return found
    ? { ...instance(found, state.phase), message }
    : { name: rendered.name, phase: 'missing', message, restarts: 0 };
}

type Redact = (text: string) => string;
type DeploymentStatus = Pick<Observation, 'phase' | 'reason' | 'message' | 'next'>;

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
  const count = countOf(statuses);
  const anyRuns = statuses.some(({ pair }) => pair.found && isUp(pair.found));
  const permanent = failures.find((failure) => failure instanceof Permanent);
  const failure = permanent ?? failures[0];
  const isChanging = statuses.some((status) => status.isChanging) || surplus > 0;
  if (failure) {
    const phase = anyRuns ? 'degraded' : permanent ? 'failed' : 'retrying';
    return {
      phase,
      reason: failure.reason,
      message: describeFailure(failure, redact),
      next: permanent ? 'settled' : 'retry',
    };
  }
  const crashed = statuses.find(({ state }) => state.reason !== null);
  if (crashed) return crashedStatus(crashed, { anyRuns, isChanging, count });
  if (statuses.length === 0)
    return {
      phase: surplus > 0 ? 'stopping' : 'stopped',
      ...withoutFailure('It is scaled to 0 replicas.', isChanging),
    };
  const isInProgress = isChanging || statuses.some(({ isOutdated }) => isOutdated);
  if (isInProgress) return { phase: 'starting', ...withoutFailure(count, isInProgress) };
  if (statuses.every(({ state }) => state.phase === 'completed')) {
    return { phase: 'stopped', ...withoutFailure('It has completed.', false) };
  }
  const isHealthy = statuses.every(({ isReady, state }) => isReady || state.phase === 'completed');
  return {
    phase: isHealthy ? 'running' : 'degraded',
    ...withoutFailure(isHealthy ? count : `${describeUnhealthy(statuses)} ${count}`, false),
  };
}

function countOf(statuses: readonly ContainerStatus[]): string {
  const up = statuses.filter(({ state }) => state.phase === 'running').length;
  const outdated = statuses.filter(({ isOutdated }) => isOutdated).length;
  return `${up} of ${statuses.length} up${outdated > 0 ? `, ${outdated} still to be replaced` : ''}.`;
}

const withoutFailure = (
  message: string,
  isChanging: boolean,
): { reason: Reason | null; message: string; next: DeploymentStatus['next'] } => ({
  reason: null,
  message,
  next: isChanging ? 'soon' : 'settled',
});

const describeUnhealthy = (statuses: readonly ContainerStatus[]): string =>
  statuses
    .filter(({ isReady }) => !isReady)
    .slice(0, 1)
    .map(({ pair, state }) => `${pair.rendered.name} ${state.message}.`)
    .join('');

/** The status if a container has crashed or a job has failed. A failed job is not restarted. */
function crashedStatus(
  { pair, state }: ContainerStatus,
  { anyRuns, isChanging, count }: { readonly anyRuns: boolean; readonly isChanging: boolean; readonly count: string },
): DeploymentStatus {
  const message = `${pair.rendered.name} ${state.message}. ${count}`;
  const job = isJob(pair.rendered.body.HostConfig);
  const phase = anyRuns ? 'degraded' : job ? 'failed' : 'retrying';
  return { phase, reason: state.reason, message, next: isChanging ? 'soon' : job ? 'settled' : 'retry' };
}
