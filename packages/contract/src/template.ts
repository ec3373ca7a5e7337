import { z } from 'zod';
import { templateDefaults, templateFields } from './template-fields.ts';
import { timestamp } from './timestamp.ts';
import { commaSeparated, flag, ignored, line, name, paging, slug, uuid } from './wire.ts';

/** A template as every caller who may see it sees it (specification, Resources: Template). */
export const template = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    version: z.string(),
    kind: z.string(),
    category_id: z.string(),
    category_name: z.string(),
    category_slug: z.string(),
    category_icon: z.string(),
    image_name: z.string(),
    image_tag: z.string(),
    cpu_request: z.string(),
    memory_request: z.string(),
    gpu_count: z.int(),
    vram_request: z.string(),
    concurrent_jobs: z.int(),
    env: z.array(z.object({ name: z.string(), value: z.string() })),
    env_schema: z.array(
      z.object({ name: z.string(), required: z.boolean(), default_value: z.string(), description: z.string() }),
    ),
    ports: z.array(z.object({ containerPort: z.int(), protocol: z.string() })),
    volume_mounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
    node_selector: z.record(z.string(), z.string()),
    required_network_types: z.array(z.string()),
    tags: z.array(z.string()),
    is_public: z.boolean(),
    is_featured: z.boolean(),
    min_tier: z.string(),
    download_count: z.int(),
    documentation: z.string(),
    registry_url: z.string().nullable(),
    registry_credentials: z.string().nullable(),
    secret_refs: z.array(z.object({ name: z.string(), key: z.string().optional(), env: z.string() })),
    command: z.array(z.string()),
    tolerations: z.array(
      z.object({
        key: z.string().optional(),
        operator: z.string().optional(),
        value: z.string().optional(),
        effect: z.string().optional(),
        tolerationSeconds: z.int().optional(),
      }),
    ),
    icon_url: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Template' });
export type Template = z.output<typeof template>;

/** A template as administrators see it: with the organization that owns it. */
export const ownedTemplate = template.extend({ owner_org_id: z.string().nullable() }).meta({ id: 'OwnedTemplate' });

/** Narrows a list of templates; what the caller may see is decided elsewhere. */
export const templateFilters = {
  category: line(200).optional().meta({ description: 'Slug of a category' }),
  search: line(200)
    .optional()
    .meta({ description: 'Text that the name or the description has, in any case, literally' }),
  featured: flag.optional().meta({ description: '`true`: only featured templates; `false` filters nothing out' }),
  tags: commaSeparated.optional().meta({ description: 'Comma-separated; a template matches when it has any of them' }),
};

export const templateListQuery = z.strictObject({ ...templateFilters, ...paging });

const readOnly = ignored(
  'category_name',
  'category_slug',
  'category_icon',
  'download_count',
  'created_at',
  'updated_at',
);

const ownership = { owner_org_id: uuid.nullable() };

type Fields = typeof templateFields;
type Defaulted = { [K in keyof Fields]: z.ZodDefault<Fields[K]> };
type Optional = { [K in keyof Fields]: z.ZodOptional<Fields[K]> };

const mapFields = <T>(change: (field: z.ZodType, member: keyof Fields) => z.ZodType): T =>
  Object.fromEntries(
    Object.entries(templateFields).map(([member, field]) => [member, change(field, member as keyof Fields)]),
  ) as T;

/** A new template: `name` and `category_id` are required, the slug is made from the name when it is not given. */
export const newTemplate = z
  .strictObject({
    name,
    slug: slug.optional(),
    category_id: uuid,
    ...mapFields<Defaulted>((field, member) => field.default(templateDefaults[member] as never)),
    owner_org_id: ownership.owner_org_id.default(null),
    ...ignored('id'),
    ...readOnly,
  })
  .meta({ id: 'NewTemplate' });

/** A change of a template: only the members that are named change. `id` may be in the query instead. */
export const templateChange = z
  .strictObject({
    id: uuid.optional(),
    name: name.optional(),
    slug: slug.optional(),
    category_id: uuid.optional(),
    ...mapFields<Optional>((field) => field.optional()),
    owner_org_id: ownership.owner_org_id.optional(),
    ...readOnly,
  })
  .meta({ id: 'TemplateChange' });
