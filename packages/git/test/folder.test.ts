import { GIT_LIMITS, readFolder } from '../src/index.ts';
import {
  blobObject,
  commitObject,
  everything,
  memoryRepository,
  serverOf,
  type Tree,
  treeObject,
} from './memory-repository.ts';
import { refusalOf } from './world.ts';

type Repository = ReturnType<typeof memoryRepository>;
interface Options {
  readonly folder?: string;
  readonly isWanted?: (path: string) => boolean;
  readonly canFilter?: boolean;
  readonly limits?: Partial<typeof GIT_LIMITS>;
}

const read = (
  { objects }: Repository,
  commit: string,
  { folder = '', isWanted = everything, ...options }: Options = {},
) => readFolder(serverOf(objects, options), { commit, folder, isWanted, limits: { ...GIT_LIMITS, ...options.limits } });

function withFiles(tree: Tree) {
  const repository = memoryRepository();
  return { repository, commit: repository.commit(tree) };
}

const pathsOf = async (folder: ReturnType<typeof read>) => (await folder)?.files.map(({ path }) => path);

/** A commit with a root whose entries need not be valid. */
function withEntries(entries: (repository: Repository) => Parameters<typeof treeObject>[0]) {
  const repository = memoryRepository();
  const tree = repository.add(treeObject(entries(repository)));
  return { repository, commit: repository.add(commitObject({ tree })) };
}

const files: Tree = {
  'README.md': 'read me',
  fleet: { 'b.yaml': 'b', 'a.yaml': 'a', 'note.txt': 'n', deep: { 'c.yaml': 'c', empty: {} } },
  'fleet-2': { 'd.yaml': 'd' },
};

describe('a folder', () => {
  const { repository, commit } = withFiles(files);

  it('has the wanted files below it, sorted by their paths from the root', async () => {
    const isWanted = (path: string) => path.endsWith('.yaml');
    expect((await read(repository, commit, { folder: 'fleet', isWanted }))?.files).toEqual([
      { path: 'fleet/a.yaml', text: 'a' },
      { path: 'fleet/b.yaml', text: 'b' },
      { path: 'fleet/deep/c.yaml', text: 'c' },
    ]);
    expect(await pathsOf(read(repository, commit))).toEqual([
      ...['README.md', 'fleet-2/d.yaml', 'fleet/a.yaml', 'fleet/b.yaml', 'fleet/deep/c.yaml', 'fleet/note.txt'],
    ]);
  });

  it.each([
    'missing',
    'README.md',
    'fleet/a.yaml',
    'fleet/deep/c.yaml/x',
    '/fleet',
    'fleet/',
    'fleet//deep',
    '..',
    '.',
  ])('does not exist if its path is %p', async (folder) => {
    expect(await read(repository, commit, { folder })).toBeUndefined();
  });

  it('can be empty, also at the root', async () => {
    expect(await pathsOf(read(repository, commit, { folder: 'fleet/deep/empty' }))).toEqual([]);
    const empty = withFiles({});
    expect(await pathsOf(read(empty.repository, empty.commit))).toEqual([]);
  });

  it('has no links and submodules, which are no folders either', async () => {
    const linked = withEntries(({ add }) => [
      { mode: '120000', name: 'link', id: add(blobObject('fleet')) },
      { mode: '160000', name: 'module', id: 'a'.repeat(40) },
      { mode: '100755', name: 'run', id: add(blobObject('#!')) },
      { mode: '100664', name: 'written', id: add(blobObject('old')) },
    ]);
    expect(await pathsOf(read(linked.repository, linked.commit))).toEqual(['run', 'written']);
    for (const folder of ['link', 'module'])
      expect(await read(linked.repository, linked.commit, { folder })).toBeUndefined();
  });

  it('keeps the mark of the byte order, and empty files', async () => {
    const marked = withFiles({ 'a.yaml': '\ufeffkind: x\r\n', 'b.yaml': '' });
    expect((await read(marked.repository, marked.commit))?.files.map(({ text }) => text)).toEqual([
      '\ufeffkind: x\r\n',
      '',
    ]);
  });
});

