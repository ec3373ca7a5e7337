import { randomUUID } from 'node:crypto';
import type { Reader } from '@svc/database';
import { etagOfBody } from '@svc/http';
import { LRUCache } from 'lru-cache';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Kind } from '../kinds.ts';

type Parts = readonly [before: Buffer, after: Buffer];

/** A template in JSON, as all callers receive it. */
export interface Document {
  /** The text before and after the number of downloads, which changes without the template. */
  readonly parts: Parts;
  /** The entity tag of the parts. */
  readonly etag: string;
  /** The number of downloads that is stored. It can be a second late. */
  downloads: number;
}

/**
 * A version of a template: the stamps of its last change, and of the last change of its category,
 * in milliseconds.
 */
export interface Version {
  readonly id: string;
  readonly updatedAt: number;
  readonly shownAt: number;
}

/** A document, with the version of the template that it shows. */
type Stored = Document & Version;

/** How a cache was used since the process started, and what it contains. */
export type CacheUse = () => {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  readonly bytes: number;
};

export interface Documents extends ReadDocuments {
  /** What they show. */
  readonly kind: Kind;
  /** The same templates with an empty documentation. Reading them does not read the documentation. */
  readonly summaries: ReadDocuments & Pick<Documents, 'inMemory' | 'use'>;
  /** The documents of versions, in the same order; undefined unless all of them are in memory. */
  inMemory(versions: readonly Version[]): readonly Document[] | undefined;
  clear(): void;
  readonly use: CacheUse;
  /** Sets the stored numbers of downloads. */
  setDownloads(counts: readonly { readonly id: string; readonly count: number }[]): void;
}

export interface ReadDocuments {
  /** The document of a version, if it is in memory. */
  cached(version: Version): Document | undefined;
  /** The sizes in bytes of the documents of templates, approximately. */
  sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * The documents of versions, in the same order; undefined if the database has a later version of
   * one of them. `from` reads the documents that are not known.
   */
  of(versions: readonly Version[], from?: Reader): Promise<readonly Document[] | undefined>;
}

/** The maximum sizes of all documents and of all summaries. */
const MAX_BYTES = 96 * 1024 * 1024;
const MAX_SUMMARY_BYTES = 24 * 1024 * 1024;
/** The memory of an entry of the cache beside its bytes. */
const OVERHEAD = 500;
/** The number of documents that are read and rendered at once. Other work of the process runs between them. */
const MAX_READ = 50;

export function createDocuments(reader: Reader, kind: Kind): Documents {
  const full = createCache(reader, {
    kind,
    columns: kind.columns,
    size: Prisma.sql`t.weight`,
    maxBytes: MAX_BYTES * kind.cacheShare,
  });
  const summaries = createCache(reader, {
    kind,
    columns: kind.summaryColumns,
    size: kind.summarySize,
    maxBytes: MAX_SUMMARY_BYTES * kind.cacheShare,
  });
  return {
    ...full,
    kind,
    summaries,
    clear() {
      full.clear();
      summaries.clear();
    },
    setDownloads(counts) {
      full.setDownloads(counts);
      summaries.setDownloads(counts);
    },
  };
}

interface CacheOptions {
  readonly kind: Kind;
  /** The columns that are read of a template. */
  readonly columns: Prisma.Sql;
  /** The size of these columns. */
  readonly size: Prisma.Sql;
  readonly maxBytes: number;
}

