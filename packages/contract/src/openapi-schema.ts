import type { ZodOpenApiMetadata } from 'zod-openapi';

type Schema = Readonly<Record<string, unknown>>;

/** Metadata that replaces the derived OpenAPI schema with `schema`. Description and default remain. */
export const documentedAs = (schema: Schema): Pick<ZodOpenApiMetadata, 'override'> => ({
  override: ({ jsonSchema }) => {
    for (const member of Object.keys(jsonSchema)) {
      if (member !== 'description' && member !== 'default') delete (jsonSchema as Record<string, unknown>)[member]; // a name of its own keys
    }
    Object.assign(jsonSchema, schema);
  },
});
