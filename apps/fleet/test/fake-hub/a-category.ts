import { randomUUID } from 'node:crypto';
import { type Category, category } from '@svc/contract';

let count = 0;

/** A category in the format in which a hub sends it. */
export function aCategory(given: Partial<Category> = {}): Category {
  const name = given.name ?? `category ${++count}`;
  const at = '2026-01-02T03:04:05.678Z';
  return category.parse({
    id: randomUUID(),
    name,
    slug: given.slug ?? name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    description: '',
    icon: '',
    sort_order: 0,
    is_private: false,
    template_count: 0,
    created_at: at,
    updated_at: at,
    ...given,
  });
}
