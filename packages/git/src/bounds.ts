import { setImmediate } from 'node:timers/promises';
import { GitBoundError } from './errors.ts';

/** The bounds of one read. Bytes are counted after decompression. */
export interface GitLimits {
  /** The size of an object or of a difference, in bytes. */
  readonly objectBytes: number;
  /** The size of all objects and differences, in bytes. */
  readonly totalBytes: number;
  /** The number of objects. */
  readonly objects: number;
  /** The number of entries of folders that are visited. Several folders can have the same content, which counts each time. */
  readonly entries: number;
  /** The length of a path, in bytes. */
  readonly pathBytes: number;
  /** The number of wanted files. */
  readonly files: number;
  /** The size of all wanted files, in bytes. Several files can have the same content, which counts each time. */
  readonly textBytes: number;
}

const MIB = 2 ** 20;

/**
 * The bounds of production. The transport bounds what is received (`GIT_OUTBOUND`), so that a read needs at most about
 * 100 MiB of memory: a response, its pack, and the objects.
 */
export const GIT_LIMITS: GitLimits = {
  objectBytes: 2 * MIB,
  totalBytes: 64 * MIB,
  objects: 100_000,
  entries: 500_000,
  pathBytes: 4096,
  files: 2000,
  textBytes: 16 * MIB,
};

/** How much of the bounds is used. Each method fails before the work that exceeds a bound. */
export interface Budget {
  readonly limits: GitLimits;
  /** The size of an object or a difference that is about to be decompressed or computed. @throws GitBoundError */
  addObject(bytes: number): void;
  /** The number of objects that a pack declares. @throws GitBoundError */
  addObjects(count: number): void;
  /** An entry of a folder. @throws GitBoundError */
  addEntry(): void;
  /** A wanted file. @throws GitBoundError */
  addFile(): void;
  /** The size of a wanted file. @throws GitBoundError */
  addText(bytes: number): void;
  /** The bytes of all objects and differences so far. */
  usedBytes(): number;
}

function createBudget(limits: GitLimits): Budget {
  const used = { totalBytes: 0, objects: 0, entries: 0, files: 0, textBytes: 0 };
  const add = (name: keyof typeof used, amount: number, message: () => string) => {
    if (used[name] + amount > limits[name]) throw new GitBoundError(message());
    used[name] += amount;
  };
  return {
    limits,
    addObject: (bytes) => {
      if (bytes > limits.objectBytes)
        throw new GitBoundError(`An object of the commit is larger than ${sizeOf(limits.objectBytes)}.`);
      add(
        'totalBytes',
        bytes,
        () => `The objects of the commit are larger than ${sizeOf(limits.totalBytes)} together.`,
      );
    },
    addObjects: (count) => add('objects', count, () => `The commit has more than ${limits.objects} objects.`),
    addEntry: () => add('entries', 1, () => `The folder has more than ${limits.entries} entries.`),
    addFile: () => add('files', 1, () => `The folder has more than ${limits.files} files that are read.`),
    addText: (bytes) =>
      add('textBytes', bytes, () => `The files of the folder are larger than ${sizeOf(limits.textBytes)} together.`),
    usedBytes: () => used.totalBytes,
  };
}

/** A number of bytes, for messages. */
export const sizeOf = (bytes: number): string => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`);

/** The duration after which other work of the process runs, in milliseconds. */
const PORTION_MS = 10;

/** Work in portions, so that other work of the process runs between them. */
export interface Portions {
  /** Whether the portion has lasted long enough. */
  isOver(): boolean;
  /** Begins the next portion after other work. */
  next(): Promise<void>;
}

function createPortions(): Portions {
  let started = performance.now();
  return {
    isOver: () => performance.now() - started >= PORTION_MS,
    next: async () => {
      await setImmediate();
      started = performance.now();
    },
  };
}

/** What the steps of a read share. */
export interface Work {
  readonly budget: Budget;
  readonly portions: Portions;
}

export const startWork = (limits: GitLimits): Work => ({ budget: createBudget(limits), portions: createPortions() });
