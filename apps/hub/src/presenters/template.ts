import type { ownedTemplate } from '@svc/contract';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

/** What administrators read with a template. */
export const withCategory = {
  category: { select: { name: true, slug: true, icon: true } },
  downloads: { select: { count: true } },
} satisfies Prisma.TemplateInclude;

type Row = Prisma.TemplateGetPayload<{ include: typeof withCategory }>;

/** Columns keep their wire names; the reply schema drops the ones that are not part of it. */
export function presentTemplate({ category, downloads, ...template }: Row): z.input<typeof ownedTemplate> {
  const presented = {
    ...template,
    category_name: category.name,
    category_slug: category.slug,
    category_icon: category.icon,
    download_count: Number(downloads?.count ?? 0),
  };
  return presented as unknown as z.input<typeof ownedTemplate>; // JSON columns hold what the contract's schemas let in
}
