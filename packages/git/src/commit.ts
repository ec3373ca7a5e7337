import { GitError, shownText } from './errors.ts';
import { isId } from './protocol.ts';

/** What a commit states about itself. */
export interface CommitFacts {
  readonly tree: string;
  readonly parents: readonly string[];
  /** The name of the author, in one line of at most 100 characters. */
  readonly author: string;
  /** The first line of the message, of at most 200 characters. */
  readonly title: string;
  readonly committedAt: Date;
}

const MAX_AUTHOR = 100;
const MAX_TITLE = 200;

/** Reads the object of a commit (`git cat-file commit`). @throws GitError if it is malformed */
export function readCommit(data: Buffer): CommitFacts {
  const blank = data.indexOf('\n\n');
  const head = data.toString('utf8', 0, blank < 0 ? data.length : blank);
  const message = blank < 0 ? '' : data.toString('utf8', blank + 2).trimStart();
  const [tree, ...lines] = head.split('\n');
  // Lines that continue a value, such as that of a signature, begin with a space.
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const treeId = tree?.startsWith('tree ') ? tree.slice('tree '.length) : '';
  const parents = valuesOf('parent');
  const committedAt = timeIn(valuesOf('committer')[0] ?? '');
  if (![treeId, ...parents].every(isId) || !committedAt) throw new GitError('The commit is malformed.');
  const [author = ''] = (valuesOf('author')[0] ?? '').split(' <', 1);
  const end = message.indexOf('\n');
  return {
    tree: treeId,
    parents,
    author: shownText(author, MAX_AUTHOR),
    title: shownText(end < 0 ? message : message.slice(0, end), MAX_TITLE),
    committedAt,
  };
}

/** The time in `name <address> seconds zone`; undefined if there is none. */
function timeIn(committer: string): Date | undefined {
  const [, seconds] = /> (\d{1,12}) [-+]\d{4}$/.exec(committer) ?? [];
  return seconds === undefined ? undefined : new Date(1000 * Number(seconds));
}
