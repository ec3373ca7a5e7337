/** A file, an executable file, a link or a submodule. A text or bytes are an ordinary file. */
export type GitFile =
  | string
  | Uint8Array
  | { readonly mode: '100755' | '120000'; readonly content: string }
  | { readonly mode: '160000'; readonly commit: string };

/** A commit that is to be created. */
export interface GitCommit {
  /** All files of the commit by their paths. Paths can be bytes that are not UTF-8. */
  readonly files: Readonly<Record<string, GitFile>> | ReadonlyMap<string | Uint8Array, GitFile>;
  /** Default: `main`. */
  readonly branch?: string;
  /**
   * The ids of its parents, or the positions of earlier commits of the same call. Default: the commit of the branch. Without any,
   * or with others, the branch is overwritten, as by a forced push.
   */
  readonly parents?: readonly (string | number)[];
  readonly message?: string;
  /** The name of the author. */
  readonly author?: string;
  /** Seconds since 1970. Default: a second after the commit that was created before. */
  readonly time?: number;
}

/** What `git fast-import` reads, and the branches after it. */
interface Script {
  readonly input: Buffer;
  /** For each branch, the position of its last commit. */
  readonly heads: ReadonlyMap<string, number>;
}

/**
 * The input of one `git fast-import` for all commits, which prints their ids.
 * @param headOf the present commit of a branch
 * @param nextTime the default time of the next commit
 */
export function scriptOf(
  commits: readonly GitCommit[],
  headOf: (branch: string) => string | undefined,
  nextTime: () => number,
): Script {
  const parts: (string | Uint8Array)[] = [];
  const heads = new Map<string, number>();
  for (const [
    index,
    { branch = 'main', message = 'A change', author = 'Ann Author', ...commit },
  ] of commits.entries()) {
    const present = heads.get(branch) ?? headOf(branch);
    const parents = commit.parents ?? (present === undefined ? [] : [present]);
    const person = `<ann@example.test> ${commit.time ?? nextTime()} +0000`;
    const [from, ...merged] = parents.map((parent) => (typeof parent === 'number' ? markOf(parent) : parent));
    // Without the reset, a commit without a parent would continue its branch.
    parts.push(`reset refs/heads/${branch}\n\ncommit refs/heads/${branch}\nmark ${markOf(index)}\n`);
    parts.push(`author ${author} ${person}\ncommitter Carl Committer ${person}\n`, ...dataOf(message));
    parts.push(
      from === undefined ? '' : `from ${from}\n`,
      ...merged.map((parent) => `merge ${parent}\n`),
      'deleteall\n',
    );
    for (const [path, file] of commit.files instanceof Map ? commit.files : Object.entries(commit.files))
      parts.push(...fileParts(path, file));
    heads.set(branch, index);
  }
  parts.push(...commits.map((_, index) => `get-mark ${markOf(index)}\n`));
  return { input: Buffer.concat(parts.map((part) => Buffer.from(part))), heads };
}

const markOf = (index: number) => `:${index + 1}`;

const dataOf = (content: string | Uint8Array) => [`data ${Buffer.byteLength(content)}\n`, content, '\n'];

function fileParts(path: string | Uint8Array, file: GitFile): (string | Uint8Array)[] {
  const name = quoted(Buffer.from(path));
  if (typeof file === 'string' || file instanceof Uint8Array) return [`M 100644 inline ${name}\n`, ...dataOf(file)];
  if (file.mode === '160000') return [`M 160000 ${file.commit} ${name}\n`];
  return [`M ${file.mode} inline ${name}\n`, ...dataOf(file.content)];
}

/** A path in the notation of C. */
function quoted(path: Buffer): string {
  const isPlain = (byte: number) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
  const characters = [...path].map((byte) =>
    isPlain(byte) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `"${characters.join('')}"`;
}
