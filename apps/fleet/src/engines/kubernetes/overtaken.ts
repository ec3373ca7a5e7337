import type { Fence } from '../fence.ts';
import type { Observation } from '../observation.ts';
import type { Found } from './objects.ts';

/** Something of a later generation was met in the middle of a pass. */
export class Overtaken extends Error {
  override name = 'Overtaken';
  readonly by: number;
  constructor(by: number) {
    super(`generation ${by} is there already`);
    this.by = by;
  }
}

/** @throws Overtaken where an object was made for a later generation */
export function demandLatest(found: readonly Found[], { generation }: Fence): void {
  const latest = Math.max(generation, ...found.map((object) => object.generation));
  if (latest > generation) throw new Overtaken(latest);
}

/** What a pass comes to; where it was overtaken, that, with what it had done until then. */
export async function unlessOvertaken(
  { generation }: Fence,
  actions: readonly string[],
  work: () => Promise<Observation>,
): Promise<Observation> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    const message = `Generation ${error.by} is there already: generation ${generation} touches nothing.`;
    const nothing = { reason: null, instances: [], endpoints: [], volumes: [] };
    return { ...nothing, phase: 'starting', message, actions, next: 'soon', overtaken: true };
  }
}
