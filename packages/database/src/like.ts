import { foldSearch } from '@svc/contract';

/** Escapes the wildcards of LIKE in a text. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/**
 * A LIKE pattern that matches columns `search_text` that contain `text`. Wildcards in `text` are
 * escaped.
 */
export const containing = (text: string): string => `%${escapeLike(foldSearch(text))}%`;
