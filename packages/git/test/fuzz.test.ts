// Responses of servers that are wrong in any way, without git and without a network.
import { byDepth } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { GIT_LIMITS, startWork } from '../src/bounds.ts';
import { commitOf, descendsFrom, GitError, type GitFolder, type GitSend, readFolder } from '../src/index.ts';
import { readPack } from '../src/pack.ts';
import {
  blobObject,
  commitObject,
  everything,
  memoryRepository,
  recording,
  replaying,
  serverOf,
  treeObject,
} from './memory-repository.ts';
import { changed, changes } from './mutations.ts';
import { type Deltas, differenceOf, packOf, packResponse, packWith, sealed } from './packs.ts';

const runs = byDepth({ short: 300, full: 4000, long: 100_000 });
const LIMITS = { ...GIT_LIMITS, objectBytes: 20_000, totalBytes: 60_000, objects: 100 };

/** What work ends with: its result, or `refused` if it is a GitError. Other errors fail the test. */
const outcomeOf = <T>(work: Promise<T>): Promise<T | 'refused'> =>
  work.catch((error: unknown) => {
    if (error instanceof GitError) return 'refused' as const;
    throw error;
  });

const repository = memoryRepository();
const first = repository.commit({ 'a.yaml': 'old' });
const commit = repository.commit(
  {
    'README.md': 'read me\n'.repeat(30),
    fleet: Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [`app-${index}.yaml`, `name: app-${index}\n`.repeat(5)]),
    ),
    other: { deep: { 'x.yaml': 'x' } },
  },
  { parents: [first] },
);
const read = (send: GitSend) =>
  readFolder(send, { commit, folder: 'fleet', isWanted: (path) => path.endsWith('.yaml'), limits: LIMITS });

/** The responses of a server to all requests of a read, and its result. */
async function recordedRead(canFilter: boolean, deltas: Deltas) {
  const { send, responses } = recording(serverOf(repository.objects, { canFilter, deltas }));
  return { responses, result: await read(send) };
}

const recordings = await Promise.all([
  recordedRead(true, 'none'),
  recordedRead(true, 'offsets'),
  recordedRead(false, 'offsets'),
  recordedRead(false, 'ids'),
]);

test('the recorded responses have the expected files', () => {
  expect(recordings.map(({ result }) => result?.files.length)).toEqual([8, 8, 8, 8]);
  expect(recordings.map(({ responses }) => responses.length)).toEqual([3, 3, 2, 2]);
});

test('a response that is changed anywhere is refused, or has the same files', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...recordings), fc.nat(), changes, async ({ responses, result }, which, all) => {
      const at = which % responses.length;
      const send = replaying(responses.map((response, index) => (index === at ? changed(response, all) : response)));
      expect([result, 'refused']).toContainEqual(await outcomeOf(read(send)));
    }),
    seeded({ numRuns: runs }),
  );
});

/** The packs with all objects of the repository, without their checksums. */
const packs = (['none', 'offsets', 'ids'] as const).map((deltas) =>
  packWith([...repository.objects.values()], deltas).subarray(0, -20),
);

test('a pack that is changed anywhere, with the right checksum, is refused within the bounds, or has the same files', async () => {
  const advertisement = recordings[2]?.responses[0] ?? Buffer.alloc(0);
  const result = recordings[2]?.result;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...packs), changes, async (content, all) => {
      const pack = sealed(changed(content, all));
      const outcome = await outcomeOf(read(replaying([advertisement, packResponse(pack)])));
      expect([result, 'refused']).toContainEqual(outcome);
      await expectWithinBounds(pack);
    }),
    seeded({ numRuns: runs }),
  );
});

/** Reads a pack. The counted bytes are within the bound, and no object has bytes that were not counted. */
async function expectWithinBounds(pack: Buffer): Promise<void> {
  const work = startWork(LIMITS);
  const objects = await outcomeOf(readPack(pack, work));
  const used = work.budget.usedBytes();
  expect(used).toBeLessThanOrEqual(LIMITS.totalBytes);
  if (objects === 'refused') return;
  const sizes = [...objects.values()].map(({ data }) => data.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(used);
}

test('a difference that is changed anywhere is refused, or applied within the bounds', async () => {
  const base = Buffer.from('line\n'.repeat(100));
  const delta = differenceOf(base, Buffer.from(`${'line\n'.repeat(50)}more\n${'line\n'.repeat(50)}`));
  await fc.assert(
    fc.asyncProperty(changes, async (all) => {
      const entries = Array.from({ length: 20 }, () => ({ kind: 6, data: changed(delta, all), base: 0 }));
      await expectWithinBounds(packOf([{ kind: 3, data: base }, ...entries]));
    }),
    seeded({ numRuns: runs }),
  );
});

/** Paths below the folder, each once and in order. */
function expectSafe({ files }: GitFolder): void {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual([...new Set(paths)].sort());
  for (const part of paths.flatMap((path) => path.split('/'))) expect(['', '.', '..']).not.toContain(part);
}

test('a folder or a commit that is changed anywhere is refused, or has safe paths', async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.boolean(), async (all, isFolder) => {
      const own = memoryRepository();
      const ids = [own.add(blobObject('x')), own.addTree({ 'z.yaml': 'z' })];
      const tree = treeObject(
        ids.flatMap((id, index) =>
          ['a', 'b', 'c'].map((name) => ({ mode: index ? '40000' : '100644', name: `${name}${index}`, id })),
        ),
      );
      const root = own.add(isFolder ? { type: 'tree', data: changed(tree.data, all) } : tree);
      const object = commitObject({ tree: root, message: 'A change\n\nwith a reason\n' });
      const id = own.add(isFolder ? object : { type: 'commit', data: changed(object.data, all) });
      const folder = await outcomeOf(
        readFolder(serverOf(own.objects), { commit: id, folder: '', isWanted: everything, limits: LIMITS }),
      );
      if (folder === 'refused') return;
      expect(folder).toMatchObject({ commit: id, author: expect.any(String), title: expect.any(String) });
      expect(folder?.committedAt.getTime()).not.toBeNaN();
      if (folder) expectSafe(folder);
    }),
    seeded({ numRuns: runs }),
  );
});

test('the commit of a branch, and whether a commit descends from another one, end with a result or are refused', async () => {
  const server = serverOf(repository.objects, { branches: { main: commit } });
  const branch = recording(server);
  expect(await commitOf(branch.send, 'main')).toBe(commit);
  const history = recording(server);
  expect(await descendsFrom(history.send, { commit, ancestor: first })).toBe(true);
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 1 }), changes, async (at, all) => {
      const changedIn = (responses: readonly Buffer[]) =>
        replaying(responses.map((response, index) => (index === at ? changed(response, all) : response)));
      const found = await outcomeOf(commitOf(changedIn(branch.responses), 'main'));
      if (found !== undefined && found !== 'refused') expect(found).toMatch(/^[0-9a-f]{40}$/);
      // The ids of commits are computed, so that a changed response cannot pretend another history.
      expect([true, 'refused']).toContain(
        await outcomeOf(descendsFrom(changedIn(history.responses), { commit, ancestor: first })),
      );
    }),
    seeded({ numRuns: runs }),
  );
});

test('any bytes are refused', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 3 }), fc.boolean(), async (responses, isAfterStart) => {
      const start = isAfterStart ? (recordings[0]?.responses.slice(0, 1) ?? []) : [];
      expect(await outcomeOf(read(replaying([...start, ...responses])))).toBe('refused');
    }),
    seeded({ numRuns: runs }),
  );
});
