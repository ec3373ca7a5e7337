import { z } from 'zod';
import type { ZodOpenApiMetadata, ZodOpenApiOverride } from 'zod-openapi';

export type Schema = Readonly<Record<string, unknown>>;

/**
 * Metadata that replaces the derived OpenAPI schema with `schema`. Description and default remain.
 */
export const documentedAs = (schema: Schema): Pick<ZodOpenApiMetadata, 'override'> => ({
  override: ({ jsonSchema }) => {
    for (const member of Object.keys(jsonSchema)) {
      // A name of its own keys.
      if (member !== 'description' && member !== 'default') delete (jsonSchema as Record<string, unknown>)[member];
    }
    Object.assign(jsonSchema, schema);
  },
});

/** Changes a derived OpenAPI schema. */
export type SchemaOverride = Extract<ZodOpenApiOverride, (...given: never[]) => void>;

/** A member of a body that is ignored. */
export const ignoredMember = z.unknown().optional();

/**
 * Adds the default and the examples of a value that is transformed or counted before it is
 * validated, which zod omits. Removes ignored members, and allows other members instead.
 */
export const documentInput: SchemaOverride = ({ zodSchema, jsonSchema, io }) => {
  const { def } = zodSchema._zod;
  if (io === 'output') return;
  if (def.type === 'default') jsonSchema.default ??= def.defaultValue;
  const examples = z.globalRegistry.get(zodSchema)?.examples;
  if (Array.isArray(examples)) jsonSchema.examples ??= examples;
  if (def.type !== 'object') return;
  for (const [name, member] of Object.entries(def.shape)) {
    if (member !== ignoredMember) continue;
    delete jsonSchema.properties?.[name];
    delete jsonSchema.additionalProperties;
  }
};

/** Allows other members in objects of responses, because a later version can add members. */
export const openOutput: SchemaOverride = ({ jsonSchema, io }) => {
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

/**
 * As `openOutput`, for a reference to an object. zod repeats the restriction beside the reference.
 */
export function openReferences(document: object): void {
  for (const schema of objectsIn(document)) {
    if ('$ref' in schema) delete schema.additionalProperties;
  }
}

/** The schema to which a reference in a document points. */
export const schemaAt = (document: object, reference: string): Schema =>
  // The generator creates only references to components that exist.
  (document as { components: { schemas: Record<string, Schema> } }).components.schemas[
    reference.replace(/^.*\//, '')
  ] as Schema;

/**
 * Replaces references in request bodies to schemas with defaults by copies. `openapi-typescript`
 * treats a member with a default as optional only within a request body.
 */
export function inlineDefaults<T>(value: T, document: object): T {
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value && typeof value.$ref === 'string') {
    const { $ref, ...others } = value;
    const copy = inlineDefaults(schemaAt(document, $ref), document);
    const hasDefault = [...objectsIn(copy)].some((schema) => 'default' in schema);
    return hasDefault ? ({ ...copy, ...others } as T) : value; // both are schemas
  }
  const members = Object.entries(value).map(([name, member]) => [name, inlineDefaults(member, document)]);
  // The copy has the same members, and is an array if the value is.
  return (Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)) as T;
}

/** Removes the schemas and headers of components to which nothing refers. */
export function removeUnused(document: { components?: { schemas?: object; headers?: object } }): void {
  const used = new Set([...objectsIn(document)].map(({ $ref }) => $ref));
  let removed = 0;
  for (const [kind, components] of Object.entries({ ...document.components })) {
    if (kind !== 'schemas' && kind !== 'headers') continue;
    for (const name of Object.keys(components)) {
      if (used.has(`#/components/${kind}/${name}`)) continue;
      Reflect.deleteProperty(components, name);
      removed += 1;
    }
  }
  // An unused schema can be the only one that refers to another.
  if (removed > 0) removeUnused(document);
}

/** All objects in a value, at any depth. */
export function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>; // not null and not an array
  for (const member of Object.values(value)) yield* objectsIn(member);
}