function createCache(
  reader: Reader,
  { kind, columns, size, maxBytes }: CacheOptions,
): Omit<Documents, 'summaries' | 'kind'> {
  const known = new LRUCache<string, Stored>({
    maxSize: maxBytes,
    sizeCalculation: ({ parts: [before, after] }) => before.length + after.length + OVERHEAD,
  });
  let hits = 0;
  let misses = 0;
  /** A snapshot can have an earlier version than the one that is known. */
  const remember = (document: Stored) => {
    const other = known.peek(document.id);
    if (!other || document.updatedAt > other.updatedAt || document.shownAt > other.shownAt) {
      known.set(document.id, document);
    }
  };
  const loads = createLoads({ kind, columns }, remember);
  const cached = (version: Version) => {
    const document = known.get(version.id);
    return document && shows(document, version) ? document : undefined;
  };
  return {
    cached,
    inMemory(versions) {
      const found = versions.flatMap((version) => cached(version) ?? []);
      if (found.length < versions.length) return undefined;
      hits += found.length;
      return found;
    },
    async sizesOf(ids) {
      const rows = await reader.read<{ id: string; bytes: number }>(Prisma.sql`
        SELECT t.id, ${size} AS bytes FROM ${kind.table} t WHERE t.id = ANY (${[...ids]}::uuid[])`);
      return new Map(rows.map(({ id, bytes }) => [id, bytes]));
    },
    async of(versions, from = reader) {
      const found = new Map<string, Stored>();
      /** Collects the documents that show their versions. @returns the other versions */
      const collect = (wanted: readonly Version[], read: Pick<ReadonlyMap<string, Stored>, 'get'>) =>
        wanted.filter((version) => {
          const document = read.get(version.id);
          if (!document || !shows(document, version)) return true;
          found.set(version.id, document);
          return false;
        });
      const unknown = collect(versions, known);
      hits += versions.length - unknown.length;
      misses += unknown.length;
      for (let start = 0; start < unknown.length; start += MAX_READ) {
        // Other callers may have read some of the later parts meanwhile.
        let missing = collect(unknown.slice(start, start + MAX_READ), known);
        const others = loads.inProgress(idsOf(missing));
        // Without a load in progress, the own load starts in the same turn, so that later calls find
        // it.
        if (others.size > 0) {
          for (const read of await loads.succeeded(others)) missing = collect(missing, read);
        }
        if (missing.length > 0) missing = collect(missing, await loads.load(idsOf(missing), from));
        if (missing.length > 0) return undefined;
      }
      return versions.flatMap(({ id }) => found.get(id) ?? []);
    },
    use: () => ({ hits, misses, entries: known.size, bytes: known.calculatedSize }),
    clear: () => known.clear(),
    setDownloads(counts) {
      for (const { id, count } of counts) {
        const document = known.peek(id);
        if (document) document.downloads = Math.max(document.downloads, count);
      }
    },
  };
}

type Load = Promise<ReadonlyMap<string, Stored>>;

/** Reads of documents that concurrent callers share. `onRead` receives each document. */
function createLoads(read: Pick<CacheOptions, 'kind' | 'columns'>, onRead: (document: Stored) => void) {
  /** The loads in progress, by the ids of their templates. */
  const loading = new Map<string, Load>();
  return {
    inProgress: (ids: readonly string[]): ReadonlySet<Load> => new Set(ids.flatMap((id) => loading.get(id) ?? [])),
    /** Waits for loads. @returns the documents of each load that succeeds */
    async succeeded(loads: ReadonlySet<Load>) {
      const settled = await Promise.allSettled(loads);
      return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    },
    async load(ids: readonly string[], from: Reader) {
      const started = readDocuments(from, read, ids);
      for (const id of ids) loading.set(id, started);
      try {
        const documents = await started;
        for (const document of documents.values()) onRead(document);
        return documents;
      } finally {
        for (const id of ids) if (loading.get(id) === started) loading.delete(id);
      }
    },
  };
}

const idsOf = (versions: readonly Version[]): string[] => versions.map(({ id }) => id);

const shows = (document: Stored, { updatedAt, shownAt }: Version): boolean =>
  document.updatedAt === updatedAt && document.shownAt === shownAt;

interface Row {
  readonly id: string;
  readonly shown_at: Date;
}

/** Reads objects, and checks each against the contract. */
async function readDocuments(
  reader: Reader,
  { kind, columns }: Pick<CacheOptions, 'kind' | 'columns'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Stored>> {
  const rows = await reader.read<Row>(Prisma.sql`
    SELECT ${columns}, c.shown_at FROM ${kind.sources} WHERE t.id = ANY (${[...ids]}::uuid[])`);
  return new Map(rows.map((row) => [row.id, documentOf(kind, row)]));
}

/**
 * Takes the place of the number of downloads in the JSON of a template. No template contains it.
 */
const MARK = randomUUID();

function documentOf({ schema }: Kind, { shown_at, ...row }: Row): Stored {
  const parsed = schema.parse(row);
  const [before, after] = partsOf(parsed);
  return {
    id: parsed.id,
    updatedAt: Date.parse(parsed.updated_at),
    shownAt: shown_at.getTime(),
    parts: [Buffer.from(before), Buffer.from(after)],
    etag: `W/${etagOfBody(before + after)}`,
    downloads: parsed.download_count,
  };
}

function partsOf(shown: { readonly download_count: number }): readonly [before: string, after: string] {
  const json = JSON.stringify({ ...shown, download_count: MARK } satisfies Record<keyof typeof shown, unknown>);
  const [before = '', after = ''] = json.split(`"${MARK}"`);
  return [before, after];
}

const SEPARATOR = Buffer.from(',');

/** The JSON of documents as elements of an array, with the stored numbers of downloads. */
export const elementsOf = (documents: readonly Document[]): readonly Buffer[] =>
  documents.flatMap((document, at) => {
    const json = jsonOf(document, document.downloads);
    return at === 0 ? json : [SEPARATOR, ...json];
  });

/** The JSON of a document with a number of downloads. */
export const jsonOf = ({ parts: [before, after] }: Pick<Document, 'parts'>, downloads: number): readonly Buffer[] => [
  before,
  Buffer.from(String(downloads)),
  after,
];
