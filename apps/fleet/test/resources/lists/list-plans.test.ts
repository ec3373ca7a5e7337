// Query plans of the filters and sort fields of lists with many rows. Each test also checks that
// the plan differs without the index.
import { createHash } from 'node:crypto';
import type { Input } from '@svc/contract';
import { type fleetEndpoints, workloadDefaults } from '@svc/contract/fleet';
import { byDepth, countingReads } from '@svc/testing';
import { type List, pageOf } from '../../../src/database/lists.ts';
import { deployments } from '../../../src/deployments/rows.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { deploymentList } from '../../../src/resources/list-rules.ts';
import { templateHash } from '../../../src/resources/workloads.ts';
import { startWorld } from '../../world.ts';

const ROWS = byDepth({ short: 10_000, full: 10_000, long: 50_000 });
const PAGE = 50;

const world = await startWorld();
const { client } = world.database;
const reads = countingReads();
afterAll(async () => {
  reads.stop();
  await world.stop();
});

type Query = Input<typeof fleetEndpoints.listDeployments>['query'];
const list: List<Query> = {
  table: Prisma.raw(deployments.table),
  joins: deployments.joins,
  columns: Prisma.sql`r.id, ${deployments.columns}`,
  rules: deploymentList,
};

await client.$executeRaw`
  INSERT INTO hosts (id, name, created_by, engine, endpoint, by_admin)
  SELECT gen_random_uuid(), 'host-' || n, 'test', 'docker', 'tcp://engine:2376', true FROM generate_series(0, 99) n`;

const templateId = (n: Prisma.Sql) => Prisma.sql`('00000000-0000-7000-8000-' || lpad((${n})::text, 12, '0'))::uuid`;
/** 400 of 500 templates are in the mirror. */
await client.$executeRaw`
  INSERT INTO catalog_templates (id, slug, category_id, category_slug, is_featured, search_text, sort_name, updated_at, document)
  SELECT ${templateId(Prisma.sql`n`)}, 'template-' || n, gen_random_uuid(), 'tools', false, '', '', now(),
         jsonb_build_object('image_tag', n::text)
  FROM generate_series(0, 399) n`;
await client.$executeRaw`
  CREATE TABLE hashes AS SELECT t.id, ${templateHash(Prisma.sql`t.summary`)} AS hash FROM catalog_templates t`;
const anAdvisory = (severity: string, first_revision: number, last_revision: number | null) => ({
  ...{ id: '00000000-0000-7000-8000-000000000000', message: 'flawed', url: null },
  ...{ severity, first_revision, last_revision },
});
const advice = [
  { n: 3, status: 'blocked', advisories: [anAdvisory('critical', 2, 4)] },
  { n: 7, status: 'deprecated', advisories: [anAdvisory('warning', 3, null), anAdvisory('critical', 8, null)] },
  { n: 450, status: 'active', advisories: [anAdvisory('note', 1, 1)] },
];
for (const { n, status, advisories } of advice) {
  await client.$executeRaw`
    INSERT INTO catalog_advice (template_id, status, status_message, advisories, bytes)
    VALUES (${templateId(Prisma.sql`${n}::int`)}, ${status}, '', ${JSON.stringify(advisories)}::jsonb, 0)`;
}

/**
 * The rows of one statement. A statement has the time limit of the service, also on a busy machine.
 */
const ROWS_OF_STATEMENT = 2000;
for (let from = 0; from < ROWS; from += ROWS_OF_STATEMENT) await insertDeployments(from, from + ROWS_OF_STATEMENT);
await failUpdates();
await client.$executeRaw`VACUUM ANALYZE`; // as autovacuum does

/** Inserts deployments with a workload each, from `after`, exclusive, up to `last`. */
async function insertDeployments(after: number, last: number): Promise<void> {
  await client.$executeRaw`
    INSERT INTO workloads (id, name, created_by, created_at, updated_at)
    SELECT gen_random_uuid(), 'workload-' || n, 'test', now() - n * interval '1 min', now() - n * interval '1 min'
    FROM generate_series(${after}::int + 1, ${last}::int) n`;
  const added = Prisma.sql`(
    SELECT id, created_at, split_part(name, '-', 2)::int AS n FROM workloads
    WHERE split_part(name, '-', 2)::int > ${after} AND split_part(name, '-', 2)::int <= ${last})`;
  await client.$executeRaw`
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by, template_slug, template_id,
      template_hash, template_revision)
    SELECT w.id, 1, ${JSON.stringify(workloadDefaults)}::jsonb, '{}', 'test', 'template-' || n % 500, ${templateId(Prisma.sql`n % 500`)},
           CASE WHEN n % 3 = 0 THEN 'of an earlier template' ELSE h.hash END, nullif(n % 7, 0)
    FROM ${added} w LEFT JOIN hashes h ON h.id = ${templateId(Prisma.sql`n % 500`)}`;
  await client.$executeRaw`
    INSERT INTO deployments (id, name, labels, created_by, workload_id, revision, host_id, replicas, phase, created_at, updated_at)
    SELECT gen_random_uuid(), md5(n::text), jsonb_build_object('n', (n % 500)::text), 'test', w.id, 1, h.id, 1,
           CASE WHEN n % 400 = 0 THEN 'failed' ELSE 'running' END, w.created_at, now() - (n * 7919 % 100000) * interval '1 min'
    FROM ${added} w JOIN hosts h ON h.name = 'host-' || n % 100`;
}

