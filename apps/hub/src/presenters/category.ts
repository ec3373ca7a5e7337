import type { managedCategory } from '@svc/contract';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

/** The counts that administrators receive with a category. */
export const withCounts = {
  _count: { select: { templates: true, catalog_access: true } },
} satisfies Prisma.CategoryInclude;

type Row = Prisma.CategoryGetPayload<{ include: typeof withCounts }>;

export const presentCategory = ({ _count, ...category }: Row): z.input<typeof managedCategory> => ({
  ...category,
  template_count: _count.templates,
  access_count: _count.catalog_access,
});
