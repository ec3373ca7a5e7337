import { withoutInvisible } from '@svc/contract';

/** What a server sends is not what the protocol requires, or exceeds a bound. `message` is for operators. */
export class GitError extends Error {
  override name = 'GitError';
}

/** A bound is exceeded. The message states it. */
export class GitBoundError extends GitError {}

/** What to do if a server cannot be read. */
export const RUN_IN_CI = 'Run `svc apply` in the CI of the repository instead.';

/** A text of a repository or a server in one line, without control and invisible characters, of at most `max` characters. */
export function shownText(text: string, max: number): string {
  // The bound applies before the replacement as well, because a text can have megabytes.
  const line = withoutInvisible(text.slice(0, 4 * max))
    .replace(/\p{Cc}/gu, ' ')
    .trim();
  const characters = Array.from(line.toWellFormed());
  return characters.length <= max ? line.toWellFormed() : `${characters.slice(0, max - 1).join('')}…`;
}

const MAX_SHOWN_PATH = 200;

/** A path for a message. */
export const shownPath = (path: string): string => `"${shownText(path, MAX_SHOWN_PATH)}"`;
