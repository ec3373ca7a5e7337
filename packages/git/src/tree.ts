import { isUtf8 } from 'node:buffer';
import type { Work } from './bounds.ts';
import { GitBoundError, GitError, shownPath } from './errors.ts';
import { dataOf, type Objects } from './pack.ts';

interface TreeEntry {
  readonly mode: number;
  readonly name: Buffer;
  readonly id: string;
}

/** The kinds of entries in a mode, whose other bits are permissions. Links and submodules have others. */
const KIND = 0o170000;
const FOLDER = 0o040000;
const FILE = 0o100000;

const [ZERO, SPACE, SLASH] = [0x00, 0x20, 0x2f];
const ID_BYTES = 20;

/** The entries of the object of a folder: `mode name\0id` each. @throws GitError if it is malformed */
function* entriesIn(tree: Buffer): Generator<TreeEntry, void, void> {
  for (let at = 0; at < tree.length; ) {
    const nameEnd = tree.indexOf(ZERO, at);
    const end = nameEnd + 1 + ID_BYTES;
    const modeEnd = tree.subarray(at, Math.max(nameEnd, at)).indexOf(SPACE);
    const mode = /^[0-7]{5,6}$/.exec(tree.toString('latin1', at, at + Math.max(modeEnd, 0)));
    const name = tree.subarray(at + modeEnd + 1, Math.max(nameEnd, at));
    if (nameEnd < 0 || end > tree.length || !mode || !isName(name)) throw new GitError('A folder is malformed.');
    yield { mode: Number.parseInt(mode[0], 8), name, id: tree.toString('hex', nameEnd + 1, end) };
    at = end;
  }
}

/** Git accepts no other names, so that a path cannot lead to another folder. */
const isName = (name: Buffer) =>
  name.length > 0 && !name.includes(SLASH) && name.toString('latin1') !== '.' && name.toString('latin1') !== '..';

/** A file of a commit. */
export interface FoundFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly id: string;
}

interface Search {
  /** The id of the root. */
  readonly tree: string;
  /** A path without a slash at its ends. The root is ''. */
  readonly folder: string;
  readonly isWanted: (path: string) => boolean;
}

/** A folder that is not visited yet. */
interface Pending {
  readonly id: string;
  /** Its path with a slash at the end, or ''. */
  readonly prefix: string;
  /** The bytes of the prefix. Paths that are not UTF-8 are longer or shorter as texts. */
  readonly bytes: number;
  readonly isUtf8: boolean;
}

/**
 * The wanted files of a folder and the folders below it, sorted by path. Undefined if the folder does not exist, or is a file, a
 * link or a submodule.
 * @throws GitError if the path of a wanted file is not UTF-8, or a bound is exceeded
 */
export async function findFiles(
  objects: Objects,
  { tree, folder, isWanted }: Search,
  { budget, portions }: Work,
): Promise<readonly FoundFile[] | undefined> {
  const start = idOfFolder(objects, tree, folder);
  if (start === undefined) return undefined;
  const prefix = folder === '' ? '' : `${folder}/`;
  const files: FoundFile[] = [];
  const pending: Pending[] = [{ id: start, prefix, bytes: Buffer.byteLength(prefix), isUtf8: true }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const { mode, name, id } of entriesIn(dataOf(objects, next.id, 'tree'))) {
      if (portions.isOver()) await portions.next();
      budget.addEntry();
      const kind = mode & KIND;
      if (kind !== FOLDER && kind !== FILE) continue;
      const path = `${next.prefix}${name.toString('utf8')}`;
      const bytes = next.bytes + name.length;
      if (bytes > budget.limits.pathBytes)
        throw new GitBoundError(`The path ${shownPath(path)} has more than ${budget.limits.pathBytes} bytes.`);
      const isText = next.isUtf8 && isUtf8(name);
      if (kind === FOLDER) pending.push({ id, prefix: `${path}/`, bytes: bytes + 1, isUtf8: isText });
      else if (isWanted(path)) {
        if (!isText) throw new GitError(`The path ${shownPath(path)} is not UTF-8. Rename the file or its folder.`);
        budget.addFile();
        files.push({ path, id });
      }
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const twice = files.find(({ path }, index) => files[index + 1]?.path === path);
  if (twice) throw new GitError(`The path ${shownPath(twice.path)} exists twice in the commit.`);
  return files;
}

/** The id of a folder, or undefined if there is none with this path. */
function idOfFolder(objects: Objects, root: string, folder: string): string | undefined {
  let id = root;
  for (const part of folder === '' ? [] : folder.split('/')) {
    const name = Buffer.from(part);
    const found = entryWith(dataOf(objects, id, 'tree'), (entry) => entry.name.equals(name));
    if (!found || (found.mode & KIND) !== FOLDER) return undefined;
    id = found.id;
  }
  return id;
}

function entryWith(tree: Buffer, isSearched: (entry: TreeEntry) => boolean): TreeEntry | undefined {
  for (const entry of entriesIn(tree)) if (isSearched(entry)) return entry;
  return undefined;
}
