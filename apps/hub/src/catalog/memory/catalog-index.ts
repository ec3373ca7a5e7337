import type { Reader } from '@svc/database';
import { unavailable } from '@svc/http';
import { LRUCache } from 'lru-cache';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Viewer } from '../../identity/principal.ts';
import { type CatalogState, newestCommit, type Revision } from '../../revision/revision.ts';
import { createSharedRun } from '../../revision/shared-run.ts';
import { visibleTemplates } from '../visibility.ts';
import { type CatalogChanges, readChanges } from './changes.ts';
import type { Documents } from './documents.ts';
import { createEntries, type Entries } from './entries.ts';
import type { Group } from './groups.ts';
import { createViews, type ViewerView, type Views } from './views.ts';

/**
 * The catalog in memory at one state, as one viewer sees it. It is valid until the next `await`.
 */
export interface IndexedView extends ViewerView {
  readonly entries: Entries;
  readonly state: CatalogState;
  /** Whether `entries` are still those of `state`. */
  isCurrent(): boolean;
}

/** The result of work that read a later state of the database than that of the index. */
export const OUTDATED = Symbol('outdated');

/**
 * The keys and groups of all templates in memory, without their contents. Each request uses a state
 * that is not older than its revision. If the database was restored from a backup, the index is
 * read again, and the documents are discarded. `visibility.ts` states which groups a viewer sees;
 * the index evaluates it with SQL.
 */
export interface CatalogIndex {
  /**
   * Runs `work` on a state at or after the revision, and again on a later state while it returns
   * OUTDATED.
   * @throws 503 if the catalog changes faster than it can be read
   */
  read<Result>(
    request: { readonly viewer: Viewer; readonly revision: Revision },
    work: (indexed: IndexedView) => Result | typeof OUTDATED | Promise<Result | typeof OUTDATED>,
  ): Promise<Result>;
  /**
   * Whether a commit is part of the history of the database. False also for old commits, which the
   * index has never seen.
   */
  knows(commit: CatalogState['commit']): boolean;
  /** Sets the stored numbers of downloads, by which lists can be sorted. */
  readonly setDownloads: Entries['setDownloads'];
}

/** The content of the index. */
interface Content {
  readonly entries: Entries;
  readonly views: Views;
  readonly state: CatalogState;
  /** When it had been read from the database, by `performance.now()`. */
  readonly loadedAt: number;
}

const MAX_COMMITS = 20_000;
const MAX_TRIES = 20;

export function createCatalogIndex(reader: Reader, documents: Documents): CatalogIndex {
  /** The stamps of commits in milliseconds. */
  const commits = new LRUCache<string, number>({ max: MAX_COMMITS });
  let content: Content | undefined;

  const refresh = createSharedRun(async () => {
    const before = content;
    const changes = await readChanges(reader, before?.state);
    content = before && changes.continues ? applied(before, changes) : contentOf(await readChanges(reader, undefined));
    if (!changes.continues) {
      commits.clear();
      documents.clear();
    }
    for (const { commit, at } of changes.commits) commits.set(commit, at);
    commits.set(content.state.commit.commit, content.state.at.getTime());
    return content;
  });
  /**
   * Whether the content contains everything that the revision contains. If the revision was read
   * later than the content, and is older nevertheless, then the database was restored from a
   * backup.
   */
  const contains = ({ state, loadedAt }: Content, { at, commit, startedAt }: Revision) =>
    (state.at.getTime() === at.getTime() || (state.at > at && startedAt < loadedAt)) && commits.has(commit.commit);

  /**
   * Evaluates the visibility rule for a viewer; undefined if the database or the index has a later
   * state than `at`.
   */
  const readView = async (viewer: Viewer, at: Content): Promise<ViewerView | undefined> => {
    const { views, entries, state } = at;
    const groups = entries.groups.length;
    const [row] = await reader.read<{ commit: string; numbers: number[] }>(visibleGroups(viewer, entries.groups));
    if (row?.commit !== state.commit.commit || content !== at) return undefined;
    const visible = row.numbers.flatMap((number) => entries.groups[number] ?? []);
    views.store(viewer, visible, { groups, at: state.at.getTime() });
    return views.find(viewer, groups);
  };

  return {
    async read({ viewer, revision }, work) {
      let current = content && contains(content, revision) ? content : await refresh.run();
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const at = current;
        const { entries, state, views } = at;
        const seen = views.find(viewer, entries.groups.length) ?? (await readView(viewer, at));
        const working = seen ? work({ entries, state, isCurrent: () => content === at, ...seen }) : OUTDATED;
        const result = working instanceof Promise ? await working : working;
        if (result !== OUTDATED) return result;
        current = content && content !== at ? content : await refresh.run();
      }
      throw unavailable('The catalog is changing too fast to be read.');
    },
    knows: ({ commit, at }) => commits.get(commit) === at.getTime(),
    setDownloads: (counts) => content?.entries.setDownloads(counts),
  };
}

function contentOf({ state, categories, templates }: CatalogChanges): Content {
  const entries = createEntries(categories, templates, state.at.getTime());
  return { entries, views: createViews(entries), state, loadedAt: performance.now() };
}

/** Applies changes to the content, which is the previous one after this call. */
function applied({ entries, views }: Content, changes: CatalogChanges): Content {
  const at = changes.state.at.getTime();
  for (const category of changes.categories) entries.putCategory(category, at);
  const templates = changes.templates.toSorted((one, other) => one.updatedAt - other.updatedAt);
  for (const template of templates) entries.put(template, at);
  for (const id of changes.deleted) entries.remove(id, at);
  for (const scope of changes.left) entries.leave(scope, at);
  if (changes.privacyChanged) views.forgetAll();
  else views.forget(changes.organizations);
  return { entries, views, state: changes.state, loadedAt: performance.now() };
}

/**
 * The groups that a viewer sees, and the newest commit in the same snapshot. A group takes the
 * place of its templates.
 */
const visibleGroups = (viewer: Viewer, groups: readonly Group[]): Prisma.Sql => Prisma.sql`
  SELECT (SELECT commit FROM ${newestCommit} n) AS commit, ARRAY(
    SELECT t.number
    FROM unnest(${groups.map(({ number }) => number)}::int[], ${groups.map(({ category }) => category.id)}::uuid[],
        ${groups.map(({ ownerOrgId }) => ownerOrgId)}::uuid[], ${groups.map(({ isPublic }) => isPublic)}::bool[])
        AS t (number, category_id, owner_org_id, is_public)
      JOIN categories c ON c.id = t.category_id
    WHERE ${visibleTemplates(viewer)}
    ORDER BY t.number) AS numbers`;
