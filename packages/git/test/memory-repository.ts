import type { GitSend } from '../src/index.ts';
import type { GitObject, ObjectType } from '../src/pack.ts';
import { type Deltas, idOf, packets, packResponse, packWith } from './packs.ts';

/** Files by their names: texts, bytes, or folders. */
export interface Tree {
  readonly [name: string]: string | Uint8Array | Tree;
}

interface Entry {
  readonly mode: string;
  readonly name: string | Uint8Array;
  readonly id: string;
}

/** The object of a folder, whose entries need not be valid. */
export const treeObject = (entries: readonly Entry[]): GitObject => ({
  type: 'tree',
  data: Buffer.concat(
    entries.map(({ mode, name, id }) =>
      Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(id, 'hex')]),
    ),
  ),
});

export const blobObject = (content: string | Uint8Array): GitObject => ({ type: 'blob', data: Buffer.from(content) });

interface CommitText {
  readonly tree: string;
  readonly parents?: readonly string[];
  readonly author?: string;
  readonly message?: string;
}

const PERSON = 'Ann Author <ann@example.test> 1700000000 +0100';

export const commitObject = ({
  tree,
  parents = [],
  author = PERSON,
  message = 'A change\n',
}: CommitText): GitObject => ({
  type: 'commit',
  data: Buffer.from(
    [
      `tree ${tree}`,
      ...parents.map((id) => `parent ${id}`),
      `author ${author}`,
      `committer ${PERSON}`,
      '',
      message,
    ].join('\n'),
  ),
});

/** Objects in memory. */
export function memoryRepository() {
  const objects = new Map<string, GitObject>();
  const add = (object: GitObject): string => {
    const id = idOf(object);
    objects.set(id, object);
    return id;
  };
  const addTree = (tree: Tree): string =>
    add(
      treeObject(
        Object.entries(tree).map(([name, content]) =>
          typeof content === 'string' || content instanceof Uint8Array
            ? { mode: '100644', name, id: add(blobObject(content)) }
            : { mode: '40000', name, id: addTree(content) },
        ),
      ),
    );
  return {
    objects,
    add,
    addTree,
    /** Adds a commit with these files. */
    commit: (tree: Tree, text: Omit<CommitText, 'tree'> = {}): string =>
      add(commitObject({ ...text, tree: addTree(tree) })),
  };
}

export const CAPABILITIES = ['agent=git/test', 'ls-refs=unborn', 'fetch=shallow filter', 'object-format=sha1'];

/** The response that states what a server supports. */
export const advertisement = (lines: readonly string[] = CAPABILITIES): Buffer =>
  packets('# service=git-upload-pack\n', 'flush', 'version 2\n', ...lines.map((line) => `${line}\n`), 'flush');

interface ServerOptions {
  readonly canFilter?: boolean;
  readonly deltas?: Deltas;
  /** The commits of branches. */
  readonly branches?: Readonly<Record<string, string>>;
}

/**
 * A server of objects in memory, for the requests of the reader: it sends all objects, or those of wanted types and ids.
 */
export function serverOf(
  objects: ReadonlyMap<string, GitObject>,
  { canFilter = true, deltas = 'none', branches = {} }: ServerOptions = {},
): GitSend {
  return async ({ path, body }) => {
    if (path.startsWith('/info')) return advertisement(canFilter ? CAPABILITIES : CAPABILITIES.map(withoutFilter));
    const text = Buffer.from(body ?? '').toString('latin1');
    if (text.includes('command=ls-refs'))
      return packets(...Object.entries(branches).map(([name, id]) => `${id} refs/heads/${name}\n`), 'flush');
    const wants = [...text.matchAll(/want ([0-9a-f]{40})/g)].map(([, id = '']) => id);
    const sent = text.includes('deepen')
      ? [...objects.values()].filter(({ type }) => !text.includes('filter') || isSentWith(type))
      : wants.map((id) => objects.get(id)).filter((found) => found !== undefined);
    return packResponse(packWith(sent, deltas), 900);
  };
}

const isSentWith = (type: ObjectType) => type !== 'blob'; // the filter blob:none
const withoutFilter = (line: string) => (line.startsWith('fetch=') ? 'fetch=shallow' : line);

/** A server that records its responses. */
export function recording(send: GitSend) {
  const responses: Buffer[] = [];
  const recorded: GitSend = async (request) => {
    const response = Buffer.from(await send(request));
    responses.push(response);
    return response;
  };
  return { send: recorded, responses };
}

/** A server that sends recorded responses in turn. Further requests have an empty response. */
export function replaying(responses: readonly Uint8Array[]): GitSend {
  let next = 0;
  return async () => {
    next += 1;
    return responses[next - 1] ?? Buffer.alloc(0);
  };
}

/** Accepts all paths. */
export const everything = () => true;
