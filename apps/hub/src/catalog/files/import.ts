import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { fold, nearestName, statusProblems } from '@svc/contract';
import { partsOf, pickDefined } from '@svc/http';
import { type CatalogTransaction, type Change, writeCatalog } from '../../database/catalog-write.ts';
import type { Database } from '../../database/client.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { requestIcons } from '../../icons/store.ts';
import { derivedColumns } from '../derived.ts';
import { registerTags } from '../tags.ts';
import { brokenMembers, kinds } from '../trust/signatures.ts';
import { CATEGORIES, type CatalogFiles, CatalogFilesError } from './catalog-files.ts';
import { categoriesIn, type Extent, objectsIn, refuseBeyond } from './extent.ts';
import { nouns, type ObjectNoun, objectNouns, STATUS, tableOf } from './objects.ts';
import { SIGNATURES } from './signatures-file.ts';

type Reader = Pick<CatalogTransaction, 'category' | 'template' | 'application' | 'organization'>;
type Data = Record<string, unknown> & { readonly slug: string };

/** The change that an import makes to one row. */
export interface Step {
  readonly noun: 'category' | ObjectNoun;
  readonly verb: 'create' | 'update' | 'delete';
  readonly slug: string;
  /** The members that an update changes; empty for a creation and a deletion. */
  readonly members: readonly string[];
  readonly data: Data;
  /** Slug of the category of an object. */
  readonly category?: string;
  /** Slug of the owner of an object. */
  readonly owner?: string | null;
}

/** Maximum number of slugs of one statement. */
const SLUGS = 500;
/** Maximum number of objects that one statement creates. Its parameters are prepared without a pause. */
const CREATED = 50;

/** The number of slugs that a suggestion considers, and of errors with one. A suggestion compares all of them. */
const MAX_SUGGESTED = 400;
const MAX_SUGGESTIONS = 20;

interface FilesImport {
  readonly files: CatalogFiles;
  /** Only returns what would change. */
  readonly isPlan: boolean;
  /** Deletes the rows without a file, at most `max`. Without it, they are kept. */
  readonly prune: { readonly max: number } | undefined;
  readonly extent: Extent;
  /** The longest duration of the transaction, in milliseconds. */
  readonly timeoutMs: number;
  /** Who imports, and why. */
  readonly change: Change;
  /** Writes the audit entries of the objects with the ids, in the transaction of their changes, at its end. */
  readonly record: (transaction: CatalogTransaction, ids: readonly string[]) => Promise<unknown>;
}

/** An import would delete more rows than it may. Nothing was changed. */
export class DeletionsRefused extends Error {
  override name = 'DeletionsRefused';
  readonly plan: readonly Step[];
  readonly count: number;
  constructor(plan: readonly Step[], count: number) {
    super(`The import would delete ${count} objects.`);
    this.plan = plan;
    this.count = count;
  }
}

/**
 * Applies files to the catalog in one transaction. Rows are matched by slug; rows without a file are
 * kept, unless they are to be pruned. Equal rows are not written, so a second import changes nothing.
 * @returns the changes
 * @throws CatalogFilesError, DeletionsRefused, 413, before anything is written
 */
export async function importFiles(database: Database, given: FilesImport): Promise<readonly Step[]> {
  const plan = await planOf(database.client, given);
  if (given.isPlan || plan.length === 0) return plan;
  refuseDeletions(plan, given);
  return writeCatalog(
    database,
    async (transaction) => {
      // Planned again, because other writers are locked out only now.
      const steps = await planOf(transaction, given);
      refuseDeletions(steps, given);
      const deleted = await idsOf(transaction, 'delete', steps);
      await apply(transaction, steps);
      await requestIcons(
        transaction,
        steps.filter(setsIcon).map(({ slug }) => slug),
      );
      await registerTags(
        transaction,
        [...given.files.templates, ...given.files.applications].flatMap(({ tags }) => tags),
      );
      if (steps.length > 0) {
        const created = await idsOf(transaction, 'create', steps);
        const updated = await idsOf(transaction, 'update', steps);
        await given.record(transaction, [...created, ...updated, ...deleted]);
      }
      return steps;
    },
    { change: given.change, timeoutMs: given.timeoutMs },
  );
}

