import { expect } from '@jest/globals';
import { figure } from '../run/depth.ts';
import { aBalancer } from './balancer.ts';
import { migrateAsLaterVersion } from './connections.ts';
import { type Ledger, moreAcknowledged } from './ledger.ts';
import { type LoadResult, startLoad, statusesOf, summaryOf } from './load.ts';
import type { RunningService } from './prepare.ts';

const SOME_WRITES = 20;

interface Replicas<L> {
  readonly databaseUrl: string;
  /** Starts a replica, at a free port unless one is given. */
  readonly start: (port?: number) => Promise<RunningService>;
  /** The ledger and the clients that send requests to `url`, which changes with each request. */
  readonly prepare: (
    url: () => string,
    first: RunningService,
  ) => Promise<{ readonly ledger: L; readonly lanes: readonly (() => Promise<LoadResult>)[] }>;
}

/**
 * Upgrades two replicas under load as docs/upgrade.md describes: the database is migrated, and then
 * each replica is stopped with SIGTERM and started again. The clients send each request to a
 * replica that is ready, and again only if the connection is refused. Fails if any other request
 * fails.
 * @returns the ledger
 */
export async function upgradeUnderLoad<L extends Pick<Ledger, 'acknowledged'>>({
  databaseUrl,
  start,
  prepare,
}: Replicas<L>): Promise<L> {
  const replicas = [await start(), await start()];
  const [first] = replicas;
  if (!first) throw new Error('two replicas were started');
  const balancer = aBalancer(replicas);
  const { ledger, lanes } = await prepare(balancer.url, first);
  const load = startLoad(lanes);
  const outputs = replicas.map(({ output }) => output);
  try {
    await moreAcknowledged(ledger, SOME_WRITES);
    await migrateAsLaterVersion(databaseUrl);
    await moreAcknowledged(ledger, SOME_WRITES);
    for (const { child, ended, port } of replicas) {
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      outputs.push((await start(port)).output);
      await balancer.allReady();
      await moreAcknowledged(ledger, SOME_WRITES);
    }
  } finally {
    await load.stop();
    await balancer.stop();
  }
  expect(load.seen.filter(({ status }) => status !== 200 && status !== 201)).toEqual([]); // shows the errors
  expect(statusesOf(load.seen)).toEqual([200, 201]);
  expect(Math.min(...balancer.sent())).toBeGreaterThan(0);
  for (const output of outputs) expect(output()).not.toMatch(/cached plan|"level":[5-6]0/);
  figure(`upgrade of two replicas: ${balancer.sent().join(' and ')} requests; ${summaryOf(load.seen)}`);
  return ledger;
}
