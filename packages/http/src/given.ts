type Defined<T, K extends keyof T> = { readonly [M in K]?: Exclude<T[M], undefined> };

/** The named members of a body that were given: what is read-only or left out stays behind. */
export function given<T extends object, K extends keyof T>(body: T, members: readonly K[]): Defined<T, K> {
  const entries = members.filter((member) => body[member] !== undefined).map((member) => [member, body[member]]);
  return Object.fromEntries(entries) as Defined<T, K>; // only defined members were kept
}
