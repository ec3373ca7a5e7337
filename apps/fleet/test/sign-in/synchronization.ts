import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/database/client.ts';

/** A signal that one side awaits and the other sends. */
export function createSignal() {
  let come: () => void = () => undefined;
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { came, come: () => come() };
}

/** Resolves when this many connections of this database wait for another one. */
export async function untilBlocked({ client }: Database, count: number): Promise<void> {
  for (;;) {
    const [row] = await client.$queryRaw<{ blocked: number }[]>`
      SELECT count(*)::int AS blocked FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    if ((row?.blocked ?? 0) >= count) return;
    await pause(10);
  }
}
