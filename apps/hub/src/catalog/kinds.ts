import { application, template } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

/**
 * A kind of objects of the catalog. Visibility, lists, changes and downloads follow one rule for all kinds. In statements,
 * `t` is the table of the objects, and `c` that of their categories.
 */
export interface Kind {
  /** The member of replies that contains the objects. */
  readonly member: 'templates' | 'applications';
  readonly table: Prisma.Sql;
  /** The intervals of what decides who sees an object. */
  readonly scopes: Prisma.Sql;
  readonly downloads: Prisma.Sql;
  /** The id of an object, in `scopes` and `downloads`. */
  readonly id: Prisma.Sql;
  /** The FROM clause of a query of objects. */
  readonly sources: Prisma.Sql;
  /** The select list of a query of objects. */
  readonly columns: Prisma.Sql;
  /** The same columns, without reading the long ones. */
  readonly summaryColumns: Prisma.Sql;
  /** The size of the columns of a summary, in bytes. */
  readonly summarySize: Prisma.Sql;
  /** The values of filters, and the image that words find. */
  readonly kindOf: Prisma.Sql;
  readonly hasGpu: Prisma.Sql;
  readonly imageOf: Prisma.Sql;
  readonly schema: z.ZodType<ShownObject>;
  /** The reply with changes. */
  readonly updates: Pick<z.ZodType<Record<string, unknown>>, 'parse'>;
  /** The part of the memory for caches that it has. */
  readonly cacheShare: number;
}

/** What all objects show. */
interface ShownObject {
  readonly id: string;
  readonly updated_at: string;
  readonly download_count: number;
}

/** The members that are columns of the category. */
const OF_CATEGORY = {
  category_name: Prisma.sql`c.name`,
  category_slug: Prisma.sql`c.slug`,
  category_icon: Prisma.sql`c.icon`,
};

/** The members that are no columns of the table. */
type Joined = keyof typeof OF_CATEGORY | 'download_count';

interface Declared<Member extends string> {
  readonly table: string;
  readonly scopes: string;
  readonly downloads: string;
  readonly id: string;
  readonly members: readonly Member[];
  /** What a summary has instead of long columns. */
  readonly shortened: Readonly<Record<string, string>>;
}

function statementsOf<Member extends string>({ members, shortened, ...names }: Declared<Member>) {
  const [table, scopes, downloads, id] = [names.table, names.scopes, names.downloads, names.id].map((name) =>
    Prisma.raw(name),
  ) as [Prisma.Sql, Prisma.Sql, Prisma.Sql, Prisma.Sql]; // map keeps the number of elements
  const joined = Object.entries({
    ...OF_CATEGORY,
    download_count: Prisma.sql`coalesce((SELECT d.count FROM ${downloads} d WHERE d.${id} = t.id), 0)::int`,
  }).map(([member, expression]) => Prisma.sql`${expression} AS ${Prisma.raw(member)}`);
  const select = (columnOf: (member: Member) => string) =>
    Prisma.join([...members.map((member) => Prisma.raw(columnOf(member))), ...joined]);
  const lengths = Object.keys(shortened).map((column) => `octet_length(t.${column}::text)`);
  return {
    table,
    scopes,
    downloads,
    id,
    sources: Prisma.sql`${table} t JOIN categories c ON c.id = t.category_id`,
    columns: select((member) => `t.${member}`),
    summaryColumns: select((member) =>
      Object.hasOwn(shortened, member) ? `${shortened[member]} AS ${member}` : `t.${member}`,
    ),
    summarySize: Prisma.raw(['t.weight', ...lengths].join(' - ')),
  };
}

type Column<Row> = Exclude<keyof Row & string, Joined>;

/** This does not compile while a member of the contract lacks a column in `schema.prisma`. */
const columnsOf = <Row>(members: readonly string[]): readonly Column<Row>[] =>
  // Object.keys returns string[].
  members.filter((member) => !(member in OF_CATEGORY) && member !== 'download_count') as Column<Row>[];

const templateColumns: readonly Prisma.TemplateScalarFieldEnum[] = columnsOf<z.output<typeof template>>(
  Object.keys(template.shape),
);

export const templates: Kind = {
  member: 'templates',
  ...statementsOf({
    table: 'templates',
    scopes: 'template_scopes',
    downloads: 'template_downloads',
    id: 'template_id',
    members: templateColumns,
    shortened: { documentation: "''", signatures: "'{}'::text[]", files: "'[]'::jsonb" },
  }),
  kindOf: Prisma.sql`t.kind`,
  hasGpu: Prisma.sql`(t.gpu_count > 0)`,
  imageOf: Prisma.sql`concat_ws(':', t.image_name, t.image_tag)`,
  schema: template,
  updates: hubEndpoints.listTemplateUpdates.reply,
  cacheShare: 1,
};

const applicationColumns: readonly Prisma.ApplicationScalarFieldEnum[] = columnsOf<z.output<typeof application>>(
  Object.keys(application.shape),
);

export const applications: Kind = {
  member: 'applications',
  ...statementsOf({
    table: 'applications',
    scopes: 'application_scopes',
    downloads: 'application_downloads',
    id: 'application_id',
    members: applicationColumns,
    shortened: { documentation: "''", inputs: "'[]'::jsonb", generated: "'[]'::jsonb", parts: "'[]'::jsonb" },
  }),
  kindOf: Prisma.sql`'application'`,
  hasGpu: Prisma.sql`jsonb_path_exists(t.parts, '$[*].gpu_count ? (@ > 0)')`,
  imageOf: Prisma.sql`(
    SELECT string_agg(concat_ws(':', p ->> 'image_name', p ->> 'image_tag'), ' ') FROM jsonb_array_elements(t.parts) AS p)`,
  schema: application,
  updates: hubEndpoints.listApplicationUpdates.reply,
  cacheShare: 0.25,
};
