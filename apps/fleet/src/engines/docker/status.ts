import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { type EngineFailure, Permanent, type Reason } from '../errors.ts';
import type { Endpoint, Fence, Instance, Observation } from '../observation.ts';
import { scrubberOf, sentenceOf } from '../redact.ts';
import type { Found, Work } from './containers.ts';
import { isCurrent, isJob, isUp, type Pair, pairsOf, type State, stateOf } from './plan.ts';

/** Where the ports of containers are reached: on their machine, at what is allocated to them. */
export function endpointsOf(containers: readonly RenderedContainer[], endpoint: string): Endpoint[] {
  const machine = new URL(endpoint).hostname || 'localhost'; // a socket of this machine has no host
  return containers.flatMap(({ body }) =>
    Object.entries(body.HostConfig.PortBindings).flatMap(([key, bindings]) => {
      const [port = '', protocol = ''] = key.split('/');
      return bindings.map(({ HostIp = '', HostPort }) => ({
        container_port: Number(port),
        protocol: protocol.toUpperCase(),
        address: `${hostOf(HostIp, machine)}:${HostPort}`,
      }));
    }),
  );
}

/** An address that means all of them is none to call. */
function hostOf(ip: string, machine: string): string {
  if (['', '0.0.0.0', '::'].includes(ip)) return machine;
  return ip.includes(':') ? `[${ip}]` : ip;
}

/** Takes out of an engine's words every value that it was given: the driver knows not which of them are secrets. */
export function scrubberFor({ containers, registryAuth }: DockerManifest<'values'>): (text: string) => string {
  const values = containers.flatMap(({ body }) => body.Env.map((entry) => entry.slice(entry.indexOf('=') + 1)));
  return scrubberOf([...values, ...credentialsIn(registryAuth)]);
}

function credentialsIn(registryAuth: string | undefined): string[] {
  if (registryAuth === undefined) return [];
  const { username, password } = JSON.parse(Buffer.from(registryAuth, 'base64url').toString('utf8')) as Record<
    string,
    string
  >;
  return [registryAuth, username ?? '', password ?? ''];
}

/** What is said where objects of a later generation are there; undefined where none is. */
export function overtakenBy(
  found: readonly Found[],
  { generation }: Fence,
  actions: readonly string[] = [],
): Observation | undefined {
  const latest = Math.max(generation, ...found.map((container) => container.generation));
  if (latest === generation) return undefined;
  const message = `Generation ${latest} is there already: generation ${generation} touches nothing.`;
  const nothing = { reason: null, instances: [], endpoints: [], volumes: [] };
  return { ...nothing, phase: 'starting', message, actions, next: 'soon', overtaken: true };
}

/** A container that should be, how it stands, and what went wrong with it in this pass. */
interface Standing {
  readonly pair: Pair;
  readonly state: State;
  readonly trouble: EngineFailure | undefined;
  /** It runs, and what it should. */
  readonly isFine: boolean;
  /** It runs what was wanted before: its turn comes when the others are up. */
  readonly isOutdated: boolean;
  /** It will be otherwise before long, without anybody's help. */
  readonly moves: boolean;
}

const MOVING: readonly Instance['phase'][] = ['missing', 'created', 'starting', 'stopping', 'stopped', 'paused'];

/** How a deployment stands after a pass that was to have it run. */
export function outcomeOf(work: Work, found: readonly Found[]): Observation {
  const { pairs, surplus } = pairsOf(found, work.wanted.manifest);
  const standings = pairs.map((pair) => standingOf(pair, work));
  const clean = scrubberFor(work.wanted.manifest);
  const troubles = [...work.troubles.values()];
  const instances = [
    ...standings.map((standing) => instanceOf(standing, clean)),
    ...surplus.map((it) => ({ ...instance(it, 'stopping'), message: 'is one too many' })),
  ];
  return {
    ...verdict(standings, { troubles, surplus: surplus.length, clean }),
    instances,
    endpoints: endpointsOf(
      standings.filter(({ isFine }) => isFine).map(({ pair }) => pair.rendered),
      work.client.address.endpoint,
    ),
    volumes: work.volumes,
    actions: work.actions,
    overtaken: false,
  };
}

