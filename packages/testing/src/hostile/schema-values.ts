import fc from 'fast-check';
import { z } from 'zod';
import { byDepth } from '../run/depth.ts';
import { hostileText, hostileValue, plainTexts } from './values.ts';

/** The part of JSON Schema that zod generates. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** Number of generated values per member. */
const SAMPLES = byDepth({ short: 15, full: 60, long: 60 });

/** Identifiers of existing rows, by member or parameter. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

/**
 * Values that a schema accepts: known ones, and ones that are generated from its JSON Schema and
 * validated with the schema.
 */
export function validValues(schema: z.ZodType, known: readonly unknown[], seed: number): unknown[] {
  const isValid = (value: unknown) => value !== undefined && schema.safeParse(value).success;
  const existing = known.filter(isValid);
  // The members of a JSON Schema that this module reads.
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  const candidates = fromSchema(json, json.$defs ?? {});
  const generated = fc.sample(candidates, { seed, numRuns: SAMPLES }).filter(isValid);
  if (existing.length === 0) return generated;
  // Two thirds of the values identify existing rows.
  const weight = Math.ceil((2 * generated.length) / existing.length) || 1;
  return [...generated, ...Array.from({ length: weight }, () => existing).flat()];
}

/** Valid input of an object schema, member by member, or of another schema as a whole. */
export function validInput(schema: z.ZodType, known: Known, seed: number): fc.Arbitrary<unknown> {
  if (!(schema instanceof z.ZodObject)) return fc.constantFrom(...validValues(schema, [], seed), {});
  const members: Record<string, fc.Arbitrary<unknown>> = {};
  const requiredKeys: string[] = [];
  for (const [name, member] of Object.entries<z.ZodType>(schema.shape)) {
    const values = validValues(member, known[name] ?? [], seed);
    members[name] = values.length > 0 ? fc.constantFrom(...values) : hostileValue;
    if (!member.safeParse(undefined).success) requiredKeys.push(name);
  }
  return fc.record(members, { requiredKeys });
}

type Defs = Readonly<Record<string, Schema>>;

/**
 * Values for a JSON Schema, most of which it accepts. `defs` are the schemas to which its
 * references point, by name.
 */
export function fromSchema(schema: Schema, defs: Defs): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fromSchema(defs[schema.$ref.replace(/^.*\//, '')] ?? {}, defs);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fromSchema(choice, defs)));
  if (schema.allOf) {
    const merged: Schema = Object.assign({}, schema, { allOf: undefined }, ...schema.allOf);
    const patterns = [schema, ...schema.allOf].flatMap(({ pattern = [] }) => pattern);
    if (patterns.length <= 1) return fromSchema(merged, defs);
    return fc.oneof(...patterns.map((pattern) => fromSchema({ ...merged, pattern }, defs)));
  }
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}, defs), { maxLength: 4 });
    case 'object':
      return objectOf(schema, defs);
    default:
      return hostileValue;
  }
}

function textOf({ pattern, maxLength }: Schema): fc.Arbitrary<string> {
  const limits = maxLength === undefined ? [] : ['a', '😀'].map((unit) => unit.repeat(maxLength / unit.length));
  const free = fc.oneof(fc.constantFrom(...plainTexts, ...limits), hostileText);
  return pattern === undefined || LOOKAROUND.test(pattern) ? free : fc.oneof(matching(pattern), free);
}

/** What fast-check cannot generate strings for. */
const LOOKAROUND = /\(\?<?[=!]/;

const matchingArbitraries = new Map<string, fc.Arbitrary<string>>();

/**
 * Strings that match a pattern. The arbitrary of each pattern is cached, because creating it is
 * slow.
 */
function matching(pattern: string): fc.Arbitrary<string> {
  const arbitrary = matchingArbitraries.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  matchingArbitraries.set(pattern, arbitrary);
  return arbitrary;
}

function numberOf({ minimum, maximum }: Schema): fc.Arbitrary<number> {
  const min = Math.max(minimum ?? 0, Number.MIN_SAFE_INTEGER);
  const max = Math.min(maximum ?? 1000, Number.MAX_SAFE_INTEGER);
  return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
}

function objectOf({ properties, required = [], propertyNames, additionalProperties }: Schema, defs: Defs) {
  if (properties) {
    const members = Object.entries(properties).map(([name, member]) => [name, fromSchema(member, defs)]);
    // Object.fromEntries of entries that are typed as arrays has values of any type.
    return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
      requiredKeys: [...required],
    });
  }
  const value = typeof additionalProperties === 'object' ? fromSchema(additionalProperties, defs) : hostileValue;
  return fc.dictionary(textOf(propertyNames ?? {}), value, { maxKeys: 4 });
}
