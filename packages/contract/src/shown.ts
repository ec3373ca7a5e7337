import type { ZodOpenApiMetadata } from 'zod-openapi';

type Schema = Readonly<Record<string, unknown>>;

/** Metadata that shows a schema as `schema` in OpenAPI, whatever its own checks would derive to; its description stays. */
export const shownAs = (schema: Schema): Pick<ZodOpenApiMetadata, 'override'> => ({
  override: ({ jsonSchema }) => {
    for (const member of Object.keys(jsonSchema)) {
      if (member !== 'description' && member !== 'default') delete (jsonSchema as Record<string, unknown>)[member];
    }
    Object.assign(jsonSchema, schema);
  },
});
