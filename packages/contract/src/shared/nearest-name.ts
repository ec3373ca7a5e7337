import { z } from 'zod';

/** Longer names have no suggestion, which bounds the cost of a search. */
const MAX_LENGTH = 64;

/**
 * The known name that a caller probably meant, or undefined. Case, `_` and `-` do not count as
 * differences.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const given = normalize(name);
  const limit = Math.min(2, Math.floor(given.length / 2));
  const near = known
    .map((candidate) => ({ candidate, distance: distanceOf(given, normalize(candidate), limit) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((one, other) => one.distance - other.distance);
  return near[0]?.candidate;
}

const normalize = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/**
 * The edit distance (Levenshtein) of two texts; more than `limit` if their lengths alone differ by
 * more than that.
 */
function distanceOf(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? limit + 1;
}

/**
 * The names of the members that an object at a path of a schema can have; none if it is not an
 * object with fixed members.
 */
export function memberNamesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const found = path.reduce<z.core.$ZodType | undefined>((at, key) => at && childOf(unwrap(at), key), schema);
  const object = found && unwrap(found);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

function childOf(schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key)) return schema.shape[String(key)];
  return undefined;
}

/** The schema that validates the members of a value. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  return schema;
}
