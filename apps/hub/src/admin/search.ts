import { fold } from '@svc/contract';

/** Prisma adds the wildcards around the text, and does not escape wildcards in it. */
const escaped = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** A Prisma filter of columns that contain the text, case-insensitive. */
export const containsText = (text: string) => ({ contains: escaped(text), mode: 'insensitive' }) as const;

/** A Prisma filter of columns of folded text that contain the text. */
export const containsFolded = (text: string) => ({ contains: escaped(fold(text)) });