/** The update of each 60th deployment has failed, and the deployment has returned to its first revision. */
async function failUpdates(): Promise<void> {
  await client.$executeRaw`UPDATE workloads SET revision = 2 WHERE split_part(name, '-', 2)::int % 60 = 0`;
  await client.$executeRaw`
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by, template_slug, template_id, template_hash,
      template_revision)
    SELECT v.workload_id, 2, v.spec, v.overrides, v.created_by, v.template_slug, v.template_id, h.hash, v.template_revision
    FROM workload_revisions v JOIN hashes h ON h.id = v.template_id JOIN workloads w ON w.id = v.workload_id AND w.revision = 2`;
  await client.$executeRaw`
    INSERT INTO deployment_revisions (deployment_id, generation, operation, revision, replicas, env, desired_state, created_by, outcome)
    SELECT d.id, 2, 'upgrade', 2, 1, d.env, 'running', 'test', 'failed'
    FROM deployments d JOIN workloads w ON w.id = d.workload_id AND w.revision = 2`;
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

async function explain(query: Prisma.Sql, on: Pick<Prisma.TransactionClient, '$queryRaw'> = client): Promise<Plan[]> {
  const [row] = await on.$queryRaw<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(Prisma.sql`EXPLAIN (FORMAT JSON) ${query}`);
  const [explained] = row?.['QUERY PLAN'] ?? [];
  if (!explained) throw new Error('EXPLAIN returned no plan');
  return nodesOf(explained.Plan);
}

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

const uses = (nodes: readonly Plan[], index: string) => nodes.some((node) => node['Index Name'] === index);
const queryOf = (given: Partial<Query>): Query => ({ page: 1, limit: PAGE, sort: '-created_at', ...given });
const [host] = await client.$queryRaw<{ id: string }[]>`SELECT id FROM hosts WHERE name = 'host-7'`;
const [workload] = await client.$queryRaw<{ id: string }[]>`SELECT id FROM workloads WHERE name = 'workload-7'`;
const ids = (row: { readonly id: string } | undefined) => [row?.id ?? ''];

const filters: readonly (readonly [string, Partial<Query>])[] = [
  ['deployments_phase_idx', { phase: ['failed'] }],
  ['deployments_host_id_due_at_idx', { host_id: ids(host) }],
  ['deployments_workload_id_revision_idx', { workload_id: ids(workload) }],
  ['deployments_labels_idx', { label: [{ key: 'n', value: '7' }] }],
  ['workload_revisions_template_slug_idx', { template: ['template-7'] }],
  ['workload_revisions_template_id_template_hash_idx', { template_id: ['00000000-0000-7000-8000-000000000007'] }],
];

test.each(filters)('a page and its total use %s for the filter %j', async (index, given) => {
  const query = pageOf(list, queryOf(given));
  const nodes = await explain(query);
  const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'deployments');
  expect(uses(nodes, index)).toBe(true);
  expect(scans).toEqual([]);
  // Dropping it would also slow the columns.
  if (index === 'deployments_workload_id_revision_idx') return;
  expect(uses(await explainWithout(index, query), index)).toBe(false);
});

test('an exact name uses the index of unique names', async () => {
  const nodes = await explain(pageOf(list, queryOf({ name: ['abc', 'def'] })));
  expect(nodes.some((node) => /^deployments_name_(?:key|idx)$/.test(node['Index Name'] ?? ''))).toBe(true);
});

/** An advisory is also about copies of an unknown revision: those whose number is a multiple of 7. */
const isFlawed = (n: number) => n % 500 === 3 && [0, 2, 3, 4].includes(n % 7);
const hasWarning = (n: number) => n % 500 === 7 && ![1, 2].includes(n % 7);