/** The ids of the objects that steps with the verb change. */
async function idsOf(reader: Reader, verb: Step['verb'], steps: readonly Step[]): Promise<string[]> {
  const ids: string[] = [];
  for (const noun of ['category', ...objectNouns] as const) {
    const slugs = steps.filter((step) => step.verb === verb && step.noun === noun).map(({ slug }) => slug);
    for (let start = 0; start < slugs.length; start += SLUGS) {
      const query = { where: { slug: { in: slugs.slice(start, start + SLUGS) } }, select: { id: true } };
      const found =
        noun === 'category' ? await reader.category.findMany(query) : await tableOf(reader, noun).findMany(query);
      ids.push(...found.map(({ id }) => id));
    }
  }
  return ids;
}

/** The numbers of changes, and of described objects that do not change. */
export function tallyOf(steps: readonly Step[], { categories, templates, applications }: CatalogFiles) {
  const count = (verb: Step['verb']) => steps.filter((step) => step.verb === verb).length;
  const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
  const described = categories.length + templates.length + applications.length;
  return { created, updated, deleted, unchanged: described - created - updated };
}

/** Whether a step writes the URL of the icon of a template. */
const setsIcon = ({ noun, verb, members, data }: Step): boolean =>
  noun === 'template' && (verb === 'create' ? data.icon_url !== null : members.includes('icon_url'));

/** @throws DeletionsRefused */
function refuseDeletions(plan: readonly Step[], { prune }: FilesImport): void {
  const count = plan.filter(({ verb }) => verb === 'delete').length;
  if (count > (prune?.max ?? 0)) throw new DeletionsRefused(plan, count);
}

async function planOf(reader: Reader, { files, prune, extent }: FilesImport): Promise<Step[]> {
  const where = categoriesIn(extent);
  if (extent.limits) refuseBeyond(extent, { categories: await reader.category.count({ where }) });
  const categories = bySlug(await reader.category.findMany({ where }));
  const stored = await readObjects(reader, files, extent);
  const errors = [
    ...(await errorsOf(reader, { files, categories, stored, extent })),
    ...(prune && extent.categoryIds === undefined ? errorsOfPrune(files, categories) : []),
  ];
  if (errors.length > 0) throw new CatalogFilesError(errors);
  const ofCategories = files.categories.flatMap((file) =>
    stepOf('category', { data: categoryData(file) }, categories.get(file.slug)),
  );
  const ofTemplates: Step[] = [];
  const unsigned: string[] = [];
  for (const file of files.templates) {
    await setImmediate(); // other work of the process runs between two comparisons
    const row = stored.template.rows.get(file.slug);
    const existing = row && { ...row, category: row.category.slug, owner: row.owner?.slug ?? null };
    const links = pickDefined(file, ['category', 'owner']);
    unsigned.push(...brokenSignatures('template', file, row));
    ofTemplates.push(...stepOf('template', { data: dataOf('template', file), ...links }, existing));
  }
  const ofApplications: Step[] = [];
  for (const file of files.applications) {
    await setImmediate();
    const row = stored.application.rows.get(file.slug);
    const existing = row && { ...row, category: row.category.slug, owner: row.owner?.slug ?? null };
    const links = pickDefined(file, ['category', 'owner']);
    unsigned.push(...brokenSignatures('application', file, row));
    ofApplications.push(...stepOf('application', { data: dataOf('application', file), ...links }, existing));
  }
  if (unsigned.length > 0) throw new CatalogFilesError(unsigned);
  const deletions = prune ? await deletionsOf(reader, { files, categories, extent }) : [];
  return [...ofCategories, ...ofTemplates, ...ofApplications, ...deletions];
}

/** What is wrong with a file that changes a signed object of the hub without new signatures. */
function brokenSignatures(
  noun: ObjectNoun,
  file: ObjectFile,
  row: (object & { readonly signatures: readonly string[] }) | undefined,
): string[] {
  if (!row || file.signatures !== undefined) return [];
  const broken = brokenMembers({ ...row }, dataOf(noun, file), kinds[noun]);
  return broken.length === 0
    ? []
    : [
        `${file.placeOf('')}: ${mustSign(
          noun,
          broken.map(({ name }) => name),
        )}`,
      ];
}

