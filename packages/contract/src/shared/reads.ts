import { z } from 'zod';
import { MAX_PAGE_SIZE } from './wire.ts';

interface Amount {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The most that an operation reads from the database, and from what its service has in memory, if
 * all rows are as large as they can be.
 */
export interface Reads extends Amount {
  /** What it reads for each row of a list in addition. */
  readonly perRow?: Amount;
}

const KIBIBYTE = 1024;
export const MEBIBYTE = KIBIBYTE * KIBIBYTE;

const fixed = { rows: 30, bytes: 64 * KIBIBYTE };

/** A few small rows, and those of a list, which have no long texts. */
export const smallReads: Reads = { ...fixed, perRow: { rows: 3, bytes: 64 * KIBIBYTE } };

/** An object with what a body of 1 MiB can describe, and what it refers to. */
export const largeReads: Reads = { rows: 50, bytes: 4 * MEBIBYTE };

/** Two such objects, which are compared. */
export const comparisonReads: Reads = { rows: 50, bytes: 8 * MEBIBYTE };

/** A list of such objects. Their sizes are rows of their own. */
export const largeRowReads: Reads = { ...fixed, perRow: { rows: 3, bytes: 3 * MEBIBYTE } };

/** The manifest of a deployment has at most 64 MiB. */
export const manifestReads: Reads = { rows: 50, bytes: 72 * MEBIBYTE };

/** A page of changes has templates of 2 MiB, or one template, whatever its limit is. */
export const changesReads: Reads = { rows: 30, bytes: 4 * MEBIBYTE, perRow: { rows: 3, bytes: KIBIBYTE } };

/** A change: the objects that it concerns, before and after it, and those that they refer to. */
export const changeReads: Reads = { rows: 500, bytes: 16 * MEBIBYTE };

/**
 * An export of as many categories and templates as are allowed: their sizes, themselves, and what
 * they refer to.
 */
export const exportReads: Reads = { rows: 10_000, bytes: 48 * MEBIBYTE };

/**
 * An import: what the catalog has of what the files describe, for the plan and again in the
 * transaction.
 */
export const importReads: Reads = { rows: 25_000, bytes: 112 * MEBIBYTE };

/** What an operation reads at most for a list of `rows`. Default: for the largest page. */
export function readBound({ reads, query }: { readonly reads: Reads; readonly query: z.ZodType }, rows?: number) {
  const { perRow = { rows: 0, bytes: 0 } } = reads;
  const count = rows ?? (hasPages(query) ? MAX_PAGE_SIZE : 0);
  return { rows: reads.rows + count * perRow.rows, bytes: reads.bytes + count * perRow.bytes };
}

/** Whether pages of the operation can be so large that they wait for their turn. */
export const hasLargeRows = ({ reads }: { readonly reads: Reads }): boolean =>
  reads.perRow !== undefined && reads.perRow.bytes >= MEBIBYTE;

/** Whether the operation returns pages. */
export const hasPages = (query: z.ZodType): boolean => query instanceof z.ZodObject && 'limit' in query.shape;
