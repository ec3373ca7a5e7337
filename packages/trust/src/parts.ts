import type { Members } from './canonical.ts';

const PREFIX = 'part_';

/** The name of the digest of a part. Names of parts have no underscores, so that each has another one. */
export const digestNameOf = (part: string): string => `${PREFIX}${part.replaceAll('-', '_')}`;

/** The name of the part to which a digest belongs; undefined for the digest of another member. */
export const partOfDigest = (name: string): string | undefined =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length).replaceAll('_', '-') : undefined;

/** The name of a digest, for people. */
export function shownDigest(name: string): string {
  const part = partOfDigest(name);
  return part === undefined ? name : `part ${part}`;
}

/** The parts of content as it was received, by their names, in their order; undefined if they do not have the form of parts. */
export function partsIn({ parts }: Members): readonly (readonly [name: string, part: Members])[] | undefined {
  if (!Array.isArray(parts)) return undefined;
  const named = parts.map((part: unknown): [unknown, Members] => {
    const members: Members = { ...Object(part) };
    return [members.name, members];
  });
  return named.every((each): each is [string, Members] => typeof each[0] === 'string') ? named : undefined;
}

/**
 * Content in which each part is a member of its own with the covered members of the part, and `parts` is the list of their names. So a
 * repeated name and another order are other content. Without parts of their form, `parts` is absent.
 */
export function withDigestedParts(content: Members, covered: readonly string[]): Members {
  const { parts: _, ...others } = content;
  const parts = partsIn(content);
  if (!parts) return others;
  return {
    ...others,
    parts: parts.map(([name]) => name),
    ...Object.fromEntries(parts.map(([name, part]) => [digestNameOf(name), only(part, covered)])),
  };
}

const only = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]]] : [])));