const mustSign = (noun: ObjectNoun, members: readonly string[]) =>
  `the ${noun} of the hub is signed, and its publisher has signed ${members.join(', ')}; sign the files again, or remove its signatures with an empty list in ${SIGNATURES}`;

interface StoredObjects<Row> {
  /** The stored objects that have a file, by slug. */
  readonly rows: ReadonlyMap<string, Row>;
  /** Whether a slug is that of an object outside the extent. */
  readonly isOutside: (slug: string) => boolean;
}

interface Stored {
  readonly files: CatalogFiles;
  readonly categories: ReadonlyMap<string, { readonly slug: string; readonly is_private: boolean }>;
  readonly stored: Readonly<Record<ObjectNoun, StoredObjects<Parameters<typeof statusProblems>[0]>>>;
  readonly extent: Extent;
}

/** The files of objects of a noun. */
type ObjectFile = CatalogFiles['templates'][number] | CatalogFiles['applications'][number];

const filesOf = (files: CatalogFiles, noun: ObjectNoun): readonly ObjectFile[] =>
  noun === 'template' ? files.templates : files.applications;

/** The files of all objects. */
const objectsOf = (files: CatalogFiles): readonly ObjectFile[] => [...files.templates, ...files.applications];

/** What is wrong with the references and slugs of files, each with its file and line. */
async function errorsOf(reader: Reader, given: Stored): Promise<string[]> {
  const { files, categories, stored, extent } = given;
  const isLimited = extent.categoryIds !== undefined;
  const errors = isLimited ? errorsOfToken(given) : await errorsOfOwners(reader, objectsOf(files));
  const known = new Set([...categories.keys(), ...(isLimited ? [] : files.categories.map(({ slug }) => slug))]);
  const unknown = objectsOf(files).filter(({ category }) => !known.has(category));
  for (const [index, { placeOf, category }] of unknown.entries()) {
    const message = isLimited ? notForCategory(category) : noSlug('category', category, suggested(known, index));
    errors.push(`${placeOf('category')}: category: ${message}`);
  }
  for (const noun of objectNouns) {
    for (const file of filesOf(files, noun)) {
      const { slug, placeOf } = file;
      // The status that a file leaves out does not change.
      const problems = statusProblems({ ...stored[noun].rows.get(slug), ...pickDefined(file, STATUS), slug });
      errors.push(...problems.map(({ path, message }) => `${placeOf(path)}: ${path}: ${message}`));
    }
  }
  const isKnown = {
    category: (slug: string) => categories.has(slug),
    template: (slug: string) => stored.template.rows.has(slug) || stored.template.isOutside(slug),
    application: (slug: string) => stored.application.rows.has(slug) || stored.application.isOutside(slug),
  };
  for (const [has, described] of [
    [isKnown.category, files.categories],
    [isKnown.template, files.templates],
    [isKnown.application, files.applications],
  ] as const) {
    for (const { slug, slugProblem, placeOf } of described) {
      if (slugProblem !== undefined && !has(slug)) errors.push(`${placeOf('slug')}: slug: ${slugProblem}`);
    }
  }
  return errors;
}

/**
 * What a service token must not do. The messages are the same for what does not exist and for what
 * the token must not know.
 */
function errorsOfToken({ files, categories, stored }: Stored): string[] {
  const ofCategories = files.categories.flatMap(({ slug, is_private, placeOf }) => {
    const existing = categories.get(slug);
    if (!existing) return [`${placeOf('slug')}: slug: ${notForCategory(slug)}`];
    return existing.is_private === is_private
      ? []
      : [
          `${placeOf('is_private')}: is_private: must be ${existing.is_private}: a service token cannot change whether a category is private`,
        ];
  });
  const ofObjects = objectNouns.flatMap((noun) =>
    filesOf(files, noun).flatMap(({ slug, owner, placeOf }) => [
      ...(owner === undefined
        ? []
        : [`${placeOf('owner')}: owner: must not be stated: a service token cannot change the owner of a ${noun}`]),
      ...(stored[noun].isOutside(slug)
        ? [`${placeOf('slug')}: slug: is already in use outside the categories of the token`]
        : []),
    ]),
  );
  return [...ofCategories, ...ofObjects];
}

