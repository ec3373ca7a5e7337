import { template } from '@svc/contract';
import { etagOfState } from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { Reader } from '../../database/reader.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type TemplateRow, templateColumns, templateSources } from '../visibility.ts';
import type { Entry } from './entries.ts';

/** A template in JSON, as all callers receive it. */
export interface Document {
  /** The text before and after the number of downloads, which changes without the template. */
  readonly parts: readonly [before: Buffer, after: Buffer];
  /** The entity tag of the parts. */
  readonly etag: string;
  /** The number of downloads that is stored. It can be a second late. */
  downloads: number;
}

/** A document, with the stamps of the version of the template that it shows, in milliseconds. */
interface Stored extends Document {
  readonly updatedAt: number;
  readonly shownAt: number;
}

export interface Documents {
  clear(): void;
  /** The documents of templates; undefined if the database has a later version of one of them. */
  of(entries: readonly Entry[]): Promise<readonly Document[] | undefined>;
  /** Sets the stored numbers of downloads. */
  setDownloads(counts: readonly { readonly id: string; readonly count: number }[]): void;
}

/** The maximum size of all documents. */
const MAX_BYTES = 192 * 1024 * 1024;
/** The memory of an entry of the cache beside its bytes. */
const OVERHEAD = 500;

export function createDocuments(reader: Reader): Documents {
  const known = new LRUCache<string, Stored>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ parts: [before, after] }) => before.length + after.length + OVERHEAD,
  });
  /** The loads in progress, by the ids of their templates. */
  const loading = new Map<string, Promise<ReadonlyMap<string, Stored>>>();

  const load = async (ids: readonly string[]) => {
    const started = readDocuments(reader, ids);
    for (const id of ids) loading.set(id, started);
    try {
      const read = await started;
      for (const [id, document] of read) known.set(id, document);
      return read;
    } finally {
      for (const id of ids) loading.delete(id);
    }
  };
  return {
    async of(entries) {
      const found = new Map<string, Stored>();
      const missing: string[] = [];
      for (const entry of entries) {
        const document = known.get(entry.id);
        if (document && shows(document, entry)) found.set(entry.id, document);
        else missing.push(entry.id);
      }
      if (missing.length > 0) {
        const others = new Set(missing.flatMap((id) => loading.get(id) ?? []));
        const own = missing.filter((id) => !loading.has(id));
        const loads = await Promise.all([...others, ...(own.length > 0 ? [load(own)] : [])]);
        for (const read of loads) for (const [id, document] of read) found.set(id, document);
      }
      const documents = entries.flatMap((entry) => {
        const document = found.get(entry.id);
        return document && shows(document, entry) ? [document] : [];
      });
      return documents.length === entries.length ? documents : undefined;
    },
    clear: () => known.clear(),
    setDownloads(counts) {
      for (const { id, count } of counts) {
        const document = known.peek(id);
        if (document) document.downloads = Math.max(document.downloads, count);
      }
    },
  };
}

/** Whether a document shows the version of a template that the index has. */
const shows = ({ updatedAt, shownAt }: Stored, entry: Entry) =>
  updatedAt === entry.updatedAt && shownAt === entry.group.category.shownAt;

/** It is neither the first nor the last member of a template. */
const COUNT = 'download_count' satisfies keyof TemplateRow;

type Row = TemplateRow & { readonly shown_at: Date };

/** Reads templates, and checks each against the contract. */
async function readDocuments(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, Stored>> {
  const rows = await reader.read<Row>(Prisma.sql`
    SELECT ${templateColumns}, c.shown_at FROM ${templateSources} WHERE t.id = ANY (${[...ids]}::uuid[])`);
  return new Map(rows.map((row) => [row.id, documentOf(row)]));
}

function documentOf({ shown_at, ...row }: Row): Stored {
  const parsed = template.parse(row);
  const members = Object.entries(parsed);
  const place = members.findIndex(([name]) => name === COUNT);
  const jsonOfMembers = (some: typeof members) => JSON.stringify(Object.fromEntries(some));
  const before = `${jsonOfMembers(members.slice(0, place)).slice(0, -1)},"${COUNT}":`;
  const after = `,${jsonOfMembers(members.slice(place + 1)).slice(1)}`;
  return {
    ...{ parts: [Buffer.from(before), Buffer.from(after)], etag: etagOfState(before, after) },
    downloads: parsed.download_count,
    ...{ updatedAt: Date.parse(parsed.updated_at), shownAt: shown_at.getTime() },
  };
}

/** The JSON of a document with a number of downloads. */
export const jsonOf = ({ parts: [before, after] }: Document, downloads: number): readonly Buffer[] => [
  before,
  Buffer.from(String(downloads)),
  after,
];
