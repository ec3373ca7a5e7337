// Random histories of a catalog. After each transaction, compares the objects that changed or became visible since an
// earlier one, and those that became invisible, with a model that knows the state after each transaction.
import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { changedObjects, removedObjects } from '../../src/catalog/changes/since.ts';
import { applications, templates } from '../../src/catalog/kinds.ts';
import { NO_ID } from '../../src/catalog/memory/order.ts';
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';
import type { Viewer } from '../../src/identity/principal.ts';
import { type ObjectKind, objectKinds, tablesOf } from '../objects.ts';
import { startWorld } from '../world.ts';
import {
  applyStep,
  type Caller,
  type CatalogModel,
  grantKey,
  histories,
  type Ids,
  newIds,
  ORGANIZATIONS,
  type Reason,
  reasonsFor,
  writeModel,
} from './generated.ts';

/** Most histories are of templates, because the code is the same. */
const HISTORIES = {
  templates: byDepth({ short: 2, full: 60, long: 600 }),
  applications: byDepth({ short: 1, full: 30, long: 300 }),
};
const TRANSACTIONS = 40;
const MANY = 1000;

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const organizations: string[] = [];
for (let n = 0; n < ORGANIZATIONS; n++) organizations.push((await world.anOrganization()).id);

const kinds = { templates, applications };
const viewers: readonly (readonly [Caller, Viewer])[] = [
  ['anonymous', { kind: 'anonymous' }],
  ['administrator', { kind: 'administrator' }],
  ...organizations.map((orgId, n) => [n, { kind: 'organization', orgId }] as const),
];

/** The state after a transaction: for each template, the reasons for which a caller sees it. */
interface Commit {
  readonly at: number;
  readonly reasons: (caller: Caller, template: number) => readonly Reason[];
}

function commitOf(at: number, { templates, ...catalog }: CatalogModel): Commit {
  const model = structuredClone({ templates, ...catalog });
  return {
    at,
    reasons: (caller, n) => {
      const template = model.templates[n];
      return template ? reasonsFor(caller, template, model) : [];
    },
  };
}

/**
 * The stamp since which a caller sees a template for one of the present reasons, without a gap; undefined if the caller
 * does not see it now.
 */
function seenSince(commits: readonly Commit[], caller: Caller, template: number): number | undefined {
  const starts = (commits.at(-1)?.reasons(caller, template) ?? []).map((reason) => {
    const lastWithout = commits.findLastIndex((commit) => !commit.reasons(caller, template).includes(reason));
    return commits[lastWithout + 1]?.at ?? Number.NaN;
  });
  return starts.length > 0 ? Math.min(...starts) : undefined;
}

/** Whether a caller saw a template at a time after `since`, and does not see it now. */
function isLost(commits: readonly Commit[], [caller, template]: readonly [Caller, number], since: number): boolean {
  const sees = (commit: Commit | undefined) => (commit?.reasons(caller, template).length ?? 0) > 0;
  const lasted = commits.filter((_, n) => (commits[n + 1]?.at ?? Number.POSITIVE_INFINITY) > since);
  return !sees(commits.at(-1)) && lasted.some(sees);
}

const idsOf = async (query: Prisma.Sql) => (await client.$queryRaw<{ id: string }[]>(query)).map(({ id }) => id).sort();

/** The stamps of the templates and their categories. */
async function stampsOfRows(kind: ObjectKind): Promise<Map<string, number>> {
  const rows = await client.$queryRaw<{ id: string; at: Date }[]>`
    SELECT t.id, greatest(t.updated_at, c.shown_at) AS at FROM ${kinds[kind].sources}`;
  return new Map(rows.map(({ id, at }) => [id, at.getTime()]));
}

interface Expected {
  readonly kind: ObjectKind;
  readonly ids: Ids;
  readonly commits: readonly Commit[];
  readonly changedAt: ReadonlyMap<string, number>;
  readonly since: number;
}

/** Expects that a caller receives the changes and removals since a commit that the model contains. */
async function expectChanges(
  [caller, viewer]: (typeof viewers)[number],
  { kind, ids, commits, changedAt, since }: Expected,
) {
  const changed = ids.templates.filter((id, n) => {
    const start = seenSince(commits, caller, n);
    return start !== undefined && Math.max(start, changedAt.get(id) ?? 0) > since;
  });
  const removed = ids.templates.filter((_, n) => isLost(commits, [caller, n], since));
  const found = {
    changed: await idsOf(changedObjects(kinds[kind], viewer, new Date(since), MANY)),
    removed: await idsOf(removedObjects(kinds[kind], viewer, new Date(since), { after: NO_ID, limit: MANY })),
  };
  expect({ caller, since, ...found }).toEqual({ caller, since, changed: changed.sort(), removed: removed.sort() });
}

test.each(objectKinds)(
  'each caller receives exactly the changes and removals of %s that the history contains',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(histories(TRANSACTIONS), async ({ transactions, ...given }) => {
        const ids = newIds(organizations);
        const grants = new Set(given.grants.map(([organization, category]) => grantKey(organization, category)));
        const model: CatalogModel = { privacy: [...given.privacy], templates: [...given.templates], grants };
        const commits: Commit[] = [];
        const commit = async (work: (catalog: CatalogTransaction) => Promise<unknown>) => {
          await writeCatalog(world.database, (tables) => work(tablesOf(kind, tables)));
          commits.push(commitOf((await client.catalogClock.findFirstOrThrow()).at.getTime(), model));
        };
        await commit((catalog) => writeModel(catalog, ids, model));
        for (const { steps, back } of transactions) {
          await commit(async (catalog) => {
            for (const step of steps) await applyStep(catalog, ids, { model, step });
          });
          const since = commits.at(Math.max(-commits.length, -1 - back))?.at ?? 0;
          const changedAt = await stampsOfRows(kind);
          for (const viewer of viewers) await expectChanges(viewer, { kind, ids, commits, changedAt, since });
        }
      }),
      // To find the smallest history would take hundreds of runs.
      seeded({ numRuns: HISTORIES[kind], endOnFailure: true }),
    );
  },
);
