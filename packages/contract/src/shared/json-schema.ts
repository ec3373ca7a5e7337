import { z } from 'zod';
import { documentInput, openOutput, type Schema, type SchemaOverride } from './openapi-schema.ts';

/** Whether a schema describes what a caller sends or what it receives. */
type Side = 'input' | 'output';

/**
 * A schema of the contract as JSON Schema 2020-12 without references, because some clients of the
 * Model Context Protocol do not follow them. With `bounded`, only these members of the object state
 * the bounds of numbers: an endpoint checks its own, and states them in its errors.
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  io: Side,
  { bounded }: { readonly bounded?: readonly string[] } = {},
): Schema {
  const {
    $schema: _,
    $defs = {},
    ...derived
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: (context) => {
      // Zod-openapi passes the same members.
      const overriding = { ...context, io } as Parameters<SchemaOverride>[0];
      const own: unknown = z.globalRegistry.get(context.zodSchema)?.override;
      if (typeof own === 'function') own(overriding);
      else Object.assign(context.jsonSchema, own);
      documentInput(overriding);
      openOutput(overriding);
    },
  });
  const copied = withoutReferences(derived, $defs) as Schema; // the copy of an object is an object
  return bounded ? withBoundsOf(copied, bounded) : copied;
}

const withBoundsOf = ({ properties, ...others }: Schema, names: readonly string[]): Schema => ({
  ...others,
  properties: Object.fromEntries(
    // By the definition of properties.
    Object.entries(properties as Schema).map(([name, member]) => [
      name,
      names.includes(name) ? member : withoutBounds(member),
    ]),
  ),
});

/** A member that has the name of a keyword is a schema, and not a number. */
function withoutBounds(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutBounds);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) =>
      /^(?:minimum|maximum)$/.test(key) && typeof value === 'number' ? [] : [[key, withoutBounds(value)]],
    ),
  );
}

/**
 * Metadata of zod-openapi, and what only the service needs: it checks these rules, and states them
 * in its errors.
 */
const OMITTED: readonly string[] = [
  'id',
  'override',
  'examples',
  'pattern',
  'format',
  'not',
  'allOf',
  'propertyNames',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];

/** The bounds that zod states for every integer. */
const NO_BOUNDS: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

type Definitions = Readonly<Record<string, unknown>>;

function withoutReferences(node: unknown, definitions: Definitions): unknown {
  if (Array.isArray(node)) return node.map((member) => withoutReferences(member, definitions));
  if (typeof node !== 'object' || node === null) return node;
  // Every object in a JSON Schema is a schema or a table of schemas.
  const { $ref, ...own } = node as Schema;
  const referred = typeof $ref === 'string' ? definitions[$ref.replace('#/$defs/', '')] : undefined;
  const definition = referred as Schema | undefined; // the definitions are schemas
  const kept = Object.entries({ ...definition, ...own }).filter(
    ([key, value]) => !OMITTED.includes(key) && !NO_BOUNDS.includes(value) && !isEmptyDefault(key, value),
  );
  return withShortNull(
    Object.fromEntries(
      kept.map(([key, value]) => [
        key,
        key === 'properties' ? members(value, definitions) : withoutReferences(value, definitions),
      ]),
    ),
  );
}

/** A default that says no more than that the member is optional. */
const isEmptyDefault = (key: string, value: unknown) =>
  key === 'default' && (value === null || (typeof value === 'object' && Object.keys(value).length === 0));

/** Writes a schema that also admits null as a list of types. */
function withShortNull({ anyOf, ...others }: Schema): Schema {
  if (!Array.isArray(anyOf)) return others;
  const [first, second, ...more] = anyOf as Schema[]; // by the definition of anyOf
  if (more.length > 0 || second?.type !== 'null' || typeof first?.type !== 'string') return { ...others, anyOf };
  const { type, ...rest } = first;
  return {
    ...rest,
    ...others,
    type: [type, 'null'],
    ...(Array.isArray(rest.enum) ? { enum: [...rest.enum, null] } : {}),
  };
}

/** The members of an object, which can have the names of keywords. */
const members = (properties: unknown, definitions: Definitions) =>
  Object.fromEntries(
    // By the definition of properties.
    Object.entries(properties as Schema).map(([name, member]) => [name, withoutReferences(member, definitions)]),
  );
