import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/database/client.ts';

/** Something that one side waits for and the other brings about. */
export function aMoment() {
  let come: () => void = () => undefined;
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { came, come: () => come() };
}

/** Resolves when so many connections of this database wait for another one. */
export async function untilBlocked({ client }: Database, count: number): Promise<void> {
  for (;;) {
    const [row] = await client.$queryRaw<{ blocked: number }[]>`
      SELECT count(*)::int AS blocked FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    if ((row?.blocked ?? 0) >= count) return;
    await pause(10);
  }
}
