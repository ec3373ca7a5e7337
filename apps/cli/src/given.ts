type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The members of an object that are not undefined. */
export const given = <T extends object>(members: T): Given<T> =>
  // Object.fromEntries loses the names and types of the members.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;
