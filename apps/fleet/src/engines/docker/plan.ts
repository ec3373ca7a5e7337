import type { DockerManifest, RenderedContainer } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import type { Timing } from './address.ts';
import type { Found } from './containers.ts';
import { isUp, stateOf } from './instances.ts';

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
  readonly timing: Timing;
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