function standingOf(pair: Pair, { client, troubles }: Work): Standing {
  const trouble = troubles.get(pair.rendered.ordinal);
  const state = pair.found ? stateOf(pair.found, client.timing) : MISSING;
  const current = isCurrent(pair);
  const isFine = current && state.phase === 'running';
  const isOutdated = pair.found !== undefined && !current;
  return { pair, state, trouble, isFine, isOutdated, moves: trouble === undefined && MOVING.includes(state.phase) };
}

const MISSING: State = { phase: 'missing', message: 'is not there', reason: null };

const instance = ({ name, details }: Found, phase: Instance['phase']) => ({
  name,
  phase,
  restarts: details.RestartCount,
});

function instanceOf({ pair, state, trouble, isFine }: Standing, clean: Clean): Instance {
  const { rendered, found } = pair;
  const message = trouble && !isFine ? sentenceOf(trouble, clean) : state.message;
  return found
    ? { ...instance(found, state.phase), message }
    : { name: rendered.name, phase: 'missing', message, restarts: 0 };
}

type Clean = (text: string) => string;
type Verdict = Pick<Observation, 'phase' | 'reason' | 'message' | 'next'>;

interface Circumstances {
  readonly troubles: readonly EngineFailure[];
  /** How many are still to go. */
  readonly surplus: number;
  readonly clean: Clean;
}

function verdict(standings: readonly Standing[], { troubles, surplus, clean }: Circumstances): Verdict {
  const count = countOf(standings);
  const anyRuns = standings.some(({ pair }) => pair.found && isUp(pair.found));
  const permanent = troubles.find((trouble) => trouble instanceof Permanent);
  const trouble = permanent ?? troubles[0];
  const moves = standings.some((standing) => standing.moves) || surplus > 0;
  if (trouble) {
    const phase = anyRuns ? 'degraded' : permanent ? 'failed' : 'retrying';
    return {
      phase,
      reason: trouble.reason,
      message: sentenceOf(trouble, clean),
      next: permanent ? 'settled' : 'retry',
    };
  }
  const fallen = standings.find(({ state }) => state.reason !== null);
  if (fallen) return fallenVerdict(fallen, { anyRuns, moves, count });
  if (standings.length === 0)
    return { phase: surplus > 0 ? 'stopping' : 'stopped', ...calm('Nothing of it is to run.', moves) };
  const isOnItsWay = moves || standings.some(({ isOutdated }) => isOutdated);
  if (isOnItsWay) return { phase: 'starting', ...calm(count, isOnItsWay) };
  if (standings.every(({ state }) => state.phase === 'completed')) {
    return { phase: 'stopped', ...calm('Its work is done.', false) };
  }
  const isWell = standings.every(({ isFine, state }) => isFine || state.phase === 'completed');
  return { phase: isWell ? 'running' : 'degraded', ...calm(isWell ? count : `${ailing(standings)} ${count}`, false) };
}

function countOf(standings: readonly Standing[]): string {
  const up = standings.filter(({ state }) => state.phase === 'running').length;
  const outdated = standings.filter(({ isOutdated }) => isOutdated).length;
  return `${up} of ${standings.length} up${outdated > 0 ? `, ${outdated} still to be replaced` : ''}.`;
}

const calm = (message: string, moves: boolean): { reason: Reason | null; message: string; next: Verdict['next'] } => ({
  reason: null,
  message,
  next: moves ? 'soon' : 'settled',
});

const ailing = (standings: readonly Standing[]): string =>
  standings
    .filter(({ isFine }) => !isFine)
    .slice(0, 1)
    .map(({ pair, state }) => `${pair.rendered.name} ${state.message}.`)
    .join('');

/** One has crashed, or a job has failed, which nobody starts again. */
function fallenVerdict(
  { pair, state }: Standing,
  { anyRuns, moves, count }: { readonly anyRuns: boolean; readonly moves: boolean; readonly count: string },
): Verdict {
  const message = `${pair.rendered.name} ${state.message}. ${count}`;
  const job = isJob(pair.rendered.body.HostConfig);
  const phase = anyRuns ? 'degraded' : job ? 'failed' : 'retrying';
  return { phase, reason: state.reason, message, next: moves ? 'soon' : job ? 'settled' : 'retry' };
}
