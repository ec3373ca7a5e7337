import { isDeepStrictEqual } from 'node:util';
import { fold, nearestName, templateFieldNames } from '@svc/contract';
import { pickDefined } from '@svc/http';
import { writeCommandEntry } from '../audit/entry.ts';
import { derivedColumns } from '../catalog/derived.ts';
import { registerTags } from '../catalog/tags.ts';
import { type CatalogTransaction, writeCatalog } from '../database/catalog-write.ts';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { requestIcons } from '../icons/store.ts';
import { type CatalogFiles, CatalogFilesError, readCatalogFiles, whyIgnored } from './catalog-files.ts';

type Reader = Pick<CatalogTransaction, 'category' | 'template' | 'organization'>;
type Data = Record<string, unknown> & { readonly slug: string };

/** The change that an import makes to one row. */
interface Step {
  readonly noun: 'category' | 'template';
  readonly verb: 'create' | 'update' | 'delete';
  readonly slug: string;
  /** The members that an update changes; empty for a creation and a deletion. */
  readonly members: readonly string[];
  readonly data: Data;
  /** Slug of the category of a template. */
  readonly category?: string;
  /** Slug of the owner of a template. */
  readonly owner?: string | null;
}

const IMPORT_TIMEOUT_MS = 10 * 60_000;
/** Maximum number of templates that one statement reads or writes. */
const BATCH = 500;

interface ImportOptions {
  readonly folder: string;
  readonly dryRun: boolean;
  /** Deletes the rows without a file, at most `max`. Without it, they are kept. */
  readonly prune?: Prune | undefined;
}

interface Prune {
  readonly max: number;
  /** Whether the operator has confirmed the deletions. */
  readonly isConfirmed: boolean;
}

/**
 * Applies a folder of YAML files to the catalog in one transaction. Rows are matched by slug; rows
 * without a file are kept, unless they are to be pruned. Equal rows are not written, so a second
 * import changes nothing.
 * @returns one line per change, and a summary
 * @throws CatalogFilesError, or an error for deletions that are too many or not confirmed, before
 * anything is written
 */
export async function importCatalog(
  database: Database,
  { folder, dryRun, prune }: ImportOptions,
): Promise<readonly string[]> {
  const files = readCatalogFiles(folder);
  if (prune && files.ignored.length > 0) {
    throw new CatalogFilesError(
      files.ignored.map(
        (name) =>
          `${name}: is ignored; ${whyIgnored(name)}. With --prune, a template that it describes would be deleted: rename or remove it`,
      ),
    );
  }
  const plan = await planOf(database.client, files, prune);
  if (dryRun || plan.length === 0) return report(plan, files, dryRun);
  if (prune) refuseDeletions(plan, files, prune);
  const applied = await writeCatalog(
    database,
    async (transaction) => {
      // Planned again, because other writers are locked out only now.
      const steps = await planOf(transaction, files, prune);
      if (prune) refuseDeletions(steps, files, prune);
      await apply(transaction, steps);
      if (steps.length > 0) await writeCommandEntry(transaction, 'import');
      await requestIcons(
        transaction,
        steps.filter(setsIcon).map(({ slug }) => slug),
      );
      await registerTags(
        transaction,
        files.templates.flatMap(({ tags }) => tags),
      );
      return steps;
    },
    { timeoutMs: IMPORT_TIMEOUT_MS },
  );
  return report(applied, files, dryRun);
}

/** Whether a step writes the URL of the icon of a template. */
const setsIcon = ({ noun, verb, members, data }: Step): boolean =>
  noun === 'template' && (verb === 'create' ? data.icon_url !== null : members.includes('icon_url'));

/**
 * @throws an error with the plan if it deletes too many rows, or if the deletions are not confirmed
 */
