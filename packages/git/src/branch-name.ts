/** A file system stores a name of this length as one folder or file. */
const MAX_BYTES = 255;

/** Control characters, space, and those with a meaning in revisions, refspecs and patterns. */
const FORBIDDEN = /[\p{Cc} ~^:?*[\\]/u;

/**
 * Whether a text is a valid name of a branch according to `git check-ref-format --branch`, of at most 255 bytes. Expressions
 * for other branches, such as `@{-1}`, are not.
 */
export function isBranchName(text: string): boolean {
  if (!text.isWellFormed() || Buffer.byteLength(text) > MAX_BYTES) return false;
  if (text === 'HEAD' || text.startsWith('-') || text.endsWith('.')) return false;
  if (text.includes('..') || text.includes('@{') || FORBIDDEN.test(text)) return false;
  return text.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
