import { fold } from '@svc/contract';

/** A LIKE pattern that finds a text literally, in any case, in a column that holds folded text. */
export const containing = (text: string): string => `%${fold(text).replace(/[\\%_]/g, '\\$&')}%`;
