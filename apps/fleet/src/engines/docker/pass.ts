import type { Fence } from '../fence.ts';
import type { Observation } from '../observation.ts';
import { clear } from './clear.ts';
import type { Client } from './engine-client.ts';
import { run } from './run.ts';
import type { Wanted } from './wanted.ts';

/**
 * Brings a deployment on a machine one step nearer to what is wanted, whatever it finds: it may be broken off, repeated
 * and made twice at once. Touches nothing but containers with the labels of this deployment, and volumes of the fleet.
 *
 * @throws EngineFailure where nothing can be known, Unreachable above all; what else goes wrong is in the observation
 */
export function pass(client: Client, wanted: Wanted, fence: Fence): Promise<Observation> {
  const view = client.within(fence.signal);
  return wanted.kind === 'running' ? run(view, wanted, fence) : clear(view, wanted, fence);
}