function refuseDeletions(plan: readonly Step[], files: CatalogFiles, { max, isConfirmed }: Prune): void {
  const count = plan.filter(({ verb }) => verb === 'delete').length;
  if (count <= (isConfirmed ? max : 0)) return;
  const advice =
    count > max
      ? `The import would delete ${count} objects, but at most ${max} are allowed. Check the folder, or set --max-deletions.`
      : `The import would delete ${count} objects. Check the list, and repeat the command with --yes.`;
  throw new Error([...report(plan, files, true), `Nothing was changed. ${advice}`].join('\n'));
}

async function planOf(reader: Reader, files: CatalogFiles, prune: Prune | undefined): Promise<Step[]> {
  const categories = bySlug(await reader.category.findMany());
  const templates = await readTemplates(reader, files.templates);
  const organizations = bySlug(await reader.organization.findMany({ select: { slug: true } }));
  const known = new Set([...categories.keys(), ...files.categories.map(({ slug }) => slug)]);
  const errors: string[] = [];
  for (const { placeOf, category, owner } of files.templates) {
    if (!known.has(category)) {
      errors.push(`${placeOf('category')}: category: ${noSlug('category', category, [...known])}`);
    }
    if (owner && !organizations.has(owner)) {
      errors.push(`${placeOf('owner')}: owner: ${noSlug('organization', owner, [...organizations.keys()])}`);
    }
  }
  for (const [stored, described] of [
    [categories, files.categories],
    [templates, files.templates],
  ] as const) {
    for (const { slug, slugProblem, placeOf } of described) {
      if (slugProblem !== undefined && !stored.has(slug)) errors.push(`${placeOf('slug')}: slug: ${slugProblem}`);
    }
  }
  if (errors.length > 0) throw new CatalogFilesError(errors);
  const ofCategories = files.categories.flatMap((file) =>
    stepOf('category', { data: categoryData(file) }, categories.get(file.slug)),
  );
  const ofTemplates = files.templates.flatMap((file) => {
    const row = templates.get(file.slug);
    const existing = row && { ...row, category: row.category.slug, owner: row.owner?.slug ?? null };
    const links = pickDefined(file, ['category', 'owner']);
    return stepOf('template', { data: templateData(file), ...links }, existing);
  });
  const deletions = prune ? await deletionsOf(reader, files, [...categories.keys()]) : [];
  return [...ofCategories, ...ofTemplates, ...deletions];
}

