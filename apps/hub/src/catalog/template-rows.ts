import { template } from '@svc/contract';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

/** A template as a catalog query returns it. */
export type TemplateRow = z.input<typeof template>;

/** The members of a template that are not columns of `templates`. */
const joined = {
  category_name: Prisma.sql`c.name`,
  category_slug: Prisma.sql`c.slug`,
  category_icon: Prisma.sql`c.icon`,
  download_count: Prisma.sql`coalesce((SELECT d.count FROM template_downloads d WHERE d.template_id = t.id), 0)::int`,
};

type Column = Exclude<keyof TemplateRow, keyof typeof joined>;
const isColumn = (member: string): member is Column => !(member in joined);

/** All other members. This does not compile while a member of the contract lacks a column in `schema.prisma`. */
const columns: readonly Prisma.TemplateScalarFieldEnum[] = Object.keys(template.shape).filter(isColumn);

/** The select list of a query of templates, for `FROM templateSources`. */
export const templateColumns = Prisma.join([
  ...columns.map((column) => Prisma.raw(`t.${column}`)),
  ...Object.entries(joined).map(([member, expression]) => Prisma.sql`${expression} AS ${Prisma.raw(member)}`),
]);

/** The FROM clause of a query of templates. `visibility.ts` uses the same aliases. */
export const templateSources = Prisma.sql`templates t JOIN categories c ON c.id = t.category_id`;
