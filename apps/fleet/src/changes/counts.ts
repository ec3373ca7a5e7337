import { type ChangeCounts, phases } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';

interface Receiver {
  readonly onCounts?: (text: string) => void;
}

/** The number of deployments in each phase. */
async function readCounts({ client }: Database): Promise<ChangeCounts> {
  const rows = await client.$queryRaw<{ phase: string; count: number }[]>`
    SELECT phase, count(*)::int AS count FROM deployments GROUP BY phase`;
  const counts = new Map(rows.map(({ phase, count }) => [phase, count]));
  // Each phase is a member.
  return { deployments: Object.fromEntries(phases.map((phase) => [phase, counts.get(phase) ?? 0])) } as ChangeCounts;
}

/**
 * The counts that subscribers receive in addition to changes. They are read once for all
 * subscribers.
 */
export function createCounts(database: Database) {
  const told = new WeakSet<Receiver>();
  let last = '';
  let isOld = true;
  return {
    /**
     * Reads the counts if that is necessary: for new receivers, and if they may have changed.
     *
     * @returns sends them to new receivers, and to all if they have changed
     */
    read: async (all: Iterable<Receiver>, mayHaveChanged: boolean): Promise<() => void> => {
      const receivers = [...all].filter(({ onCounts }) => onCounts !== undefined);
      const added = receivers.filter((receiver) => !told.has(receiver));
      isOld ||= mayHaveChanged;
      if (receivers.length === 0 || (!isOld && added.length === 0)) return () => {};
      const text = `event: counts\ndata: ${JSON.stringify(await readCounts(database))}\n\n`;
      const concerned = text === last ? added : receivers;
      last = text;
      isOld = false;
      return () => {
        for (const receiver of concerned) {
          told.add(receiver);
          receiver.onCounts?.(text);
        }
      };
    },
  };
}