/** Objects in categories that would be deleted. */
function errorsOfPrune(files: CatalogFiles, categories: Stored['categories']): string[] {
  const described = new Set(files.categories.map(({ slug }) => slug));
  return objectsOf(files)
    .filter(({ category }) => categories.has(category) && !described.has(category))
    .map(
      ({ category, placeOf }) =>
        `${placeOf('category')}: category: ${CATEGORIES} does not describe the category ${category}, so that it would be deleted`,
    );
}

const notForCategory = (slug: string) => `the service token is not for a category with the slug ${slug}`;

async function errorsOfOwners(reader: Reader, files: readonly ObjectFile[]): Promise<string[]> {
  const owned = files.flatMap(({ owner, placeOf }) => (owner ? [{ owner, placeOf }] : []));
  const organizations = await organizationsOf(
    reader,
    owned.map(({ owner }) => owner),
  );
  const unknown = owned.filter(({ owner }) => !organizations.has(owner));
  if (unknown.length === 0) return [];
  const others = await reader.organization.findMany({ select: { slug: true }, take: MAX_SUGGESTED });
  const slugs = others.map(({ slug }) => slug);
  return unknown.map(
    ({ owner, placeOf }, index) =>
      `${placeOf('owner')}: owner: ${noSlug('organization', owner, suggested(slugs, index))}`,
  );
}

/** The slugs that a suggestion considers for an error, by its index. */
const suggested = (known: Iterable<string>, index: number): readonly string[] =>
  index < MAX_SUGGESTIONS ? [...known].slice(0, MAX_SUGGESTED) : [];

/** The organizations with the slugs, by slug. */
async function organizationsOf({ organization }: Pick<Reader, 'organization'>, slugs: readonly string[]) {
  if (slugs.length === 0) return new Map<string, { readonly id: string; readonly slug: string }>();
  const where = { slug: { in: [...new Set(slugs)] } };
  return bySlug(await organization.findMany({ where, select: { id: true, slug: true } }));
}

