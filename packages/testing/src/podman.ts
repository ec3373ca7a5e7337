import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe } from '@jest/globals';
import { podmanProblem } from './podman/at-hand.ts';
import { importBusybox } from './podman/image.ts';
import { runProgram } from './podman/program.ts';
import { settingsIn, startService } from './podman/service.ts';

export { podmanProblem } from './podman/at-hand.ts';
export { busyboxTar } from './podman/image.ts';

/** A Podman of its own: it sees nothing of any other, and nothing of it is left behind. */
export interface TestPodman {
  /** Of its API: `unix:///…`. */
  readonly endpoint: string;
  /** An image that is there: Busybox, with no command of its own. */
  readonly image: string;
  /** Podman by hand, on the same containers. @returns what it prints @throws with what it says */
  byHand(...args: readonly string[]): Promise<string>;
  /** Removes its containers and volumes, and ends it. */
  stop(): Promise<void>;
}

/**
 * Tests that need a real Podman. Where there is none they are skipped, with the reason in their title; with
 * `TEST_ENGINES=required` they fail.
 */
export function describeWithPodman(title: string, tests: () => void): void {
  const problem = podmanProblem();
  if (problem === undefined || process.env.TEST_ENGINES === 'required') describe(title, tests);
  else describe.skip(`${title} (skipped: ${problem})`, tests);
}

/** Starts a Podman. `insecureRegistry` is a `host:port` that it may pull from without TLS. */
export async function startPodman(o: { readonly insecureRegistry?: string } = {}): Promise<TestPodman> {
  const problem = podmanProblem();
  if (problem !== undefined) throw new Error(`no Podman: ${problem}`);
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-podman-'));
  const clean = () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  try {
    const settings = await settingsIn(folder, o.insecureRegistry);
    const own = ['--root', path.join(folder, 'root'), '--runroot', path.join(folder, 'run')];
    const byHand = (...args: readonly string[]) => runProgram('podman', [...own, ...args], settings);
    const image = await importBusybox(byHand, path.join(folder, 'image'));
    const socket = path.join(folder, 'podman.sock');
    const stopService = await startService(own, socket, settings);
    const stop = async () => {
      await removeAll(byHand).finally(stopService);
      await clean();
    };
    return { endpoint: `unix://${socket}`, image, byHand, stop };
  } catch (error) {
    await clean();
    throw error;
  }
}

/** One that its engine starts again just now can't be removed: the next time it can. */
async function removeAll(byHand: TestPodman['byHand'], tries = 5): Promise<void> {
  try {
    await byHand('rm', '--all', '--force', '--time', '0');
  } catch (error) {
    if (tries === 1) throw error;
    await removeAll(byHand, tries - 1);
  }
}
