import type { template } from '@svc/contract';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';

/** A template as the catalog reads it: its wire members. */
export type TemplateRow = z.input<typeof template>;

const MEMBERS = [
  'id name slug description version kind category_id image_name image_tag cpu_request memory_request gpu_count',
  'vram_request concurrent_jobs env env_schema ports volume_mounts node_selector required_network_types tags is_public',
  'is_featured min_tier documentation registry_url registry_credentials secret_refs command tolerations icon_url',
  'created_at updated_at',
]
  .join(' ')
  .split(' ');

/** What a query of templates selects, over the sources below. */
export const templateColumns = Prisma.sql`${Prisma.raw(MEMBERS.map((member) => `t.${member}`).join(', '))},
  c.name AS category_name, c.slug AS category_slug, c.icon AS category_icon,
  coalesce((SELECT d.count FROM template_downloads d WHERE d.template_id = t.id), 0)::int AS download_count`;

/** Where templates come from; the rule of visibility speaks of the same aliases. */
export const templateSources = Prisma.sql`templates t JOIN categories c ON c.id = t.category_id`;
