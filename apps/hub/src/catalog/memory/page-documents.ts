import { setImmediate } from 'node:timers/promises';
import type { Document, ReadDocuments, Version } from './documents.ts';

/** How the caller of a page reads many bytes. */
export interface LargeReads {
  /** Runs work when it is the turn of the caller. @throws 503 */
  readonly inTurn: <T>(work: () => Promise<T>, bytes: number) => Promise<T>;
  /**
   * Refuses to read more bytes than the caller can receive. Undefined: any number. @throws 413
   */
  readonly refuse?: ((bytes: number) => void) | undefined;
}

/** The bytes of a part of a page, unless a single document is larger. */
const PART_BYTES = 512 * 1024;

/**
 * The documents of a page, in the order of their versions; undefined if the database has a later
 * version of one of them. Many bytes that are not in memory are read in a turn of the caller, and in
 * parts, between which other work of the process runs.
 * @throws 413, 503
 */
export async function documentsOfPage(
  documents: ReadDocuments,
  versions: readonly Version[],
  { inTurn, refuse }: LargeReads,
): Promise<readonly Document[] | undefined> {
  const found = new Map<string, Document>();
  const missing: Version[] = [];
  for (const version of versions) {
    const document = documents.cached(version);
    if (document) found.set(version.id, document);
    else missing.push(version);
  }
  const sizes = missing.length === 0 ? new Map<string, number>() : await documents.sizesOf(idsOf(missing));
  const sizeOf = ({ id }: Version) => sizes.get(id) ?? 0;
  const bytes = sumOf(missing.map(sizeOf));
  refuse?.(bytes + sumOf([...found.values()].map(bytesOf)));
  if (bytes <= PART_BYTES) return documents.of(versions);
  return inTurn(async () => {
    for (const part of partsOf(missing, sizeOf)) {
      const read = await documents.of(part);
      if (!read) return undefined;
      part.forEach(({ id }, at) => {
        const document = read[at];
        if (document) found.set(id, document);
      });
      await setImmediate();
    }
    return versions.flatMap(({ id }) => found.get(id) ?? []);
  }, bytes);
}

const idsOf = (versions: readonly Version[]) => versions.map(({ id }) => id);

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

const bytesOf = ({ parts: [before, after] }: Document) => before.length + after.length;

function partsOf(versions: readonly Version[], sizeOf: (version: Version) => number): Version[][] {
  const parts: Version[][] = [];
  let room = 0;
  for (const version of versions) {
    const bytes = sizeOf(version);
    if (bytes > room) {
      parts.push([]);
      room = PART_BYTES;
    }
    parts.at(-1)?.push(version);
    room -= bytes;
  }
  return parts;
}
