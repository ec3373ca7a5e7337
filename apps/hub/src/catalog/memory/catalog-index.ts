import { setImmediate } from 'node:timers/promises';
import type { SnapshotReader } from '@svc/database';
import { unavailable } from '@svc/http';
import { LRUCache } from 'lru-cache';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../../identity/principal.ts';
import { type CatalogState, newestCommit, type Revision } from '../../revision/revision.ts';
import { createSharedRun } from '../../revision/shared-run.ts';
import { visibleObjects, visibleToOrganization } from '../visibility.ts';
import { type CatalogChanges, readCatalog, readChanges } from './changes.ts';
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
    request: ReadRequest,
    work: (indexed: IndexedView) => Result | typeof OUTDATED | Promise<Result | typeof OUTDATED>,
  ): Promise<Result>;
  /**
   * Runs `work` on the state in memory without waiting. @returns undefined if it is older than the
   * revision, or if the visibility rule was not evaluated for the viewer yet
   */
  now<Result>(request: ReadRequest, work: (indexed: IndexedView) => Result): Result | undefined;
  /**
   * Whether a commit is part of the history of the database. False also for old commits, which the
   * index has never seen.
   */
  knows(commit: CatalogState['commit']): boolean;
  /** Sets the stored numbers of downloads, by which lists can be sorted. */
  readonly setDownloads: Entries['setDownloads'];
}

export interface ReadRequest {
  readonly viewer: Viewer;
  readonly revision: Revision;
}

/** The content of the index. */
interface Content {
  readonly entries: Entries;
  readonly views: Views;
  readonly state: CatalogState;
  /** When it had been read from the database, by `performance.now()`. */
  readonly loadedAt: number;
}

/** A stored number of downloads. */
type Count = Parameters<Entries['setDownloads']>[0][number];

const MAX_COMMITS = 20_000;
const MAX_TRIES = 20;
/** The number of viewers for whom one statement evaluates the visibility rule. */
const MAX_VIEWERS_EVALUATED = 50;

