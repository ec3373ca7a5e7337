import type { Reason } from '../errors.ts';
import type { Instance } from '../observation.ts';
import type { Timing } from './address.ts';
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
export function stateOf(found: Found, timing: Timing): State {
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

function up({ details, at }: Found, { settled }: Timing): State {
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
function down(found: Found, { shortLife }: Timing): State {
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
