import type { ZodOpenApiMetadata, ZodOpenApiOverride } from 'zod-openapi';

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

/** Changes a derived OpenAPI schema. */
export type SchemaOverride = Extract<ZodOpenApiOverride, (...given: never[]) => void>;

/** Adds the default of a member that is transformed or counted before it is validated, which zod omits. */
export const describeInput: SchemaOverride = ({ zodSchema, jsonSchema, io }) => {
  const { def } = zodSchema._zod;
  if (io === 'input' && def.type === 'default') jsonSchema.default ??= def.defaultValue;
};

/** Allows other members in objects of responses, because a later version can add members. */
export const openOutput: SchemaOverride = ({ jsonSchema, io }) => {
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

/** As `openOutput`, for a reference to an object. zod repeats the restriction beside the reference. */
export function openReferences(document: object): void {
  for (const schema of objectsIn(document)) {
    if ('$ref' in schema) delete schema.additionalProperties;
  }
}

/** All objects in a value, at any depth. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>; // not null and not an array
  for (const member of Object.values(value)) yield* objectsIn(member);
}
