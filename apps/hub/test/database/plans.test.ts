// Query plans of the catalog endpoints with many templates. Each test also checks that the plan
// differs without the index.
import { byDepth, scaled } from '@svc/testing';
import { changedObjects, removedObjects } from '../../src/catalog/changes/since.ts';
import { idsOfPage, matchingObjects } from '../../src/catalog/filters.ts';
import { templates } from '../../src/catalog/kinds.ts';
import { categoriesWithCounts } from '../../src/catalog/memory/category-lists.ts';
import { NO_ID } from '../../src/catalog/memory/order.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import type { Viewer } from '../../src/identity/principal.ts';
import { startWorld } from '../world.ts';

const TEMPLATES = byDepth({ short: 3000, full: 10_000, long: 10_000 });

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

const organization = await world.anOrganization();
const viewers: Record<Viewer['kind'], Viewer> = {
  anonymous: { kind: 'anonymous' },
  organization: { kind: 'organization', orgId: organization.id },
  administrator: { kind: 'administrator' },
};
const kinds = Object.keys(viewers) as Viewer['kind'][]; // the keys of a Record over the kinds
const since = await fill();

/**
 * Templates in 40 categories, a fifth of them private, half of those granted. Then one change of
 * each kind.
 */
async function fill(): Promise<Date> {
  await writeCatalog(
    world.database,
    async (catalog) => {
      await catalog.$executeRaw`
      INSERT INTO categories (id, name, slug, sort_name, is_private)
      SELECT gen_random_uuid(), 'category ' || n, 'category-' || n, 'category ' || n, n % 5 = 0
      FROM generate_series(1, 40) n`;
      await catalog.$executeRaw`
      INSERT INTO catalog_access (id, org_id, category_id)
      SELECT gen_random_uuid(), ${organization.id}::uuid, id FROM categories WHERE slug LIKE 'category-%0'`;
      for (let from = 1; from <= TEMPLATES; from += 1000)
        await catalog.$executeRaw`
      INSERT INTO templates (id, name, slug, sort_name, search_text, category_id, is_public, owner_org_id, tags)
      SELECT gen_random_uuid(), 'template ' || n, 'template-' || n, md5(n::text), 'template ' || md5(n::text),
             c.id, n % 7 <> 0, CASE WHEN n % 100 = 0 THEN ${organization.id}::uuid END,
             ARRAY['tag-' || n % 1000, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END]
      FROM generate_series(${from}::int, ${from + 999}::int) n JOIN categories c ON c.slug = 'category-' || (n % 40 + 1)`;
    },
    { timeoutMs: scaled(60_000) },
  );
  const { at } = await client.catalogClock.findFirstOrThrow();
  await writeCatalog(world.database, async ({ template }) => {
    await template.update({ where: { slug: 'template-1' }, data: { description: 'new' } });
    await template.update({ where: { slug: 'template-2' }, data: { is_public: false } });
    await template.delete({ where: { slug: 'template-3' } });
  });
  // As autovacuum does; this also merges the pending lists of GIN indexes.
  await client.$executeRaw`VACUUM ANALYZE`;
  return at;
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

async function explain(query: Prisma.Sql, on: Prisma.TransactionClient = client): Promise<Plan[]> {
  const [row] = await on.$queryRaw<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(Prisma.sql`EXPLAIN (FORMAT JSON) ${query}`);
  const [explained] = row?.['QUERY PLAN'] ?? [];
  if (!explained) throw new Error('EXPLAIN returned no plan');
  return nodesOf(explained.Plan);
}

interface Check {
  readonly index: string;
  /** Tables that the plan must not scan sequentially. */
  readonly noSeqScan: readonly string[];
  readonly query: (viewer: Viewer) => Prisma.Sql;
}

const page = { page: 1, limit: 50 };
const CHANGES = 251;
const removals = { after: NO_ID, limit: 5000 };
const checks: Readonly<Record<string, Check>> = {
  'a search': {
    index: 'templates_search_text_idx',
    noSeqScan: ['templates'],
    query: () => matchingObjects(templates, { search: 'abcd' }, { limit: 10_001 }),
  },
  tags: {
    index: 'templates_tags_idx',
    noSeqScan: ['templates'],
    query: () => matchingObjects(templates, { tags: ['tag-7', 'tag-8'] }, { limit: 10_001 }),
  },
  'a page of a search': {
    index: 'templates_search_text_idx',
    noSeqScan: ['templates'],
    query: (viewer) => idsOfPage(templates, viewer, { ...page, search: 'abcd' }),
  },
  'a page of tags': {
    index: 'templates_tags_idx',
    noSeqScan: ['templates'],
    query: (viewer) => idsOfPage(templates, viewer, { ...page, tags: ['tag-7', 'tag-8'] }),
  },
  'a category': {
    index: 'templates_category_id_idx',
    noSeqScan: ['templates'],
    query: (viewer) => idsOfPage(templates, viewer, { ...page, category: ['category-3'] }),
  },
  'a page by name': {
    index: 'templates_sort_name_id_idx',
    noSeqScan: [], // its total counts all templates
    query: (viewer) => idsOfPage(templates, viewer, page),
  },
  'recent changes': {
    index: 'templates_updated_at_id_idx',
    noSeqScan: ['templates', 'template_scopes'],
    query: (viewer) => changedObjects(templates, viewer, since, CHANGES),
  },
  'recent removals': {
    index: 'template_scopes_ended_idx',
    noSeqScan: ['template_scopes'],
    query: (viewer) => removedObjects(templates, viewer, since, removals),
  },
  'counts of categories': {
    index: 'templates_category_id_idx',
    noSeqScan: ['templates'],
    query: categoriesWithCounts,
  },
};

/** The faults of a plan, as text. */
function faultsOf(nodes: readonly Plan[], { index, noSeqScan }: Check): string[] {
  const scans = nodes
    .filter((node) => node['Node Type'] === 'Seq Scan' && noSeqScan.includes(node['Relation Name'] ?? ''))
    .map((node) => `scans ${node['Relation Name']} sequentially`);
  return nodes.some((node) => node['Index Name'] === index) ? scans : [...scans, `does not use ${index}`];
}

const cells = kinds.flatMap((kind) => Object.entries(checks).map(([name, check]) => ({ kind, name, check })));

test.each(cells)('the query for $name uses the index $check.index for the viewer $kind', async ({ kind, check }) => {
  const query = check.query(viewers[kind]);
  expect(faultsOf(await explain(query), check)).toEqual([]);
  expect(faultsOf(await explainWithout(check.index, query), check)).toContain(`does not use ${check.index}`);
});

test.each(kinds)('a page by name sorts only its own rows for the viewer %s', async (kind) => {
  const query = idsOfPage(templates, viewers[kind], page);
  const sorted = (nodes: readonly Plan[]) =>
    Math.max(...nodes.filter((node) => node['Node Type'].endsWith('Sort')).map((node) => node['Plan Rows']));
  expect(sorted(await explain(query))).toBeLessThanOrEqual(page.limit);
});

test('the checked queries return the expected rows', async () => {
  const ids = async (query: Prisma.Sql) => (await client.$queryRaw<{ id: string }[]>(query)).map(({ id }) => id);
  expect(await ids(changedObjects(templates, viewers.administrator, since, CHANGES))).toHaveLength(2);
  expect(await ids(removedObjects(templates, viewers.anonymous, since, removals))).toHaveLength(2);
  const [row] = await client.$queryRaw<{ total: number }[]>(idsOfPage(templates, viewers.administrator, page));
  expect(row?.total).toBe(TEMPLATES - 1);
});

/** The plan without an index. The transaction that drops the index is rolled back. */
async function explainWithout(index: string, query: Prisma.Sql): Promise<Plan[]> {
  let nodes: Plan[] = [];
  const rollback = new Error('rollback');
  await client
    .$transaction(async (transaction) => {
      await transaction.$executeRaw(Prisma.sql`DROP INDEX ${Prisma.raw(index)}`);
      nodes = await explain(query, transaction);
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  return nodes;
}
