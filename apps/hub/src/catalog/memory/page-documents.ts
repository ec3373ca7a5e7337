import { setImmediate } from 'node:timers/promises';
import { partsOf, type Sized } from '@svc/http';
import type { Document, ReadDocuments, Version } from './documents.ts';

/** The sizes of the documents of a page, in memory or not. */
export async function sizesOfPage(documents: ReadDocuments, versions: readonly Version[]): Promise<Sized<Version>[]> {
  const cached = new Map(versions.map((version) => [version.id, documents.cached(version)]));
  const missing = versions.filter(({ id }) => !cached.get(id)).map(({ id }) => id);
  const known = missing.length === 0 ? new Map<string, number>() : await documents.sizesOf(missing);
  return versions.map((key) => {
    const document = cached.get(key.id);
    return { key, bytes: document ? lengthOf(document) : (known.get(key.id) ?? 0) };
  });
}

const lengthOf = ({ parts: [before, after] }: Document) => before.length + after.length;

/**
 * The documents of a large page, in the order of their versions; undefined if the database has a
 * later version of one of them. They are read in parts, between which other work of the process
 * runs.
 */
export async function documentsInParts(
  documents: ReadDocuments,
  sizes: readonly Sized<Version>[],
): Promise<readonly Document[] | undefined> {
  const found: Document[] = [];
  for (const part of partsOf(sizes)) {
    const read = await documents.of(part);
    if (!read) return undefined;
    found.push(...read);
    await setImmediate();
  }
  return found;
}