describe('a text or a path that is not UTF-8', () => {
  const latin = Buffer.from('gr\u00fc\u00dfe', 'latin1');

  it('is refused with the path of the file if the file is wanted', async () => {
    const { repository, commit } = withFiles({ fleet: { 'a.yaml': latin } });
    expect(await refusalOf(read(repository, commit))).toBe(
      'The file "fleet/a.yaml" is not UTF-8. Save it in this encoding.',
    );
    expect(await pathsOf(read(repository, commit, { isWanted: () => false }))).toEqual([]);
  });

  it.each(['100644', '40000'])('is refused if it is a name (%s), unless nothing is wanted there', async (mode) => {
    const { repository, commit } = withEntries(({ add, addTree }) => [
      { mode, name: latin, id: mode === '40000' ? addTree({ x: 'x' }) : add(blobObject('x')) },
    ]);
    expect(await refusalOf(read(repository, commit))).toMatch(
      /^The path "gr\ufffd\ufffde(?:\/x)?" is not UTF-8\. Rename/,
    );
    expect(await pathsOf(read(repository, commit, { isWanted: () => false }))).toEqual([]);
  });
});

describe('a malformed object', () => {
  const id = 'a'.repeat(40);
  it.each([
    ['an empty name', [{ mode: '100644', name: '', id }]],
    ['the name .', [{ mode: '40000', name: '.', id }]],
    ['the name ..', [{ mode: '100644', name: '..', id }]],
    ['a name with a slash', [{ mode: '100644', name: 'a/b', id }]],
    ['a mode that is no number', [{ mode: 'file', name: 'a', id }]],
    ['a long mode', [{ mode: '0100644', name: 'a', id }]],
    ['no mode', [{ mode: '', name: 'a', id }]],
    ['a short id', [{ mode: '100644', name: 'a', id: 'abcd' }]],
  ])('is refused if it is a folder with %s', async (_what, entries) => {
    const { repository, commit } = withEntries(() => entries);
    expect(await refusalOf(read(repository, commit))).toBe('A folder is malformed.');
  });

  it('is refused if a folder has a file twice', async () => {
    const { repository, commit } = withEntries(({ add }) =>
      ['1', '2'].map((text) => ({ mode: '100644', name: 'a', id: add(blobObject(text)) })),
    );
    expect(await refusalOf(read(repository, commit))).toBe('The path "a" exists twice in the commit.');
  });

  it('is refused if an object has another type than its entry', async () => {
    const { repository, commit } = withEntries(({ add, addTree }) => [
      { mode: '40000', name: 'a', id: add(blobObject('x')) },
      { mode: '100644', name: 'b', id: addTree({}) },
    ]);
    expect(await refusalOf(read(repository, commit, { isWanted: (path) => path === 'b' }))).toMatch(
      /^The server has not sent the tree /,
    );
  });

  it.each([
    '',
    'tree\n',
    `tree ${id}\nauthor x\n\nmessage`,
    `tree ${id}\ncommitter A <a> 99999999999999 +0000\n\n`,
    `tree ${id}\nparent x\ncommitter A <a> 1 +0000\n\n`,
  ])('is refused if it is the commit %j', async (text) => {
    const repository = memoryRepository();
    const commit = repository.add({ type: 'commit', data: Buffer.from(text) });
    expect(await refusalOf(read(repository, commit))).toBe('The commit is malformed.');
  });

  it('is refused if it is a tag instead of a commit', async () => {
    const repository = memoryRepository();
    const tag = repository.add({ type: 'tag', data: Buffer.from('object') });
    expect(await refusalOf(read(repository, tag))).toBe(`The server has not sent the commit ${tag}.`);
  });
});