const isOutdated = (n: number) => n % 500 < 400 && n % 3 === 0;
/** Updates are held by a blocked template, and by a generation that has failed. */
const isHeld = (n: number) => n % 500 === 3 || n % 60 === 0;

/** The numbers of the deployments that a filter finds, by how the rows are made. */
const found: readonly (readonly [keyof typeof deploymentList.filters, string | string[], (n: number) => boolean])[] = [
  ['advisory', 'critical', (n) => isFlawed(n) || (n % 500 === 7 && n % 7 === 0)],
  ['advisory', 'warning', (n) => isFlawed(n) || hasWarning(n)],
  ['advisory', 'note', (n) => isFlawed(n) || hasWarning(n) || (n % 500 === 450 && n % 7 <= 1)],
  ['template_status', ['blocked', 'deprecated'], (n) => [3, 7].includes(n % 500)],
  ['template_status', ['active'], (n) => ![3, 7].includes(n % 500)],
  ['template_state', ['withdrawn'], (n) => n % 500 >= 400],
  ['template_state', ['outdated'], isOutdated],
  ['update', ['available', 'held'], isOutdated],
  ['update', ['available'], (n) => isOutdated(n) && !isHeld(n)],
  ['update', ['held'], (n) => isOutdated(n) && isHeld(n)],
  ['template_state', ['current', 'withdrawn'], (n) => n % 500 >= 400 || n % 3 !== 0],
];

/** The names of the deployments that a filter finds. */
const namesOf = (matches: (n: number) => boolean) =>
  Array.from({ length: ROWS }, (_, index) => index + 1)
    .filter(matches)
    .map((n) => createHash('md5').update(String(n)).digest('hex'))
    .sort();

test.each(found)('the filter %s with %j finds exactly the matching deployments', async (name, value, matches) => {
  // Each value is one of its filter.
  const condition = deploymentList.filters[name] as (value: string | string[]) => Prisma.Sql;
  const rows = await client.$queryRaw<{ name: string }[]>`SELECT r.name FROM deployments r WHERE ${condition(value)}`;
  const names = namesOf(matches);
  expect(rows.map((row) => row.name).sort()).toEqual(names);
  expect(names.length).toBeGreaterThan(0);
});

test('a page with a filter by template reads as many rows as one without', async () => {
  const page = async (filter: string) => {
    const { result, rows } = await reads.of(() =>
      world.asViewer.get(`/api/v1/deployments?sort=name&limit=${PAGE}${filter}`),
    );
    expect(result.status).toBe(200);
    return {
      rows,
      total: result.body.pagination.total,
      names: result.body.deployments.map((row: { name: string }) => row.name),
    };
  };
  await page(''); // the first request of a token stores its use
  const unfiltered = await page('');
  for (const [name, value, matches] of found) {
    const names = namesOf(matches);
    const expected = { total: names.length, names: names.slice(0, PAGE) };
    const { rows, ...shown } = await page(`&${name}=${[value].flat().join()}`);
    expect({ filter: `${name}=${value}`, ...shown }).toEqual({ filter: `${name}=${value}`, ...expected });
    expect(rows).toBeLessThanOrEqual(unfiltered.rows);
  }
});

const indexed: readonly Partial<Query>[] = [
  { advisory: 'note' },
  { template_status: ['blocked', 'deprecated'] },
  { template_state: ['outdated'] },
  { update: ['available'] },
];

test.each(indexed)('the filter %j reads only the copies that it finds, from an index', async (given) => {
  const nodes = await explain(pageOf(list, queryOf(given)));
  const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
  expect(scans).not.toContain('workload_revisions');
  expect(uses(nodes, 'workload_revisions_template_id_template_hash_idx')).toBe(true);
});

test('the filter advisory reads no other deployments', async () => {
  const nodes = await explain(pageOf(list, queryOf({ advisory: 'note' })));
  const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
  expect(scans).not.toContain('deployments');
});

const sorts = [
  ['deployments_created_at_id_idx', 'created_at'],
  ['deployments_updated_at_id_idx', 'updated_at'],
  ['deployments_name_idx', 'name'],
] as const;

const ordered = [
  ...sorts.flatMap(([index, field]) => [[index, field] as const, [index, `-${field}`] as const]),
  ['deployments_problem_idx', '-problem'] as const,
];

test.each(ordered)('a page uses %s for the sort order %s', async (index, sort) => {
  const query = pageOf(list, queryOf({ sort }));
  expect(uses(await explain(query), index)).toBe(true);
  expect(uses(await explainWithout(index, query), index)).toBe(false);
});