function noSlug(noun: string, slug: string, known: readonly string[]): string {
  const nearest = nearestName(slug, known);
  return `no ${noun} has the slug ${slug}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** The deletions of the rows without a file: templates before categories. */
async function deletionsOf(reader: Reader, files: CatalogFiles, categories: readonly string[]): Promise<Step[]> {
  const templates = await reader.template.findMany({ select: { slug: true }, orderBy: { slug: 'asc' } });
  const deletions = (noun: Step['noun'], slugs: readonly string[], kept: readonly { readonly slug: string }[]) => {
    const described = new Set(kept.map(({ slug }) => slug));
    const absent = slugs.filter((slug) => !described.has(slug));
    return absent.map((slug) => ({ noun, verb: 'delete' as const, slug, members: [], data: { slug } }));
  };
  return [
    ...deletions(
      'template',
      templates.map(({ slug }) => slug),
      files.templates,
    ),
    ...deletions('category', categories.toSorted(), files.categories),
  ];
}

/**
 * The stored templates that have a file. They are read in batches that stay within the statement
 * timeout.
 */
async function readTemplates(reader: Reader, files: CatalogFiles['templates']) {
  const include = { category: { select: { slug: true } }, owner: { select: { slug: true } } };
  const read = (slugs: string[]) => reader.template.findMany({ where: { slug: { in: slugs } }, include });
  const existing: Awaited<ReturnType<typeof read>> = [];
  for (let start = 0; start < files.length; start += BATCH) {
    existing.push(...(await read(files.slice(start, start + BATCH).map(({ slug }) => slug))));
  }
  return bySlug(existing);
}

const bySlug = <T extends { readonly slug: string }>(rows: readonly T[]) => new Map(rows.map((row) => [row.slug, row]));

type DesiredRow = Pick<Step, 'data' | 'category' | 'owner'>;

function stepOf(noun: Step['noun'], desired: DesiredRow, existing: object | undefined): Step[] {
  const { data, ...links } = desired;
  if (!existing) return [{ noun, ...desired, slug: data.slug, verb: 'create', members: [] }];
  const before: Record<string, unknown> = { ...existing };
  const after: Record<string, unknown> = { ...data, ...links };
  const members = Object.keys(after).filter(
    (member) => !isDeepStrictEqual(plain(after[member]), plain(before[member])),
  );
  return members.length === 0 ? [] : [{ noun, ...desired, slug: data.slug, verb: 'update', members }];
}

/** A value after a round trip through JSON, which removes undefined members. */
export const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

const templateData = (file: CatalogFiles['templates'][number]): Data => ({
  ...pickDefined(file, ['name', ...templateFieldNames]),
  slug: file.slug,
  ...derivedColumns(file),
});

const categoryData = ({
  name,
  slug,
  description,
  icon,
  sort_order,
  is_private,
}: CatalogFiles['categories'][number]): Data => ({
  name,
  slug,
  description,
  icon,
  sort_order,
  is_private,
  sort_name: fold(name),
});

async function apply({ category, template, organization }: CatalogTransaction, steps: readonly Step[]): Promise<void> {
  for (const { verb, slug, data } of steps.filter(({ noun, verb }) => noun === 'category' && verb !== 'delete')) {
    // The schema of the contract accepted the data, and the step added the derived columns.
    if (verb === 'create') await category.create({ data: data as unknown as Prisma.CategoryUncheckedCreateInput });
    else await category.update({ where: { slug }, data });
  }
  const select = { id: true, slug: true };
  const categories = bySlug(await category.findMany({ select }));
  const organizations = bySlug(await organization.findMany({ select }));
  const rows = steps
    .filter(({ noun }) => noun === 'template')
    .map(({ verb, slug, data, category: categorySlug = '', owner }) => {
      const withCategory = { ...data, category_id: categories.get(categorySlug)?.id };
      if (owner === undefined) return { verb, slug, data: withCategory };
      const owner_org_id = organizations.get(owner ?? '')?.id ?? null;
      return { verb, slug, data: { ...withCategory, owner_org_id } };
    });
  const created = rows.filter(({ verb }) => verb === 'create');
  for (let start = 0; start < created.length; start += BATCH) {
    const batch = created.slice(start, start + BATCH);
    // The schema of the contract accepted the data, and the step added the derived columns.
    await template.createMany({ data: batch.map(({ data }) => data as unknown as Prisma.TemplateCreateManyInput) });
  }
  for (const { slug, data } of rows.filter(({ verb }) => verb === 'update')) {
    // The schema of the contract accepted the data.
    await template.update({ where: { slug }, data: data as Prisma.TemplateUncheckedUpdateInput });
  }
  for (const { noun, slug } of steps.filter(({ verb }) => verb === 'delete')) {
    if (noun === 'template') await template.delete({ where: { slug } });
    else await category.delete({ where: { slug } });
  }
}

function report(steps: readonly Step[], files: CatalogFiles, dryRun: boolean): string[] {
  const would = dryRun ? 'would ' : '';
  const lines = steps.map(
    ({ noun, verb, slug, members }) =>
      `${would}${verb} ${noun} ${slug}${verb === 'update' ? ` (${members.join(', ')})` : ''}`,
  );
  const count = (verb: Step['verb']) => steps.filter((step) => step.verb === verb).length;
  const unchanged = files.categories.length + files.templates.length - count('create') - count('update');
  const to = (verb: Step['verb']) => `${count(verb)} ${dryRun ? `to ${verb}` : `${verb}d`}`;
  const deleted = count('delete') > 0 ? `, ${to('delete')}` : '';
  return [
    ...files.warnings,
    ...lines,
    `${dryRun ? 'dry run: ' : ''}${to('create')}, ${to('update')}${deleted}, ${unchanged} unchanged`,
  ];
}
