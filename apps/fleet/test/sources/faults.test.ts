// Random commits while the server of the repository fails: no plan, and therefore nothing, comes from a response with a fault, and
// all that changes is listed by applied plans.
import { byDepth, describeWithGit, type GitFault, LONG_TEST_MS } from '@svc/testing';
import { seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import { startSourceWorld } from './world.ts';

const fleet = await startSourceWorld();
const { client, create, read, check, images, git } = fleet;

const ROUNDS = byDepth({ short: 15, full: 200, long: 1000 });

const one = <const T>(...values: T[]) => fc.constantFrom(...values);

const fault: fc.Arbitrary<GitFault> = fc.oneof(
  fc.record({ kind: one('response'), status: one(301, 401, 403, 404, 429, 500, 502, 503) }),
  one({ kind: 'response', status: 302, headers: { Location: 'http://169.254.169.254/latest/' } } as const),
  fc.record({ kind: one('cut'), afterBytes: fc.nat(400) }),
  fc.record({ kind: one('short'), bytes: fc.nat(400) }),
  fc.record({ kind: one('body'), body: fc.uint8Array({ maxLength: 200 }) }),
  one({ kind: 'body', body: Buffer.from('0000') } as const),
  one({ kind: 'endless' } as const),
);

const round = fc.record({
  commit: fc.oneof(
    {
      arbitrary: fc.record({
        kind: one('documents'),
        images: fc.dictionary(one('a', 'b', 'c'), one('one', 'two'), { minKeys: 1 }),
      }),
      weight: 6,
    },
    { arbitrary: fc.record({ kind: one('rewritten'), images: fc.constant({ a: 'evil' }) }), weight: 1 },
    { arbitrary: fc.record({ kind: one('emptied', 'invalid'), images: fc.constant({}) }), weight: 1 },
  ),
  fault,
  /** The responses before the fault, of which a check has three or four. */
  skip: fc.nat(3),
});
type Round = typeof round extends fc.Arbitrary<infer R> ? R : never;

const textOf = (name: string, image: string) => `kind: deployment\nname: ${name}\nspec:\n  image_name: ${image}\n`;

const filesOf = ({ commit: { kind, images: wanted } }: Round): Record<string, string> => {
  if (kind === 'emptied') return { 'other/readme': 'nothing' };
  const files = Object.entries(wanted).map(([name, image]) => [`deploy/${name}.yaml`, textOf(name, image)]);
  return Object.fromEntries(kind === 'invalid' ? [...files, ['deploy/a.yaml', 'kind: deploymnt\n']] : files);
};

interface StoredFile {
  readonly text: string;
}

interface StoredChange {
  readonly name: string;
  readonly action: string;
}

/** The images of all deployments according to the plans that were applied. */
async function folded(sourceId: string): Promise<Record<string, string>> {
  const state = new Map<string, string>();
  const applied = await client.plan.findMany({
    where: { source_id: sourceId, state: 'applied' },
    orderBy: { applied_at: 'asc' },
  });
  for (const { files, decision } of applied) {
    const texts = (files as unknown as StoredFile[]).map(({ text }) => text); // as this test has committed them
    const { changes } = decision as unknown as { readonly changes: readonly StoredChange[] }; // as the fleet stores them
    for (const { name, action } of changes) {
      if (action === 'delete') state.delete(name);
      else
        for (const text of texts) {
          const [, image] = /image_name: (\w+)/.exec(text) ?? [];
          if (text.includes(`name: ${name}\n`) && image !== undefined) state.set(name, image);
        }
    }
  }
  return Object.fromEntries([...state].sort());
}

describeWithGit('sources on a server that fails', () => {
  test(
    'nothing is changed or deleted that no applied plan lists',
    async () => {
      const source = await create(
        { a: 'one', b: 'one', c: 'one' },
        { mode: 'automatic', prune: 'automatic', max_deletions: 1 },
      );
      const rounds = fc.sample(round, { ...seeded(), numRuns: ROUNDS });
      let faults = 0;
      for (const each of rounds) {
        const isRewritten = each.commit.kind === 'rewritten';
        const before = { images: await images(), plans: await client.plan.count({ where: { state: 'applied' } }) };
        await git().commit({ branch: source.branch, files: filesOf(each), ...(isRewritten && { parents: [] }) });
        git().failWith(each.fault, each.skip);
        const failed = await check(source);
        git().failWith(undefined);
        if (failed.failure !== null && !failed.failure.includes('commit')) {
          faults += 1;
          expect({ images: await images(), plans: await client.plan.count({ where: { state: 'applied' } }) }).toEqual(
            before,
          );
        }
        const { failure } = await check(source);
        const now = await images();
        expect(now).toEqual(await folded(source.id));
        if (['emptied', 'invalid', 'rewritten'].includes(each.commit.kind))
          expect(Object.values(now)).not.toContain('evil');
        if (each.commit.kind === 'emptied') expect(failure).toContain('does not exist');
        if (each.commit.kind === 'invalid') expect(failure).toContain('deploy/a.yaml:1');
        if (each.commit.kind !== 'documents') await repair(source, before.images);
      }
      expect(faults).toBeGreaterThan(ROUNDS / 4);
      expect((await read(source.id)).enabled).toBe(true);
    },
    2 * LONG_TEST_MS, // every endless or slow response lasts until its time limit
  );
});

/** Continues the history of the commit that was applied last, with the documents of what runs. */
async function repair(
  source: { readonly id: string; readonly branch: string },
  running: Readonly<Record<string, string>>,
) {
  const { applied_commit } = await read(source.id);
  const files = Object.fromEntries(
    Object.entries(running).map(([name, image]) => [`deploy/${name}.yaml`, textOf(name, image)]),
  );
  await git().commit({ branch: source.branch, files, parents: [applied_commit ?? ''] });
  await check(source);
}
