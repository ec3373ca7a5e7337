import { setImmediate } from 'node:timers/promises';
import { bytesOf, type LargeReads, MAX_PART_BYTES, partsOf } from '@svc/http';
import type { Document, ReadDocuments, Version } from './documents.ts';

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
  const known = missing.length === 0 ? new Map<string, number>() : await documents.sizesOf(missing.map(({ id }) => id));
  const sizes = missing.map((key) => ({ key, bytes: known.get(key.id) ?? 0 }));
  const bytes = bytesOf(sizes);
  refuse?.([...found.values()].reduce((sum, document) => sum + lengthOf(document), bytes));
  if (bytes <= MAX_PART_BYTES) return documents.of(versions);
  return inTurn(async () => {
    for (const part of partsOf(sizes)) {
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

const lengthOf = ({ parts: [before, after] }: Document) => before.length + after.length;
