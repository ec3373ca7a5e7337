import { eventually } from '../run/eventually.ts';
import type { LoadResult } from './load.ts';

/** Writes, and records acknowledged writes, which must not be lost. */
export interface Ledger {
  /** Each call is a write. The first call creates an object: 201. */
  writer(name: string): () => Promise<LoadResult>;
  /** The number of acknowledged writes. */
  acknowledged(): number;
}

/** Waits until `count` more writes are acknowledged. */
export async function moreAcknowledged({ acknowledged }: Pick<Ledger, 'acknowledged'>, count: number): Promise<void> {
  const before = acknowledged();
  await eventually('writes are acknowledged', async () => acknowledged() >= before + count);
}
