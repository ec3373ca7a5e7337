/**
 * Normalizes text for comparison and search: NFKC and lower case. The result does not depend on the locale of the
 * database.
 */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Separates the folded texts of one row. Input cannot contain it, so a search term never matches across two texts. */
const SEPARATOR = '\u001f';

/** The text in which a folded search term is looked up. */
export const searchText = (...texts: readonly string[]): string => texts.map(fold).join(SEPARATOR);

const SLUG_LENGTH = 64;

/** Derives a slug from a name. Returns '' if the name has no letter or digit that a slug can contain. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
