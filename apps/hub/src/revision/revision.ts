import type { Reader } from '@svc/database';
import { overloaded } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import { createSharedRun } from './shared-run.ts';

/**
 * The state of the database at one time. Two equal states have the same catalog and the same
 * access.
 */
export interface Revision {
  /**
   * The catalog clock. Changes in the snapshot have stamps up to this time; all other changes have
   * later stamps.
   */
  readonly at: Date;
  /** The latest time of which history was pruned. */
  readonly floor: Date | null;
  /** The newest commit. It shows whether the database was restored from a backup. */
  readonly commit: { readonly at: Date; readonly commit: string };
  /** Changes with each change of keys, organizations, and the roles and organizations of users. */
  readonly access: string;
  /** The clock of the database. It decides whether a key has expired. */
  readonly now: Date;
  /** When the statement started, by `performance.now()`. */
  readonly startedAt: number;
}

/**
 * The newest commit of the catalog: a query of one row (at, commit). Its stamp is the catalog
 * clock.
 */
export const newestCommit = Prisma.sql`(SELECT at, commit FROM catalog_commits ORDER BY at DESC LIMIT 1)`;

/** The state of the catalog in one snapshot. */
export type CatalogState = Pick<Revision, 'at' | 'floor' | 'commit'>;

/**
 * The select list and the sources of a query of the state of the catalog, whose row `stateOf`
 * converts.
 */
export const stateColumns = Prisma.sql`k.at, k.floor, n.at AS commit_at, n.commit`;
export const stateSources = Prisma.sql`catalog_clock k, ${newestCommit} n`;

export interface StateRow {
  readonly at: Date;
  readonly floor: Date | null;
  readonly commit_at: Date;
  readonly commit: string;
}

export const stateOf = ({ at, floor, commit_at, commit }: StateRow): CatalogState => ({
  at,
  floor,
  commit: { at: commit_at, commit },
});

/**
 * Reads the revision. It runs on a connection of its own, so that it never waits for other
 * statements.
 */
const REVISION = Prisma.sql`
  SELECT ${stateColumns}, a.revision AS access, clock_timestamp() AS now FROM ${stateSources}, access_revision a`;

interface RevisionRow extends StateRow {
  readonly access: string;
  readonly now: Date;
}

/**
 * The maximum number of requests that wait for a check. More would only wait longer, and use
 * memory.
 */
const MAX_WAITING = 10_000;

export interface RevisionCheck {
  /**
   * Resolves to a revision that was read after the call, so that it includes every change that was
   * acknowledged before.
   * @param canWait whether the statement may wait for more requests, at most 15 ms. Default: false
   * @throws 503 if the database does not respond within its timeout, or if too many requests wait
   */
  latest(canWait?: boolean): Promise<Revision>;
}

/** Checks the revision for all requests that wait, with one statement at a time. */
export function createRevisionCheck(reader: Reader, maxWaiting = MAX_WAITING): RevisionCheck {
  const check = createSharedRun(() => readRevision(reader));
  return {
    latest(canWait) {
      if (check.waiting() < maxWaiting) return check.run(canWait);
      return Promise.reject(overloaded(`${maxWaiting} requests wait for the database already.`));
    },
  };
}

async function readRevision(reader: Reader): Promise<Revision> {
  const startedAt = performance.now();
  const [row] = await reader.read<RevisionRow>(REVISION);
  if (!row) throw new Error('catalog_clock, catalog_commits or access_revision has no row');
  return { ...stateOf(row), access: row.access, now: row.now, startedAt };
}
