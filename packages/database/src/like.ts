import { fold } from '@svc/contract';

/** A LIKE pattern that matches columns of folded text that contain `text`. Wildcards in `text` are escaped. */
export const containing = (text: string): string => `%${fold(text).replace(/[\\%_]/g, '\\$&')}%`;
