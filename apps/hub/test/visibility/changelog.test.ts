// The changelog of an object begins with the uninterrupted visibility of the caller, for every caller.
import { type CatalogTransaction, writeCatalog } from '../../src/database/catalog-write.ts';
import { apiOfKind, type ObjectKind, objectKinds, tablesOf } from '../objects.ts';
import { startWorld } from '../world.ts';
import { createCallers, createFixture, type Fixture, scopeOf } from './fixture.ts';
import { type AdmittedCaller, admittedCallers, type Kind } from './table.ts';

const world = await startWorld();
afterAll(() => world.stop());
const callers = await createCallers(world);

type Step = (catalog: CatalogTransaction, fixture: Fixture) => Promise<unknown>;

/** A change of the content that shows the number of the step. */
const edit: Step = ({ template }, { rows: [row] }) =>
  template.update({ where: { id: row?.id ?? '' }, data: { tags: { push: 'edited' } } });
const becomes =
  (kind: Kind): Step =>
  ({ template }, { categories, rows: [row] }) =>
    template.update({ where: { id: row?.id ?? '' }, data: scopeOf(callers, categories, kind) });
const isPrivate =
  (is_private: boolean): Step =>
  ({ category }, { categories }) =>
    category.update({ where: { id: categories.private.id }, data: { is_private } });
const revokes: Step = ({ catalogAccess }, { categories }) =>
  catalogAccess.deleteMany({ where: { org_id: callers.granted.id, category_id: categories.private.id } });
const grants: Step = ({ catalogAccess }, { categories }) =>
  catalogAccess.create({ data: { org_id: callers.granted.id, category_id: categories.private.id } });
const deletes: Step = ({ template }, { rows: [row] }) => template.delete({ where: { id: row?.id ?? '' } });

/**
 * The messages that a caller finds, the oldest first, without those that are listed for another caller. The template
 * is created with the message `0`, and each step has its number. `^`: the first entry states no changed members.
 */
interface History {
  readonly from: Kind;
  readonly steps: readonly Step[];
  readonly everyone: string | undefined;
  readonly administrators: string;
  readonly granted?: string | undefined;
  readonly ungranted?: string | undefined;
}

const histories: Readonly<Record<string, History>> = {
  'was public always': {
    from: 'public, open, owner none',
    steps: [edit, edit],
    everyone: '^0 1 2',
    administrators: '^0 1 2',
  },
  'was private then': {
    from: 'hidden, open, owner none',
    steps: [edit, becomes('public, open, owner none'), edit],
    everyone: '^2 3',
    administrators: '^0 1 2 3',
  },
  'was hidden meanwhile': {
    from: 'public, open, owner none',
    steps: [edit, becomes('hidden, open, owner none'), edit, becomes('public, open, owner none'), edit],
    everyone: '^4 5',
    administrators: '^0 1 2 3 4 5',
  },
  'was hidden for others meanwhile': {
    from: 'public, open, owner granted',
    steps: [becomes('hidden, open, owner granted'), edit, becomes('public, open, owner granted')],
    everyone: '^3',
    administrators: '^0 1 2 3',
    granted: '^0 1 2 3',
  },
  'changed its owner': {
    from: 'hidden, open, owner granted',
    steps: [edit, becomes('hidden, open, owner ungranted'), edit],
    everyone: undefined,
    administrators: '^0 1 2 3',
    granted: undefined,
    ungranted: '^2 3',
  },
  'changed its owner while it was public': {
    from: 'public, open, owner granted',
    steps: [edit, becomes('public, open, owner ungranted'), edit],
    everyone: '^0 1 2 3',
    administrators: '^0 1 2 3',
  },
  'was in a private category then': {
    from: 'public, private, owner none',
    steps: [edit, isPrivate(false), edit],
    everyone: '3',
    administrators: '^0 1 3',
    granted: '^0 1 3',
  },
  'moved from an open to another open category': {
    from: 'public, private, owner none',
    steps: [isPrivate(false), edit, becomes('public, open, owner none'), edit],
    everyone: '2 3 4',
    administrators: '^0 2 3 4',
    granted: '^0 2 3 4',
  },
  'was without a grant meanwhile': {
    from: 'public, private, owner none',
    steps: [edit, revokes, edit, grants, edit],
    everyone: undefined,
    administrators: '^0 1 3 5',
    granted: '5',
  },
  'has a new grant': {
    from: 'public, private, owner ungranted',
    steps: [revokes, edit, grants],
    everyone: undefined,
    administrators: '^0 2',
    granted: '',
    ungranted: '^0 2',
  },
  'was deleted': {
    from: 'public, open, owner none',
    steps: [edit, deletes],
    everyone: undefined,
    administrators: '-',
  },
};

const expectedOf = ({ everyone, administrators, ...others }: History, caller: AdmittedCaller): string | undefined => {
  if (caller === 'admin' || caller === 'superadmin') return administrators === '-' ? undefined : administrators;
  return caller in others ? others[caller as 'granted' | 'ungranted'] : everyone; // `in` checked it
};

async function entriesOf(of: ObjectKind, caller: AdmittedCaller, slug: string): Promise<string | undefined> {
  const api = apiOfKind(of, world.api(callers.authorizations[caller]));
  const { status, body } = await api.get(`/api/v1/catalog/templates/${slug}/changelog?limit=100`);
  const feed = await api.get(`/api/v1/catalog/templates/${slug}/changelog/feed`);
  expect(feed.status).toBe(status);
  if (status === 404) return undefined;
  const entries: { message: string; changed: string[] | null }[] = body.entries;
  expect(body.pagination.total).toBe(entries.length);
  for (const { changed } of entries) expect(changed ?? []).not.toContain('owner_org_id');
  return entries
    .map(({ message, changed }) => `${changed === null ? '^' : ''}${message}`)
    .reverse()
    .join(' ');
}

test.each(
  objectKinds.flatMap((of) => Object.entries(histories).map(([name, history]) => [of, name, history] as const)),
)('the changelog of an object among the %s that %s shows each caller what it saw', async (of, name, history) => {
  const { from, steps } = history;
  const label = `${of}-${name.replaceAll(' ', '-')}`;
  const fixture = await createFixture(world, callers, { label, kinds: [from], message: '0', of });
  for (const [index, step] of steps.entries()) {
    await writeCatalog(world.database, (catalog) => step(tablesOf(of, catalog), fixture), {
      change: { author: 'secret@example.test', author_id: null, message: `${index + 1}` },
    });
  }
  const slug = fixture.rows[0]?.slug ?? '';
  const found = Object.fromEntries(
    await Promise.all(admittedCallers.map(async (caller) => [caller, await entriesOf(of, caller, slug)])),
  );
  expect(found).toEqual(Object.fromEntries(admittedCallers.map((caller) => [caller, expectedOf(history, caller)])));
});

test.each(objectKinds)('an absent object and an invisible one among the %s give the same response', async (of) => {
  const label = `invisible-${of}`;
  const { rows } = await createFixture(world, callers, { label, kinds: ['hidden, open, owner none'], of });
  for (const path of ['changelog', 'changelog/feed']) {
    const [absent, invisible] = await Promise.all(
      ['absent', rows[0]?.slug].map((slug) => world.anonymous.get(`/api/v1/catalog/${of}/${slug}/${path}`)),
    );
    const { request_id: _, ...problem } = absent?.body ?? {};
    expect(invisible?.body).toMatchObject(problem);
    expect(problem).toMatchObject({ status: 404, code: 'not_found' });
  }
});
