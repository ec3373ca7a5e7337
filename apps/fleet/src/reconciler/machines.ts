import type { Rounds } from '@svc/http';
import type { Host } from '../generated/prisma/client.ts';
import { checkHost, keepChecking } from './checks.ts';
import { createEngines, type Engines } from './hosts.ts';
import { keepReconciling } from './reconciler.ts';
import { keepRemoving } from './volumes.ts';

/** The hosts of the fleet, and what runs on them. */
export interface Machines {
  readonly engines: Engines;
  /** Asks a host now, and keeps what it says. */
  check(host: Host): Promise<void>;
  /** Keeps hosts checked and deployments as they are desired, until stopped. */
  start(): void;
  stop(): Promise<void>;
}

type Options = Omit<Parameters<typeof keepReconciling>[0] & Parameters<typeof createEngines>[0], 'engines'>;

export function createMachines(options: Options): Machines {
  const engines = createEngines(options);
  const all = { ...options, engines };
  let rounds: readonly Rounds[] = [];
  return {
    engines,
    check: (host) => checkHost(all, host),
    start: () => {
      rounds = [keepChecking(all), keepReconciling(all), keepRemoving(all)];
    },
    stop: async () => {
      await Promise.all(rounds.map((each) => each.stop()));
      await engines.close();
    },
  };
}
