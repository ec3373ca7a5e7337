import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe } from '@jest/globals';
import { engineProblem } from './engine/at-hand.ts';
import { startDocker } from './engine/docker.ts';
import { importBusybox } from './engine/image.ts';
import { startPodman } from './engine/podman.ts';

export { engineProblem } from './engine/at-hand.ts';
export { busyboxTar } from './engine/image.ts';

/** An engine of its own: it sees nothing of any other, and nothing of it is left behind. */
export interface TestEngine {
  readonly kind: 'docker' | 'podman';
  /** Of its API: `unix:///…`. */
  readonly endpoint: string;
  /** An image that is there: Busybox, with no command of its own. */
  readonly image: string;
  /** Its program by hand, on the same containers. @returns what it prints @throws with what it says */
  byHand(...args: readonly string[]): Promise<string>;
  /** Ends containers at once, and removes them. */
  discard(...names: readonly string[]): Promise<void>;
  /** Removes its containers and volumes, and ends it. */
  stop(): Promise<void>;
}

/** Podman, unless TEST_ENGINE says otherwise. */
export const engineKind = (): TestEngine['kind'] => (process.env.TEST_ENGINE === 'docker' ? 'docker' : 'podman');

/**
 * Tests that need a real engine. Where there is none they are skipped, with the reason in their title; with
 * `TEST_ENGINES=required` they fail.
 */
export function describeWithEngine(title: string, tests: () => void): void {
  const problem = engineProblem(engineKind());
  if (problem === undefined || process.env.TEST_ENGINES === 'required') describe(title, tests);
  else describe.skip(`${title} (skipped: ${problem})`, tests);
}

/** Starts an engine. `insecureRegistry` is a `host:port` that it may pull from without TLS. */
export async function startEngine(o: { readonly insecureRegistry?: string } = {}): Promise<TestEngine> {
  const kind = engineKind();
  const problem = engineProblem(kind);
  if (problem !== undefined) throw new Error(`no engine: ${problem}`);
  const folder = await mkdtemp(path.join(tmpdir(), `svc-${kind}-`));
  const clean = () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  try {
    const { byHand, endpoint, discard, stop } = await (kind === 'docker' ? startDocker : startPodman)(
      folder,
      o.insecureRegistry,
    );
    const image = await importBusybox(byHand, path.join(folder, 'image'));
    return {
      ...{ kind, endpoint, image, byHand, discard },
      stop: async () => {
        await stop();
        await clean();
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}
