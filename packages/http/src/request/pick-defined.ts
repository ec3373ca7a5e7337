type Defined<T, K extends keyof T> = { readonly [M in K]?: Exclude<T[M], undefined> };

/**
 * Picks the named members of a body that are not undefined. Read-only members are thereby removed.
 */
export function pickDefined<T extends object, K extends keyof T>(body: T, members: readonly K[]): Defined<T, K> {
  const entries = members.filter((member) => body[member] !== undefined).map((member) => [member, body[member]]);
  return Object.fromEntries(entries) as Defined<T, K>; // undefined members were filtered out
}
