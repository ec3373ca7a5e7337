import { type Either, eitherOf, reply } from '../api.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { print } from '../output.ts';

interface SearchOptions extends Common {
  readonly limit: number;
}

/** Finds templates by words: in the hub those that the caller sees, in the fleet those of the mirror. */
export const search: Action<SearchOptions> = async (words, { limit, ...options }) => {
  const q = words.length === 0 ? undefined : words.join(' ');
  const { templates, pagination } = await listTemplates(await eitherOf(options), given({ q, limit }));
  await print(
    templates.map(({ slug, name, description, tags, min_tier }) => ({ slug, name, description, tags, min_tier })),
    {
      format: options.output,
      as: () =>
        templates.length === 0
          ? `${pagination.total} templates.`
          : {
              columns: ['SLUG', 'NAME', 'TAGS', 'DESCRIPTION'],
              rows: templates.map(({ slug, name, tags, description }) => [slug, name, tags.join(','), description]),
            },
    },
  );
  return undefined;
};

const listTemplates = ({ service, client }: Either, found: { q?: string; limit: number }) => {
  const params = { query: { ...found, view: 'summary' as const } };
  return service === 'fleet'
    ? reply(client.GET('/api/v1/catalog/templates', { params }))
    : reply(client.GET('/api/v1/catalog/templates', { params }));
};

/** Shows a template: what it runs, and the variables that a deployment can set. */
export const show: Action = async ([slug = ''], options) => {
  const { service, client } = await eitherOf(options);
  const params = { path: { slug } };
  const template =
    service === 'fleet'
      ? await reply(client.GET('/api/v1/catalog/templates/{slug}', { params }))
      : await reply(client.GET('/api/v1/catalog/templates/{slug}', { params }));
  await print(template, {
    format: options.output,
    as: () => ({
      slug: template.slug,
      name: template.name,
      description: template.description,
      image: template.image_tag === '' ? template.image_name : `${template.image_name}:${template.image_tag}`,
      cpu: template.cpu_request,
      memory: template.memory_request,
      gpus: template.gpu_count,
      networks: template.required_network_types.join(','),
      ports: template.ports.map(({ containerPort }) => containerPort).join(','),
      ...Object.fromEntries(
        template.env_schema.map(({ name, required, default_value, description }) => [
          `$${name}`,
          `${required ? 'required' : `default ${JSON.stringify(default_value ?? '')}`}  ${description}`,
        ]),
      ),
    }),
  });
  return undefined;
};