function noSlug(noun: string, slug: string, known: readonly string[]): string {
  const nearest = nearestName(slug, known);
  return `no ${noun} has the slug ${slug}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/**
 * The deletions of the rows without a file: objects before categories. The deletion of a category
 * deletes its grants, which a service token must not change.
 */
async function deletionsOf(
  reader: Reader,
  { files, categories, extent }: Pick<Stored, 'files' | 'categories' | 'extent'>,
): Promise<Step[]> {
  const where = objectsIn(extent);
  const deletions = (noun: Step['noun'], slugs: readonly string[], kept: readonly { readonly slug: string }[]) => {
    const described = new Set(kept.map(({ slug }) => slug));
    const absent = slugs.filter((slug) => !described.has(slug));
    return absent.map((slug) => ({ noun, verb: 'delete' as const, slug, members: [], data: { slug } }));
  };
  const ofObjects: Step[] = [];
  for (const noun of objectNouns) {
    const table = tableOf(reader, noun);
    if (extent.limits) {
      const count = await table.count({ where });
      refuseBeyond(extent, noun === 'template' ? { templates: count } : { applications: count });
    }
    const rows = await table.findMany({ where, select: { slug: true }, orderBy: { slug: 'asc' } });
    const slugs = rows.map(({ slug }) => slug);
    ofObjects.push(...deletions(noun, slugs, filesOf(files, noun)));
  }
  if (extent.categoryIds !== undefined) return ofObjects;
  return [...ofObjects, ...deletions('category', [...categories.keys()].toSorted(), files.categories)];
}

/**
 * The stored objects that have a file. They are read in parts that stay within the statement
 * timeout. Of objects outside the extent, only the slug is used.
 */
async function readObjects(reader: Reader, files: CatalogFiles, extent: Extent) {
  const template = await findObjects(reader, { noun: 'template', files, extent });
  const application = await findObjects(reader, { noun: 'application', files, extent });
  const bytes = [...template.sizes, ...application.sizes].reduce((sum, size) => sum + size.bytes, 0);
  refuseBeyond(extent, { bytes });
  return {
    template: { rows: await template.read(), isOutside: template.isOutside },
    application: { rows: await application.read(), isOutside: application.isOutside },
  };
}

async function findObjects(
  reader: Reader,
  { noun, files, extent }: { readonly noun: ObjectNoun; readonly files: CatalogFiles; readonly extent: Extent },
) {
  const table = tableOf(reader, noun);
  const described = filesOf(files, noun);
  const select = { id: true, slug: true, category_id: true, weight: true } as const;
  const find = (slugs: string[]) => table.findMany({ where: { slug: { in: slugs } }, select });
  const found: Awaited<ReturnType<typeof find>> = [];
  for (let start = 0; start < described.length; start += SLUGS) {
    found.push(...(await find(described.slice(start, start + SLUGS).map(({ slug }) => slug))));
  }
  const { categoryIds } = extent;
  const inside = found.filter(({ category_id }) => categoryIds === undefined || categoryIds.includes(category_id));
  const sizes = inside.map(({ id, weight }) => ({ key: id, bytes: weight }));
  const slugs = new Set(inside.map(({ slug }) => slug));
  const outside = new Set(found.map(({ slug }) => slug).filter((slug) => !slugs.has(slug)));
  const include = { category: { select: { slug: true } }, owner: { select: { slug: true } } };
  const read = (ids: string[]) => table.findMany({ where: { ...objectsIn(extent), id: { in: ids } }, include });
  return {
    sizes,
    isOutside: (slug: string) => outside.has(slug),
    read: async () => {
      const rows: Awaited<ReturnType<typeof read>> = [];
      for (const ids of partsOf(sizes)) rows.push(...(await read(ids)));
      return bySlug(rows);
    },
  };
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

const dataOf = (noun: ObjectNoun, file: ObjectFile): Data => ({
  ...pickDefined(Object.fromEntries(Object.entries(file)), nouns[noun].stored),
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

async function apply(transaction: CatalogTransaction, steps: readonly Step[]): Promise<void> {
  const { category } = transaction;
  for (const { verb, slug, data } of steps.filter(({ noun, verb }) => noun === 'category' && verb !== 'delete')) {
    // The schema of the contract accepted the data, and the step added the derived columns.
    if (verb === 'create') await category.create({ data: data as unknown as Prisma.CategoryUncheckedCreateInput });
    else await category.update({ where: { slug }, data });
  }
  const categories = bySlug(await category.findMany({ select: { id: true, slug: true } }));
  const organizations = await organizationsOf(
    transaction,
    steps.flatMap(({ owner }) => owner ?? []),
  );
  for (const noun of objectNouns) {
    const rows = steps
      .filter((step) => step.noun === noun)
      .map(({ verb, slug, data, category: categorySlug = '', owner }) => {
        const withCategory = { ...data, category_id: categories.get(categorySlug)?.id };
        if (owner === undefined) return { verb, slug, data: withCategory };
        const owner_org_id = organizations.get(owner ?? '')?.id ?? null;
        return { verb, slug, data: { ...withCategory, owner_org_id } };
      });
    await applyRows(tableOf(transaction, noun), rows);
  }
  const deleted = steps.filter((step) => step.noun === 'category' && step.verb === 'delete').map(({ slug }) => slug);
  await category.deleteMany({ where: { slug: { in: deleted } } });
}

interface RowChange {
  readonly verb: Step['verb'];
  readonly slug: string;
  readonly data: object;
}

async function applyRows(table: CatalogTransaction['template'], rows: readonly RowChange[]): Promise<void> {
  const created = rows.filter(({ verb }) => verb === 'create');
  for (let start = 0; start < created.length; start += CREATED) {
    const batch = created.slice(start, start + CREATED);
    // The schema of the contract accepted the data, and the step added the derived columns.
    await table.createMany({ data: batch.map(({ data }) => data as unknown as Prisma.TemplateCreateManyInput) });
  }
  for (const { slug, data } of rows.filter(({ verb }) => verb === 'update')) {
    // The schema of the contract accepted the data. `updateMany` reads nothing back.
    await table.updateMany({ where: { slug }, data: data as Prisma.TemplateUncheckedUpdateManyInput });
  }
  const deleted = rows.filter(({ verb }) => verb === 'delete').map(({ slug }) => slug);
  for (let start = 0; start < deleted.length; start += SLUGS) {
    await table.deleteMany({ where: { slug: { in: deleted.slice(start, start + SLUGS) } } });
  }
}
