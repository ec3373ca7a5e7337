import { z } from 'zod';
import { documentInput, openOutput, type Schema, type SchemaOverride } from './openapi-schema.ts';

/** Whether a schema describes what a caller sends or what it receives. */
type Side = 'input' | 'output';

/**
 * A schema of the contract as JSON Schema 2020-12 without references, because some clients of the
 * Model Context Protocol do not follow them. With `bounded`, only these members of the object state
 * the bounds of numbers: an endpoint checks its own, and states them in its errors. Descriptions that
 * `describedBy` has are left out, and the members of objects that it has, too.
 */
export function jsonSchemaOf(
  schema: z.ZodType,
  io: Side,
  { bounded, describedBy }: { readonly bounded?: readonly string[]; readonly describedBy?: Schema | undefined } = {},
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
  // The copy of an object is an object.
  const copied = { ...(withoutReferences(derived, $defs) as Schema), ...whole(derived) };
  const small = bounded ? withBoundsOf(copied, bounded) : copied;
  return describedBy ? withoutDescribed(small, describedBy) : small;
}

/** Some clients demand that the arguments of a tool are a closed object. */
const whole = ({ additionalProperties }: Schema): Schema =>
  additionalProperties === false ? { additionalProperties } : {};

function withoutDescribed(schema: Schema, describedBy: Schema): Schema {
  const descriptions = descriptionsIn(describedBy);
  const isDescribed = (key: string, value: unknown) =>
    key === 'description' && typeof value === 'string' && descriptions.has(value);
  // The copy of an object is an object, and its properties are schemas by their name.
  const { properties, ...others } = without(schema, isDescribed) as { readonly properties: Record<string, Schema> };
  const known = describedBy.properties as Readonly<Record<string, Schema>>; // as above
  return {
    ...others,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [
        name,
        known[name] && formOf(known[name]) === formOf(member) ? withoutMembers(member) : member,
      ]),
    ),
  };
}

const formOf = (schema: Schema): string =>
  JSON.stringify(without(schema, (key) => key === 'description' || key === 'default'));

const withoutMembers = ({ properties: _, required: __, additionalProperties: ___, ...member }: Schema): Schema =>
  member;

/** All descriptions in a schema. */
function descriptionsIn(node: unknown): Set<string> {
  if (typeof node !== 'object' || node === null) return new Set();
  return new Set(
    Object.entries(node).flatMap(([key, value]) =>
      key === 'description' && typeof value === 'string' ? [value] : [...descriptionsIn(value)],
    ),
  );
}

const withBoundsOf = ({ properties, ...others }: Schema, names: readonly string[]): Schema => ({
  ...others,
  properties: Object.fromEntries(
    // By the definition of properties.
    Object.entries(properties as Schema).map(([name, member]) => [
      name,
      names.includes(name) ? member : without(member, isBound),
    ]),
  ),
});

/** A member that has the name of a keyword is a schema, and not a number. */
const isBound = (key: string, value: unknown) => /^(?:minimum|maximum)$/.test(key) && typeof value === 'number';

/** A copy without these keywords, at any depth. */
function without(node: unknown, leavesOut: (key: string, value: unknown) => boolean): unknown {
  if (Array.isArray(node)) return node.map((each) => without(each, leavesOut));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) => (leavesOut(key, value) ? [] : [[key, without(value, leavesOut)]])),
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
    ([key, value]) => !OMITTED.includes(key) && !NO_BOUNDS.includes(value) && !isImplied(key, value),
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

/**
 * A default that says no more than that the member is optional, and that an object has no other
 * members, which the service checks.
 */
const isImplied = (key: string, value: unknown) =>
  key === 'default'
    ? !value || (typeof value === 'object' && Object.keys(value).length === 0)
    : key === 'additionalProperties' && value === false;

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
