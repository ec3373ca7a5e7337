import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { exportReads, importReads, MEBIBYTE } from '../shared/reads.ts';
import { flag, line, queryInteger, record, slug } from '../shared/wire.ts';
import { changeMessage } from '../template/advice.ts';
import { newSignatures } from '../template/signatures.ts';

/**
 * The most that an import or an export over HTTP reads of the catalog. The commands of the hub have
 * no limits.
 */
export const publishLimits = {
  categories: 1000,
  templates: 2000,
  applications: 500,
  /** The size of the templates and applications, as they are stored. */
  bytes: 32 * MEBIBYTE,
} as const;

/** The most YAML lexemes of all files of an import: what takes the time of a parser. */
export const MAX_PUBLISHED_LEXEMES = 1_000_000;

const BODY_LIMIT = 16 * MEBIBYTE;

/**
 * The maximum size of a catalog file in a request, in characters. Documentation has at most 500,000, and the rest of an
 * application 512 KiB as JSON.
 */
export const MAX_CATALOG_FILE = 1_200_000;

/** The path of a catalog file: that with the categories, or that of an object. Hidden files are none. */
const FILE = /^(?:categories\.yaml|(?:templates|applications)\/[^./\\][^/\\]{0,199}\.ya?ml)$/;

const path = line(220).regex(FILE, 'must be categories.yaml, templates/<slug>.yaml or applications/<slug>.yaml');

/** The files of a catalog. An import accepts what an export returns. */
const catalogFiles = z
  .strictObject({
    files: z
      .array(z.strictObject({ path, content: z.string().max(MAX_CATALOG_FILE) }))
      .max(publishLimits.templates + publishLimits.applications + 1)
      .meta({
        description:
          'The files of the command `import`: `categories.yaml`, `templates/<slug>.yaml` and `applications/<slug>.yaml`',
      }),
    signatures: record(slug, newSignatures, publishLimits.templates).optional().meta({
      description:
        'The signatures of `signatures.json`, by the slug of the template. Those of other templates do not change',
    }),
    application_signatures: record(slug, newSignatures, publishLimits.applications).optional().meta({
      description: 'The same for applications',
    }),
    message: changeMessage,
  })
  .meta({
    id: 'CatalogFiles',
    examples: [
      {
        files: [
          { path: 'categories.yaml', content: '- { slug: tools, name: Tools }\n' },
          { path: 'templates/server.yaml', content: 'name: Server\ncategory: tools\nimage_name: library/server\n' },
        ],
      },
    ],
  });

const change = z.object({
  verb: z.string().meta({ description: '`create`, `update` or `delete`' }),
  kind: z.string().meta({ description: '`category`, `template` or `application`' }),
  slug: z.string(),
  members: z.array(z.string()).meta({ description: 'The members that an update changes' }),
});

/** Publishing from files, by programs with a service token and by administrators. */
export const hubPublishEndpoints = {
  importCatalog: endpoint({
    operationId: 'importCatalog',
    method: 'post',
    path: '/api/v1/publish/import',
    access: 'publish-import',
    tag: 'publish',
    summary: 'Create and update the categories, templates and applications that files describe, in one transaction',
    query: z.strictObject({
      plan: flag.default(false).meta({ description: 'Only return what would change' }),
      prune: flag.default(false).meta({
        description:
          'Also delete what no file describes: with a service token, templates and applications of its categories; otherwise all templates, applications and categories',
      }),
      max_deletions: queryInteger(0, publishLimits.templates)
        .default(10)
        .meta({ description: 'The most deletions of `prune`. If there are more, nothing is changed' }),
    }),
    body: catalogFiles,
    bodyLimit: BODY_LIMIT,
    reads: importReads,
    reply: z
      .object({
        applied: z.boolean().meta({ description: 'false: a plan, which changed nothing' }),
        changes: z.array(change),
        created: z.int(),
        updated: z.int(),
        deleted: z.int(),
        unchanged: z.int(),
        warnings: z.array(z.string()).meta({
          description: 'Values that can no longer be written through `/admin`, each with its file and line',
        }),
      })
      .meta({ id: 'CatalogImport' }),
    problems: ['too_many_deletions'],
  }),
  exportCatalog: endpoint({
    operationId: 'exportCatalog',
    method: 'get',
    path: '/api/v1/publish/export',
    access: 'publish-export',
    tag: 'publish',
    summary:
      'Get the catalog as files; with a service token, its categories and their templates and applications, without owners',
    reads: exportReads,
    reply: z
      .object({
        files: z.array(z.object({ path: z.string(), content: z.string() })),
        signatures: z.record(z.string(), z.array(z.string())).meta({
          description: 'The signatures of the templates that have some, by slug',
        }),
        application_signatures: z.record(z.string(), z.array(z.string())).prefault({}).meta({
          description: 'The signatures of the applications that have some, by slug',
        }),
      })
      .meta({ id: 'CatalogExport' }),
    problems: ['payload_too_large', 'overloaded'],
  }),
};