describe('the facts of a commit', () => {
  const factsOf = async (text: { author?: string; message?: string }) => {
    const repository = memoryRepository();
    const { author, title, committedAt } = (await read(repository, repository.commit({}, text))) ?? {};
    return { author, title, committedAt };
  };

  it('are its author, the first line of its message and its time', async () => {
    expect(await factsOf({ author: 'J\u00f6rg <j@example.test> 1 +0000', message: 'Add shop\n\nBecause.\n' })).toEqual({
      author: 'J\u00f6rg',
      title: 'Add shop',
      committedAt: new Date(1_700_000_000_000),
    });
  });

  it('have no control and invisible characters, and are shortened', async () => {
    const facts = await factsOf({
      author: `${'\u{1f600}'.repeat(300)} <x> 1 +0000`,
      message: '\n\nA\u202eb\u001b[31m\tc',
    });
    expect(facts).toMatchObject({ author: `${'\u{1f600}'.repeat(99)}\u2026`, title: 'Ab [31m c' });
    expect((await factsOf({ message: 'x'.repeat(100_000) })).title).toBe(`${'x'.repeat(199)}\u2026`);
  });

  it('can be empty', async () => {
    expect(await factsOf({ author: '', message: '' })).toMatchObject({ author: '', title: '' });
  });
});

describe('the bounds of a folder', () => {
  const { repository, commit } = withFiles(files);

  it.each([
    [{ files: 5 }, 'The folder has more than 5 files that are read.'],
    [{ entries: 8 }, 'The folder has more than 8 entries.'],
    [{ pathBytes: 16 }, 'The path "fleet/deep/c.yaml" has more than 16 bytes.'],
    [{ textBytes: 11 }, 'The files of the folder are larger than 11 bytes together.'],
    [{ objects: 11 }, 'The commit has more than 11 objects.'],
    [{ objectBytes: 100 }, 'An object of the commit is larger than 100 bytes.'],
    [{ totalBytes: 500 }, 'The objects of the commit are larger than 500 bytes together.'],
  ])('refuse more than %j', async (limits, reason) => {
    expect(await refusalOf(read(repository, commit, { limits }))).toBe(reason);
  });

  it('admit what has exactly their size', async () => {
    const exact = { files: 6, entries: 10, pathBytes: 17, textBytes: 12 };
    expect((await read(repository, commit, { limits: exact }))?.files).toHaveLength(6);
  });

  it('advise to enable filters if all files of the commit exceed one', async () => {
    const limits = { objectBytes: 250 };
    const large = withFiles({ 'a.yaml': 'a', 'image.png': 'x'.repeat(1000) });
    const isWanted = (path: string) => path.endsWith('.yaml');
    expect(await pathsOf(read(large.repository, large.commit, { limits, isWanted }))).toEqual(['a.yaml']);
    expect(await refusalOf(read(large.repository, large.commit, { limits, isWanted, canFilter: false }))).toBe(
      'An object of the commit is larger than 250 bytes. The server does not support filters, so that all files of the commit are read. Set uploadpack.allowFilter on the server. Otherwise: Run `svc apply` in the CI of the repository instead.',
    );
  });

  it('count files with the same content each time', async () => {
    const same = withFiles(
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}`, 'x'.repeat(1000)])),
    );
    expect(await refusalOf(read(same.repository, same.commit, { limits: { textBytes: 19_999 } }))).toMatch(
      /19999 bytes/,
    );
    expect((await read(same.repository, same.commit, { limits: { textBytes: 20_000 } }))?.files).toHaveLength(20);
  });

  it('refuse folders that contain the same folder many times, at each level', async () => {
    const bomb = memoryRepository();
    let tree = bomb.addTree({ 'a.txt': 'x' });
    for (let level = 0; level < 30; level += 1)
      tree = bomb.add(
        treeObject(Array.from({ length: 10 }, (_, index) => ({ mode: '40000', name: `${index}`, id: tree }))),
      );
    const root = bomb.add(commitObject({ tree }));
    const limits = { entries: 10_000 };
    expect(await refusalOf(read(bomb, root, { limits, isWanted: () => false }))).toBe(
      'The folder has more than 10000 entries.',
    );
  });

  it('refuse a chain of 3,000 folders', async () => {
    const deep = memoryRepository();
    let tree = deep.addTree({ 'a.txt': 'x' });
    for (let level = 0; level < 3000; level += 1) tree = deep.add(treeObject([{ mode: '40000', name: 'a', id: tree }]));
    const root = deep.add(commitObject({ tree }));
    expect(await refusalOf(read(deep, root))).toMatch(/^The path "a\/a\/.*" has more than 4096 bytes\.$/);
  });
});
