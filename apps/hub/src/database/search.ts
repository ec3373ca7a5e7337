import { fold, foldSearch } from '@svc/contract';
import { escapeLike } from '@svc/database';

// Prisma adds the wildcards around the text, and does not escape wildcards in it.

/** A Prisma filter of columns that contain the text, case-insensitive. */
export const containsText = (text: string) => ({ contains: escapeLike(text), mode: 'insensitive' }) as const;

/** A Prisma filter of columns of folded text that contain the text. */
export const containsFolded = (text: string) => ({ contains: escapeLike(fold(text)) });

/** A Prisma filter of columns `search_text` that contain the text. */
export const containsSearched = (text: string) => ({ contains: escapeLike(foldSearch(text)) });
