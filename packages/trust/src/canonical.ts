import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** The form of RFC 8785 of a value; undefined if it has none, such as text with half of a surrogate pair. */
export function canonicalForm(value: unknown): string | undefined {
  try {
    return canonicalize(value);
  } catch {
    return undefined;
  }
}

/** SHA-256 of the canonical form of a value, in base64url: 43 characters. Undefined if the value has no canonical form. */
export function digestOf(value: unknown): string | undefined {
  const form = canonicalForm(value);
  return form === undefined ? undefined : hash('sha256', form, 'base64url');
}

/** Members of a template as they were received: values of any form. */
export type Members = Readonly<Record<string, unknown>>;

/** The digest of each listed member. A member that is absent, or whose value has no canonical form, has none. */
export const digestsOf = (members: Members, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const digest = Object.hasOwn(members, name) ? digestOf(members[name]) : undefined;
      return digest === undefined ? [] : [[name, digest]];
    }),
  );
