import { type Converted, convertCompose, MAX_FILE } from '@svc/convert';

/** Why a pasted text is not read. */
export type PasteError = 'empty' | 'large';

/** The maximum number of bytes of a character in UTF-8. */
const MAX_BYTES = 4;

/** Whether a chosen file can have more characters than a file that is converted. */
export const isTooLarge = ({ size }: Pick<File, 'size'>): boolean => size > MAX_FILE * MAX_BYTES;

/** Converts a pasted Compose file. The bound is checked first. `name` is that of the application, if the file has none. */
export function convertPasted(text: string, name: string): Converted | PasteError {
  if (text.length > MAX_FILE) return 'large';
  if (text.trim() === '') return 'empty';
  return convertCompose({ file: 'compose.yaml', text, name: name.trim() || 'application' });
}