export function createCatalogIndex(reader: SnapshotReader, documents: Documents): CatalogIndex {
  const { kind } = documents;
  /** The stamps of commits in milliseconds. */
  const commits = new LRUCache<string, number>({ max: MAX_COMMITS });
  let content: Content | undefined;

  /** The numbers of downloads that are stored while the whole catalog is read. */
  let storedMeanwhile: Count[] | undefined;
  const readContent = async () => {
    const counts: Count[] = [];
    storedMeanwhile = counts;
    try {
      const read = await contentOf(await readCatalog(reader, kind));
      read.entries.setDownloads(counts);
      return read;
    } finally {
      storedMeanwhile = undefined;
    }
  };
  const refresh = createSharedRun(async () => {
    const changes = content && (await readChanges(reader, kind, content.state));
    if (content && changes?.continues) {
      content = applied(content, changes);
      for (const { commit, at } of changes.commits) commits.set(commit, at);
    } else {
      content = await readContent();
      commits.clear();
      documents.clear();
    }
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

  /** The viewers for whom the visibility rule is evaluated next, by their keys. */
  const waiting = new Map<string, Viewer>();
  const evaluate = createSharedRun(async () => {
    const viewers = [...waiting.values()];
    waiting.clear();
    for (let start = 0; start < viewers.length; start += MAX_VIEWERS_EVALUATED) {
      await evaluateFor(viewers.slice(start, start + MAX_VIEWERS_EVALUATED));
    }
  });
  /** Evaluates the visibility rule for viewers, unless the database or the index changes meanwhile. */
  const evaluateFor = async (viewers: readonly Viewer[]) => {
    const at = content;
    if (!at) return;
    const { views, entries, state } = at;
    const groups = entries.groups.length;
    for (const statement of visibleGroups(viewers, entries.groups)) {
      const rows = await reader.read<GroupsRow>(statement);
      for (const { viewer: key, commit, numbers } of rows) {
        const viewer = viewers.find((each) => viewerKey(each) === key);
        if (!viewer || commit !== state.commit.commit || content !== at) continue;
        const visible = numbers.flatMap((number) => entries.groups[number] ?? []);
        views.store(viewer, visible, { groups, at: state.at.getTime() });
      }
    }
  };
  /**
   * The view of a viewer for whom the visibility rule was not evaluated yet; undefined if the
   * database or the index has a later state than `at`. Viewers who wait share statements: after a
   * start, all of them arrive together.
   */
  const readView = async (viewer: Viewer, at: Content): Promise<ViewerView | undefined> => {
    waiting.set(viewerKey(viewer), viewer);
    await evaluate.run();
    return content === at ? at.views.find(viewer, at.entries.groups.length) : undefined;
  };

  const indexedView = (at: Content, seen: ViewerView): IndexedView => ({
    entries: at.entries,
    state: at.state,
    view: seen.view,
    changedAt: seen.changedAt,
    leftAt: seen.leftAt,
    isCurrent: () => content === at,
  });

  return {
    now({ viewer, revision }, work) {
      if (!content || !contains(content, revision)) return undefined;
      const seen = content.views.find(viewer, content.entries.groups.length);
      return seen && work(indexedView(content, seen));
    },
    async read({ viewer, revision }, work) {
      let current = content && contains(content, revision) ? content : await refresh.run();
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const at = current;
        const seen = at.views.find(viewer, at.entries.groups.length) ?? (await readView(viewer, at));
        const working = seen ? work(indexedView(at, seen)) : OUTDATED;
        const result = working instanceof Promise ? await working : working;
        if (result !== OUTDATED) return result;
        current = content && content !== at ? content : await refresh.run();
      }
      throw unavailable('The catalog is changing too fast to be read.');
    },
    knows: ({ commit, at }) => commits.get(commit) === at.getTime(),
    setDownloads: (counts) => {
      storedMeanwhile?.push(...counts);
      content?.entries.setDownloads(counts);
    },
  };
}

/** The number of templates that are added to an index at once. Other work of the process runs between them. */
const PART = 1000;

async function contentOf({ state, categories, templates }: CatalogChanges): Promise<Content> {
  const loadedAt = performance.now();
  const entries = createEntries(categories, [], state.at.getTime());
  for (let start = 0; start < templates.length; start += PART) {
    entries.append(templates.slice(start, start + PART));
    await setImmediate();
  }
  return { entries, views: createViews(entries), state, loadedAt };
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

interface GroupsRow {
  /** The key of the viewer. */
  readonly viewer: string;
  readonly commit: string;
  readonly numbers: readonly number[];
}

/**
 * The statements that evaluate the visibility rule for viewers: one for all organizations, and one
 * for each other viewer. Each has the newest commit in the same snapshot.
 */
function visibleGroups(viewers: readonly Viewer[], groups: readonly Group[]): Prisma.Sql[] {
  const organizations = viewers.flatMap((viewer) => (viewer.kind === 'organization' ? [viewer.orgId] : []));
  const others = viewers.filter(({ kind }) => kind !== 'organization');
  const commit = Prisma.sql`(SELECT commit FROM ${newestCommit} n) AS commit`;
  const statements = others.map(
    (viewer) => Prisma.sql`
      SELECT ${viewerKey(viewer)}::text AS viewer, ${commit}, ${groupsWhere(visibleObjects(viewer), groups)} AS numbers`,
  );
  if (organizations.length === 0) return statements;
  const seen = groupsWhere(visibleToOrganization(Prisma.sql`v.id`), groups);
  return [
    ...statements,
    Prisma.sql`
      SELECT v.id AS viewer, ${commit}, ${seen} AS numbers FROM unnest(${organizations}::uuid[]) AS v (id)`,
  ];
}

/** The numbers of the groups for which a condition holds. A group takes the place of its templates. */
const groupsWhere = (condition: Prisma.Sql, groups: readonly Group[]): Prisma.Sql => Prisma.sql`
  ARRAY(
    SELECT t.number
    FROM unnest(${groups.map(({ number }) => number)}::int[], ${groups.map(({ category }) => category.id)}::uuid[],
        ${groups.map(({ ownerOrgId }) => ownerOrgId)}::uuid[], ${groups.map(({ isPublic }) => isPublic)}::bool[])
        AS t (number, category_id, owner_org_id, is_public)
      JOIN categories c ON c.id = t.category_id
    WHERE ${condition}
    ORDER BY t.number)`;
