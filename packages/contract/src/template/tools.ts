import { z } from 'zod';
import { type Template, template } from './fields.ts';

/** A template in the results of tools: what a model needs to choose one. */
export const briefTemplate = z.object({
  ...template.pick({ slug: true, name: true, description: true, category_slug: true, tags: true, min_tier: true })
    .shape,
  ...template.pick({ cpu_request: true, memory_request: true, gpu_count: true }).shape,
  required_env: z.array(z.string()).meta({ description: 'Variables that a deployment must set' }),
});

/** What a tool of the catalog is about. */
export const ofKind = {
  kind: z.enum(['template', 'application']).default('template'),
};

/** An application of the catalog in the results of tools. */
export const briefApplicationOfCatalog = briefTemplate.pick({
  ...({ slug: true, name: true, description: true, category_slug: true, tags: true, min_tier: true } as const),
});

/** The rest of a list in the result of a tool. */
export const restOfList = {
  total: z.int(),
  next_page: z.int().nullable().meta({ description: 'null on the last page' }),
};

/** The members of a result that state the rest of a list. */
export const restOf = ({ page, total, totalPages }: { page: number; total: number; totalPages: number }) => ({
  total,
  next_page: page < totalPages ? page + 1 : null,
});

/** Adds the variables that a deployment of the template must set. */
export const withRequiredEnv = <T extends Pick<Template, 'env_schema'>>(found: T) => ({
  ...found,
  required_env: found.env_schema.filter(({ required }) => required).map(({ name }) => name),
});

/** The documentation of a template in Markdown. */
export const documentationOf = ({
  name,
  description,
  documentation,
}: Pick<Template, 'name' | 'description' | 'documentation'>): string =>
  `# ${name}\n\n${description}\n\n${documentation}`;
