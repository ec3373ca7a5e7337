import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { engineProblem } from './at-hand.ts';
import { startDocker } from './docker.ts';
import { importBusybox } from './image.ts';
import { removeLeftovers } from './leftovers.ts';
import { type NetworkBackend, startPodman } from './podman.ts';
import { readEngine } from './read.ts';

/** An engine that is isolated from other engines and leaves no files. */
export interface TestEngine {
  readonly kind: 'docker' | 'podman';
  /** The endpoint of its API: `unix:///…`. */
  readonly endpoint: string;
  /** An image that is present: Busybox, without a command. */
  readonly image: string;
  /**
   * Runs the command-line client of the engine.
   * @returns its standard output
   * @throws an error with its standard error
   */
  byHand(...args: readonly string[]): Promise<string>;
  /** Reads an object with the API of the engine, such as `/containers/<id>/json`. */
  read(path: string): ReturnType<typeof readEngine>;
  /** Kills and removes containers. */
  discard(...names: readonly string[]): Promise<void>;
  /** Stops the program that serves the API, and starts it again. */
  restart(): Promise<void>;
  /** Removes all containers and volumes, and stops the engine. */
  stop(): Promise<void>;
}

/** The engine in TEST_ENGINE, by default Podman. */
export const engineKind = (): TestEngine['kind'] => (process.env.TEST_ENGINE === 'docker' ? 'docker' : 'podman');

interface EngineOptions {
  /** The `host:port` of a registry without TLS. */
  readonly insecureRegistry?: string;
  /** The programs that Podman uses for networks. */
  readonly networkBackend?: NetworkBackend;
}

/** Starts an engine. */
export async function startEngine(o: EngineOptions = {}): Promise<TestEngine> {
  const kind = engineKind();
  const problem = engineProblem(kind);
  if (problem !== undefined) throw new Error(`no engine: ${problem}`);
  const folder = await mkdtemp(path.join(tmpdir(), `svc-${kind}-`));
  const removeFolder = async () => {
    await removeLeftovers(folder);
    // Processes that were killed can still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const { byHand, endpoint, discard, restart, stop } = await (kind === 'docker'
      ? startDocker(folder, o.insecureRegistry)
      : startPodman(folder, o));
    const image = await importBusybox(byHand, path.join(folder, 'image'));
    const read = (at: string) => readEngine(endpoint, at);
    return { kind, endpoint, image, byHand, read, discard, restart, stop: () => stop().finally(removeFolder) };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}
