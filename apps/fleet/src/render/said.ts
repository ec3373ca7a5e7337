/** Of some members those that say something: not what is undefined, and no empty text, list or map. */
export const said = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !saysNothing(value))) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

const saysNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
