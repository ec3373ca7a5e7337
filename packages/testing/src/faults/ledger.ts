import { eventually } from './eventually.ts';
import type { Seen } from './load.ts';

/** Writes, and keeps book of what was acknowledged: the list of what must not be lost. */
export interface Ledger {
  /** Each call is a write. The first one creates something: 201. */
  writer(name: string): () => Promise<Seen>;
  /** How many writes were acknowledged. */
  acknowledged(): number;
}

/** Waits until so many more writes are acknowledged. */
export async function moreAcknowledged({ acknowledged }: Pick<Ledger, 'acknowledged'>, count: number): Promise<void> {
  const before = acknowledged();
  await eventually('writes are acknowledged', async () => acknowledged() >= before + count);
}
