import { isUtf8 } from 'node:buffer';
import { GIT_LIMITS, type GitLimits, startWork, type Work } from './bounds.ts';
import { isBranchName } from './branch-name.ts';
import { readCommit } from './commit.ts';
import { GitBoundError, GitError, RUN_IN_CI, shownPath } from './errors.ts';
import { dataOf, type Objects, readPack } from './pack.ts';
import { type Features, featuresOf, fetchPack, type GitSend, idOfReference, isId } from './protocol.ts';
import { findFiles } from './tree.ts';

/** The files of a folder at a commit, and what the commit states about itself. */
export interface GitFolder {
  readonly commit: string;
  /** The name of the author, in one line of at most 100 characters, without control and invisible characters. */
  readonly author: string;
  /** The first line of the message, of at most 200 characters, without control and invisible characters. */
  readonly title: string;
  readonly committedAt: Date;
  /** The path is from the root of the repository. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/**
 * The commit of a branch (40 hexadecimal digits), or undefined if the branch does not exist. Sends two small requests.
 * @throws GitError if the server does not support what is required, or its response is malformed
 * @throws RangeError if the name of the branch is not valid (`isBranchName`)
 */
export async function commitOf(send: GitSend, branch: string): Promise<string | undefined> {
  if (!isBranchName(branch)) throw new RangeError('The name of the branch is not valid.');
  const work = startWork(GIT_LIMITS);
  const features = await featuresOf(send, work);
  return idOfReference(send, { features, name: `refs/heads/${branch}` }, work);
}

/**
 * The files below `folder` ('' is the root) at a commit whose paths `isWanted` accepts, sorted by path. Links and submodules are
 * ignored. Undefined if the folder does not exist.
 *
 * This reader speaks version 2 of the protocol itself (gitprotocol-v2, gitprotocol-http), because the images of the services
 * have no git program and the services write no files. isomorphic-git, which needs no program, is not used: it has no filters,
 * so that it receives all files of the commit, and its memory cannot be bounded. A file of 300 MiB that compresses to 0.3 MiB
 * needed 270 MiB. It is the oracle of the tests.
 *
 * If the server supports filters, only the folders of the commit and then the wanted files are received, and otherwise all files
 * of the commit. The work is bounded by `limits`, and done in portions of 10 ms and one object: with the
 * bounds of production, the longest measured pause of other work of the process is 30 ms of processor time, for a difference of
 * 2 MiB that copies single bytes.
 * @throws GitError if the server does not support what is required, no longer has the commit, or sends a malformed response; if a
 * wanted path or text is not UTF-8, or a bound is exceeded
 * @throws RangeError if `commit` is not an id
 */
export async function readFolder(
  send: GitSend,
  options: {
    readonly commit: string;
    readonly folder: string;
    readonly isWanted: (path: string) => boolean;
    readonly limits?: GitLimits;
  },
): Promise<GitFolder | undefined> {
  const { commit, folder, isWanted, limits = GIT_LIMITS } = options;
  requireId(commit);
  const work = startWork(limits);
  const features = await featuresOf(send, work);
  const wants = [`want ${commit}`, 'deepen 1'];
  const first = await adviseOnFilters(features, () =>
    fetchObjects(send, { features, args: features.canFilter ? [...wants, 'filter blob:none'] : wants }, work),
  );
  const { tree, author, title, committedAt } = readCommit(dataOf(first, commit, 'commit'));
  const found = await findFiles(first, { tree, folder, isWanted }, work);
  if (!found) return undefined;
  const missing = [...new Set(found.map(({ id }) => id))].filter((id) => !first.has(id));
  const args = missing.map((id) => `want ${id}`);
  const second = missing.length === 0 ? first : await fetchObjects(send, { features, args }, work);
  const files = await textsOf(found, (id) => dataOf(first.has(id) ? first : second, id, 'blob'), work);
  return { commit, author, title, committedAt, files };
}

/** The texts of files. Files with the same content share one text. */
async function textsOf(
  found: readonly { readonly path: string; readonly id: string }[],
  read: (id: string) => Buffer,
  { budget, portions }: Work,
): Promise<GitFolder['files']> {
  const texts = new Map<string, string>();
  const files: { path: string; text: string }[] = [];
  for (const { path, id } of found) {
    if (portions.isOver()) await portions.next();
    const data = read(id);
    budget.addText(data.length);
    const known = texts.get(id);
    if (known === undefined && !isUtf8(data))
      throw new GitError(`The file ${shownPath(path)} is not UTF-8. Save it in this encoding.`);
    const text = known ?? data.toString('utf8');
    texts.set(id, text);
    files.push({ path, text });
  }
  return files;
}

/** The most generations of commits that a request can ask for. */
const MOST_COMMITS = 100;

/**
 * Whether `ancestor` is among the last `most` generations of commits (at most 100, which is the default) from which `commit`
 * descends: a parent is one generation before its commit, and a merge has several parents. A commit descends from itself. False
 * if the server cannot tell, because it no longer has the ancestor, or because the commits since then exceed a bound.
 * @throws GitError if the server does not support what is required, does not have `commit`, or sends a malformed response
 * @throws RangeError if `commit` or `ancestor` is not an id, or `most` is not from 1 to 100
 */
export async function descendsFrom(
  send: GitSend,
  options: { readonly commit: string; readonly ancestor: string; readonly most?: number },
): Promise<boolean> {
  const { commit, ancestor, most = MOST_COMMITS } = options;
  requireId(commit);
  requireId(ancestor);
  if (!Number.isInteger(most) || most < 1 || most > MOST_COMMITS)
    throw new RangeError(`The number of generations must be an integer from 1 to ${MOST_COMMITS}.`);
  if (commit === ancestor) return true;
  const work = startWork(GIT_LIMITS);
  const features = await featuresOf(send, work);
  // The server leaves out what the ancestor contains: without filters, only what changed since then is received.
  const wants = [`want ${commit}`, `have ${ancestor}`, `deepen ${most}`];
  try {
    const args = features.canFilter ? [...wants, 'filter tree:0'] : wants;
    return isReached(await fetchObjects(send, { features, args }, work), { commit, ancestor, most });
  } catch (error) {
    if (error instanceof GitBoundError) return false;
    throw error;
  }
}

function isReached(
  objects: Objects,
  { commit, ancestor, most }: { readonly commit: string; readonly ancestor: string; readonly most: number },
): boolean {
  const visited = new Set<string>();
  let generation = commitsIn(objects, [commit]);
  for (let distance = 1; distance <= most && generation.length > 0; distance += 1) {
    const parents = new Set(generation.flatMap((each) => each.parents).filter((id) => !visited.has(id)));
    if (parents.has(ancestor)) return true;
    for (const id of parents) visited.add(id);
    generation = commitsIn(objects, [...parents]);
  }
  return false;
}

/** The server does not send commits from which the ancestor descends, and those before the last generation. */
const commitsIn = (objects: Objects, ids: readonly string[]) =>
  ids.flatMap((id) => {
    const found = objects.get(id);
    return found?.type === 'commit' ? [readCommit(found.data)] : [];
  });

async function fetchObjects(
  send: GitSend,
  request: { readonly features: Features; readonly args: readonly string[] },
  work: Work,
): Promise<Objects> {
  return readPack(await fetchPack(send, request, work), work);
}

/** Adds what an operator can do if all files of a commit exceed a bound. */
async function adviseOnFilters<T>({ canFilter }: Features, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (canFilter || !(error instanceof GitBoundError)) throw error;
    throw new GitBoundError(
      `${error.message} The server does not support filters, so that all files of the commit are read. Set uploadpack.allowFilter on the server. Otherwise: ${RUN_IN_CI}`,
    );
  }
}

function requireId(text: string): void {
  if (!isId(text)) throw new RangeError('The id of a commit must have 40 hexadecimal digits in lower case.');
}
