import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import type { Reason } from '../errors.ts';
import type { Instance } from '../observation.ts';
import type { DockerTimings } from './client.ts';
import type { Found } from './containers.ts';

/** How a container stands, and why it is not up. */
export interface State {
  readonly phase: Instance['phase'];
  readonly message: string;
  readonly reason: Reason | null;
}

const KILLED = 137;

/** A container that ends by itself when its work is done: its engine never starts it again. */
export const isJob = ({ RestartPolicy }: { readonly RestartPolicy: { readonly Name: string } }): boolean =>
  RestartPolicy.Name === 'no';

/** Whether it is up, were it only just: an engine also calls running what it is about to start again. */
export const isUp = ({ details: { State } }: Found): boolean => State.Running && !State.Restarting;

/** How a container stands by what its engine says, and by the clock of its machine. */
export function stateOf(found: Found, timing: DockerTimings): State {
  const { State: state, HostConfig } = found.details;
  if (state.Restarting) return crashed(found, 'is being started again');
  if (state.Paused) return { phase: 'paused', message: 'is paused', reason: null };
  if (state.Running) return up(found, timing);
  if (state.Status === 'created' || state.Status === 'initialized') {
    return { phase: 'created', message: 'is made, and was not started', reason: null };
  }
  if (state.Status === 'stopping' || state.Status === 'removing') {
    return { phase: 'stopping', message: 'is being stopped', reason: null };
  }
  return isJob(HostConfig) ? ended(found) : down(found, timing);
}

function up({ details, at }: Found, { settled }: DockerTimings): State {
  const { StartedAt, Health } = details.State;
  const health = Health?.Status;
  if (health === 'unhealthy')
    return { phase: 'unhealthy', message: 'runs, and its check of health fails', reason: null };
  return at - StartedAt < settled
    ? { phase: 'starting', message: 'was started just now', reason: null }
    : { phase: 'running', message: 'runs', reason: null };
}

function ended(found: Found): State {
  const { ExitCode } = found.details.State;
  if (ExitCode === 0) return { phase: 'completed', message: 'has done its work', reason: null };
  const { message, reason } = crashed(found, 'has failed');
  return { phase: 'failed', message, reason: reason === 'OOMKilled' ? reason : 'JobFailed' };
}

/** What its engine has given up, and what ended before it had run for a while, has crashed; else somebody stopped it. */
function down(found: Found, { shortLife }: DockerTimings): State {
  const { State: state, RestartCount, HostConfig } = found.details;
  const { MaximumRetryCount } = HostConfig.RestartPolicy;
  const isGivenUp = state.ExitCode !== 0 && MaximumRetryCount > 0 && RestartCount >= MaximumRetryCount;
  if (isGivenUp || state.FinishedAt - state.StartedAt < shortLife) return crashed(found, 'does not stay up');
  return { phase: 'stopped', message: `had stopped (exit code ${state.ExitCode})`, reason: null };
}

/** Engines don't always say that memory ran out; a limit and the signal that nobody can catch say it as well. */
function crashed({ details }: Found, what: string): State {
  const { ExitCode, OOMKilled } = details.State;
  const { Memory } = details.HostConfig;
  const code = `exit code ${ExitCode}`;
  if (OOMKilled || (ExitCode === KILLED && Memory > 0)) {
    const why = `it was killed, as happens to what needs more than its ${mebibytes(Memory)} of memory`;
    return { phase: 'crashed', message: `${what} (${code}): ${why}`, reason: 'OOMKilled' };
  }
  return { phase: 'crashed', message: `${what} (${code})`, reason: 'CrashLoop' };
}

const mebibytes = (bytes: number) => (bytes > 0 ? `${Math.round(bytes / 2 ** 20)} MiB` : 'share');

/** One thing to do, and to which container. */
export type Step =
  | { readonly do: 'remove'; readonly found: Found }
  /** It runs without the GPUs that were asked for. */
  | { readonly do: 'refuse'; readonly found: Found }
  | {
      readonly do: 'start' | 'unpause';
      readonly found: Found;
      readonly rendered: RenderedContainer;
      readonly why: string;
    }
  | { readonly do: 'make'; readonly rendered: RenderedContainer; readonly instead?: Found };

interface Rules {
  readonly timing: DockerTimings;
  /** Start again what has crashed. */
  readonly retry: boolean;
}

/** A container that should be, and the one that there is for it. */
export interface Pair {
  readonly rendered: RenderedContainer;
  readonly found: Found | undefined;
}

/** Who is who, by ordinals. One that goes by another name, or the second of an ordinal, is nobody's. */
export function pairsOf(found: readonly Found[], { containers }: DockerManifest<'values'>) {
  const pairs: Pair[] = containers.map((rendered) => ({
    rendered,
    found: found.find(({ ordinal, name }) => ordinal === rendered.ordinal && name === rendered.name),
  }));
  const kept = new Set(pairs.map((pair) => pair.found));
  return { pairs, surplus: found.filter((container) => !kept.has(container)) };
}

/** Whether it runs what it should: nothing else is a reason to make it anew. */
export const isCurrent = ({ rendered, found }: Pair): boolean =>
  found !== undefined && found.digest === rendered.body.Labels[KEYS.body] && found.details.State.Status !== 'dead';

/** What is to be done now. Those that are outdated go one after the other, each when the one before is up. */
export function planOf(found: readonly Found[], manifest: DockerManifest<'values'>, rules: Rules): Step[] {
  const { pairs, surplus } = pairsOf(found, manifest);
  const removals = surplus.map((container): Step => ({ do: 'remove', found: container }));
  const steps = pairs.flatMap((pair) => stepsFor(pair, rules));
  const outdated = pairs.filter((pair) => pair.found && isUp(pair.found) && !isCurrent(pair));
  const mayReplace = steps.length === 0 && pairs.filter(isCurrent).every((pair) => isSettled(pair, rules));
  return [...removals, ...steps, ...(mayReplace ? outdated.slice(0, 1).map(replacement) : [])];
}

const isSettled = ({ found }: Pair, { timing }: Rules): boolean =>
  found !== undefined && ['running', 'completed'].includes(stateOf(found, timing).phase);

const replacement = ({ rendered, found }: Pair): Step => ({ do: 'make', rendered, ...(found && { instead: found }) });

function stepsFor(pair: Pair, { timing, retry }: Rules): Step[] {
  const { rendered, found } = pair;
  if (!found) return [{ do: 'make', rendered }];
  if (!isCurrent(pair)) return isUp(found) ? [] : [replacement(pair)];
  if (isUp(found) && lacksGpus(rendered, found)) return [{ do: 'refuse', found }];
  const { phase, message } = stateOf(found, timing);
  if (phase === 'created') return [{ do: 'start', found, rendered, why: '' }];
  if (phase === 'stopped') return [{ do: 'start', found, rendered, why: ` again: it ${message}` }];
  if (phase === 'paused') return [{ do: 'unpause', found, rendered, why: '' }];
  const isDown = phase === 'crashed' && !found.details.State.Restarting;
  return isDown && retry ? [{ do: 'start', found, rendered, why: ` again: it ${message}` }] : [];
}

/** Some engines leave out GPUs that they can't give, and say nothing. */
export const lacksGpus = ({ body }: RenderedContainer, { details }: Found): boolean =>
  (body.HostConfig.DeviceRequests?.length ?? 0) > 0 &&
  !details.HostConfig.DeviceRequests &&
  !details.HostConfig.Devices;
