// Against the real `git http-backend`.
import { createOutbound } from '@svc/http';
import { aGitServer, byDepth, describeWithGit, type GitServer, LONG_TEST_MS, seed } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { commitOf, descendsFrom, GIT_OUTBOUND, GitError, type GitSend, gitOver, readFolder } from '../src/index.ts';
import { distanceIn, graph, historyOf } from './histories.ts';
import { everything, recording, replaying } from './memory-repository.ts';
import { changed, changes } from './mutations.ts';
import { readWithOracle } from './oracle.ts';
import { refusalOf } from './world.ts';

const isYaml = (path: string) => path.endsWith('.yaml');

const outbound = createOutbound(GIT_OUTBOUND);
afterAll(() => outbound.close());
const sendTo = ({ url }: GitServer) => gitOver({ outbound, url: new URL(url) });

/** Asks for differences that name their base by its id. */
const withIds =
  (send: GitSend): GitSend =>
  ({ path, body }) =>
    send({ path, ...(body && { body: Buffer.from(Buffer.from(body).toString().replace('000eofs-delta\n', '')) }) });

describeWithGit('a repository of git', () => {
  describe.each([
    { depth: 0, window: 0, part: 0 },
    { depth: 50, window: 10, part: 1 },
    { depth: 250, window: 100, part: 2 },
  ])('that is packed with chains of at most $depth differences', ({ depth, window, part }) => {
    let server: GitServer;
    beforeAll(async () => {
      server = await aGitServer();
    });
    afterAll(() => server.stop());

    test(
      'has the same files as with isomorphic-git',
      async () => {
        const count = byDepth({ short: 3, full: 67, long: 334 });
        const histories = Array.from({ length: count }, (_, index) =>
          fc.sample(historyOf(index), { seed: seed + part * count + index, numRuns: 1 }),
        ).flat();
        await server.commit({ files: {} }); // isomorphic-git requires the branch to which HEAD refers
        await server.commit(...histories.flatMap(({ commits }) => commits));
        await server.git('repack', '-adf', `--depth=${depth}`, `--window=${window}`);
        const send = sendTo(server);
        const received = { filtered: 0, ids: 0, offsets: 0 };
        for (const { branch, folder } of histories) {
          const expected = await readWithOracle(server.url, { branch, folder, isWanted: isYaml });
          const commit = String(await commitOf(send, branch));
          for (const way of ['filtered', 'ids', 'offsets'] as const) {
            server.settings.allowFilter = way === 'filtered';
            const { send: recorded, responses } = recording(way === 'ids' ? withIds(send) : send);
            const found = await readFolder(recorded, { commit, folder, isWanted: isYaml });
            for (const { length } of responses) received[way] += length;
            expect(found && { commit: found.commit, title: found.title, files: found.files }).toEqual(expected);
          }
        }
        // Ids are longer than offsets.
        if (depth > 0) expect(received.ids).toBeGreaterThan(received.offsets);
      },
      LONG_TEST_MS,
    );
  });

  describe('with merges', () => {
    const SIZE = 60;
    const CHAIN = 105;
    const parents = fc.sample(graph(SIZE), { seed, numRuns: 1 })[0] ?? [];
    let server: GitServer;
    let ids: string[];
    let chain: string[];
    const idAt = (index: number, of = ids) => String(of[index]);

    beforeAll(async () => {
      server = await aGitServer();
      const commits = parents.map((each, index) => ({
        branch: `merge-${index}`,
        parents: each,
        files: { 'a.yaml': `commit: ${index}\n`, 'large.txt': `${index}\n`.repeat(1000) },
      }));
      ids = await server.commit(...commits);
      chain = await server.commit(
        ...Array.from({ length: CHAIN }, (_, index) => ({ branch: 'chain', files: { 'a.yaml': `${index}` } })),
      );
    });
    afterAll(() => server.stop());

    test('a commit descends from the commits of the last generations, with and without filters', async () => {
      const pairs = fc.sample(
        fc.record({
          from: fc.nat({ max: SIZE - 1 }),
          to: fc.nat({ max: SIZE - 1 }),
          most: fc.integer({ min: 1, max: 12 }),
        }),
        { seed, numRuns: byDepth({ short: 12, full: 100, long: 1000 }) },
      );
      const outcomes = new Set<boolean>();
      for (const { from, to, most } of pairs) {
        const distance = distanceIn(parents, from, to);
        const expected = distance !== undefined && distance <= most;
        for (const allowFilter of [true, false]) {
          server.settings.allowFilter = allowFilter;
          const options = { commit: idAt(from), ancestor: idAt(to), most };
          expect({ ...options, descends: await descendsFrom(sendTo(server), options) }).toEqual({
            ...options,
            descends: expected,
          });
        }
        outcomes.add(expected);
      }
      expect(outcomes.size).toBe(2);
    });

    test.each([true, false])(
      'a commit descends from the last 100 generations at most (filters: %p)',
      async (allowFilter) => {
        server.settings.allowFilter = allowFilter;
        const commit = idAt(CHAIN - 1, chain);
        const from = (index: number) => descendsFrom(sendTo(server), { commit, ancestor: idAt(index, chain) });
        expect(await from(CHAIN - 1)).toBe(true);
        expect(await from(CHAIN - 101)).toBe(true);
        expect(await from(CHAIN - 102)).toBe(false);
        expect(await descendsFrom(sendTo(server), { commit: idAt(0, chain), ancestor: commit })).toBe(false);
        expect(await descendsFrom(sendTo(server), { commit, ancestor: idAt(0) })).toBe(false);
        expect(await descendsFrom(sendTo(server), { commit, ancestor: 'b'.repeat(40) })).toBe(false);
      },
    );
  });

  describe('that changes', () => {
    let server: GitServer;
    beforeAll(async () => {
      server = await aGitServer();
    });
    afterAll(() => server.stop());

    const read = (commit: string, folder = '') => readFolder(sendTo(server), { commit, folder, isWanted: everything });

    test('has no branch while it is empty, and then that of the first commit with its facts', async () => {
      expect(await commitOf(sendTo(server), 'main')).toBeUndefined();
      const [id = ''] = await server.commit({
        files: { 'fleet/a.yaml': 'a' },
        author: 'J\u00f6rg M\u00fcller',
        message: 'Add the shop\n\nBecause.\n',
        time: 1_750_000_000,
      });
      expect(await commitOf(sendTo(server), 'main')).toBe(id);
      expect(await commitOf(sendTo(server), 'mai')).toBeUndefined();
      expect(await read(id)).toEqual({
        commit: id,
        author: 'J\u00f6rg M\u00fcller',
        title: 'Add the shop',
        committedAt: new Date('2025-06-15T15:06:40Z'),
        files: [{ path: 'fleet/a.yaml', text: 'a' }],
      });
    });

    test.each([true, false])('has no folder after it was emptied (filters: %p)', async (allowFilter) => {
      server.settings.allowFilter = allowFilter;
      const [before = '', other = '', empty = ''] = await server.commit(
        { files: { 'fleet/a.yaml': 'a', 'b.yaml': 'b' } },
        { files: { 'b.yaml': 'b' } },
        { files: {} },
      );
      expect((await read(before, 'fleet'))?.files).toHaveLength(1);
      expect(await read(other, 'fleet')).toBeUndefined();
      expect((await read(empty))?.files).toEqual([]);
    });

    test('no longer descends from a commit after a forced push', async () => {
      const [before = ''] = await server.commit({ files: { 'a.yaml': 'a' } });
      const [after = ''] = await server.commit({ files: { 'a.yaml': 'b' }, parents: [] });
      expect(await commitOf(sendTo(server), 'main')).toBe(after);
      expect(await descendsFrom(sendTo(server), { commit: after, ancestor: before })).toBe(false);
    });

    test('fails to read a commit that disappeared after its branch was read', async () => {
      await server.commit({ branch: 'short-lived', files: { 'a.yaml': 'a' }, parents: [] });
      const commit = String(await commitOf(sendTo(server), 'short-lived'));
      await server.git('update-ref', '-d', 'refs/heads/short-lived');
      await server.git('gc', '--quiet', '--prune=now');
      expect(await commitOf(sendTo(server), 'short-lived')).toBeUndefined();
      expect(await refusalOf(read(commit))).toBe(`The server reports: upload-pack: not our ref ${commit}`);
    });

    test('has the same files if any of its responses is changed, or is refused', async () => {
      const texts = Array.from({ length: 20 }, (_, index) => [
        `a/${index}.yaml`,
        `number: ${index}\n${'same\n'.repeat(20)}`,
      ]);
      const [commit = ''] = await server.commit({ branch: 'recorded', files: Object.fromEntries(texts), parents: [] });
      await server.git('repack', '-adf');
      const { send, responses } = recording(sendTo(server));
      const options = { commit, folder: 'a', isWanted: isYaml };
      const complete = await readFolder(send, options);
      expect(complete?.files).toHaveLength(20);
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: responses.length - 1 }), changes, async (at, all) => {
          const changedOnes = responses.map((response, index) => (index === at ? changed(response, all) : response));
          const found = await readFolder(replaying(changedOnes), options).catch((error: unknown) => error);
          if (!(found instanceof GitError)) expect(found).toEqual(complete);
        }),
        seeded({ numRuns: byDepth({ short: 200, full: 2000, long: 50_000 }) }),
      );
    });

    test('fails to read names that are not UTF-8', async () => {
      const [id = ''] = await server.commit({ files: new Map([[Buffer.from('gr\u00fcn.yaml', 'latin1'), 'a']]) });
      expect(await refusalOf(read(id))).toBe('The path "gr\ufffdn.yaml" is not UTF-8. Rename the file or its folder.');
    });

    test('receives only the folders and the wanted files if the server can filter', async () => {
      const random = Buffer.from(
        fc.sample(fc.uint8Array({ minLength: 50_000, maxLength: 50_000 }), { seed, numRuns: 1 })[0] ?? [],
      );
      const [commit = ''] = await server.commit({ files: { 'a.yaml': 'a', 'b.bin': random } });
      const bytes = async (allowFilter: boolean) => {
        server.settings.allowFilter = allowFilter;
        const { send, responses } = recording(sendTo(server));
        expect((await readFolder(send, { commit, folder: '', isWanted: isYaml }))?.files).toHaveLength(1);
        return responses.reduce((sum, { length }) => sum + length, 0);
      };
      expect(await bytes(true)).toBeLessThan(2000);
      expect(await bytes(false)).toBeGreaterThan(40_000);
    });
  });

  test('of version 0 or with SHA-256 is refused', async () => {
    const server = await aGitServer();
    const [commit = ''] = await server.commit({ files: { 'a.yaml': 'a' } });
    const url = new URL(server.url);
    const old: GitSend = async ({ path }) => new Uint8Array(await (await fetch(`${url}${path}`)).arrayBuffer());
    expect(await refusalOf(readFolder(old, { commit, folder: '', isWanted: everything }))).toMatch(
      /does not support version 2/,
    );
    await server.stop();
    const sha256 = await aGitServer({ format: 'sha256' });
    await sha256.commit({ files: { 'a.yaml': 'a' } });
    expect(await refusalOf(commitOf(sendTo(sha256), 'main'))).toMatch(/uses sha256/);
    await sha256.stop();
  });
});
