/** Text as it is compared and searched: NFKC and lower case, so that every database and every way of answering agree. */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Stands between the folded texts of one row: no text on the wire holds it, so no search matches across it. */
const SEPARATOR = '\u001f';

/** The text in which a search looks for its folded term. */
export const searchText = (...texts: readonly string[]): string => texts.map(fold).join(SEPARATOR);

const SLUG_LENGTH = 64;

/** A slug made from a name, or '' when the name has no letter or digit to make one from. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
