/** The number of names that are looked up, which is the maximum of a filter. */
export const MAX_TRIED = 20;
const MAX_LENGTH = 63;

/** The names that are proposed for `base`, in this order: `web`, `web-2`, `web-3`. */
export function proposedNames(base: string): readonly string[] {
  return Array.from({ length: MAX_TRIED }, (_, index) => {
    const suffix = index === 0 ? '' : `-${index + 1}`;
    return `${base.slice(0, MAX_LENGTH - suffix.length).replace(/-$/, '')}${suffix}`;
  });
}
