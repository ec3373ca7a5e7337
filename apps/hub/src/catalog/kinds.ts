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
  /** What an object is called. */
  readonly noun: 'template' | 'application';
  readonly table: Prisma.Sql;
  /** The intervals of what decides who sees an object. */
  readonly scopes: Prisma.Sql;
  readonly downloads: Prisma.Sql;
  /** The contents after each change, and their documentation. */
  readonly revisions: Prisma.Sql;
  readonly texts: Prisma.Sql;
  readonly advisories: Prisma.Sql;
  /** The function that deletes old revisions. */
  readonly pruneHistory: Prisma.Sql;
  /** The id of an object, in the other tables. */
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
  readonly noun: Kind['noun'];
  readonly members: readonly Member[];
  /** What a summary has instead of long columns. */
  readonly shortened: Readonly<Record<string, string>>;
}

function statementsOf<Member extends string>({ noun, members, shortened }: Declared<Member>) {
  const table = Prisma.raw(`${noun}s`);
  const downloads = Prisma.raw(`${noun}_downloads`);
  const id = Prisma.raw(`${noun}_id`);
  const joined = Object.entries({
    ...OF_CATEGORY,
    download_count: Prisma.sql`coalesce((SELECT d.count FROM ${downloads} d WHERE d.${id} = t.id), 0)::int`,
  }).map(([member, expression]) => Prisma.sql`${expression} AS ${Prisma.raw(member)}`);
  const select = (columnOf: (member: Member) => string) =>
    Prisma.join([...members.map((member) => Prisma.raw(columnOf(member))), ...joined]);
  const lengths = Object.keys(shortened).map((column) => `octet_length(t.${column}::text)`);
  return {
    noun,
    table,
    scopes: Prisma.raw(`${noun}_scopes`),
    downloads,
    revisions: Prisma.raw(`${noun}_revisions`),
    texts: Prisma.raw(`${noun}_texts`),
    advisories: Prisma.raw(`${noun}_advisories`),
    pruneHistory: Prisma.raw(`${noun}_history_prune`),
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
    noun: 'template',
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
    noun: 'application',
    members: applicationColumns,
    shortened: {
      documentation: "''",
      inputs: "'[]'::jsonb",
      generated: "'[]'::jsonb",
      parts: "'[]'::jsonb",
      signatures: "'{}'::text[]",
    },
  }),
  kindOf: Prisma.sql`'application'`,
  hasGpu: Prisma.sql`jsonb_path_exists(t.parts, '$[*].gpu_count ? (@ > 0)')`,
  imageOf: Prisma.sql`(
    SELECT string_agg(concat_ws(':', p ->> 'image_name', p ->> 'image_tag'), ' ') FROM jsonb_array_elements(t.parts) AS p)`,
  schema: application,
  updates: hubEndpoints.listApplicationUpdates.reply,
  cacheShare: 0.25,
};
