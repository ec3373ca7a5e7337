import { DIRECTIONS } from '../../texts/texts.ts';

/**
 * An object as indented text with sorted members, so that equal objects have equal texts.
 * Characters that change the order of others are escaped.
 */
export const textOf = (value: unknown): string =>
  JSON.stringify(sorted(value), null, 2).replace(
    DIRECTIONS,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
