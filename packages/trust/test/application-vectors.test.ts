import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { acceptChain, applications, readPublicKey, verifyTemplate } from '../src/index.ts';
import { outcomeOf } from './world.ts';

// `fixtures/write-application-vectors.ts` writes the file. Other programs replay it, too.

const vector = z.strictObject({
  name: z.string(),
  set: z.record(z.string(), z.unknown()).default({}),
  unset: z.array(z.string()).default([]),
  require_digest: z.boolean().default(false),
  memory: z
    .array(z.object({ publisher: z.string(), slug: z.string(), kid: z.string(), serial: z.int(), content: z.string() }))
    .default([]),
  owner: z.string().optional(),
  expected: z.string(),
});
const file = z.object({
  now: z.string(),
  publisher: z.object({
    publisher: z.string(),
    root: z.unknown(),
    images: z.array(z.string()),
    slugs: z.array(z.string()),
    secrets: z.array(z.string()),
  }),
  keyring: z.string(),
  application: z.record(z.string(), z.unknown()),
  vectors: z.array(vector),
});

const all = file.parse(JSON.parse(readFileSync(new URL('fixtures/application-vectors.json', import.meta.url), 'utf8')));
const now = new Date(all.now);
const pinned = { ...all.publisher, root: await readPublicKey(all.publisher.root) };
const state = await acceptChain(pinned, { transitions: [], keyring: all.keyring }, { now });

async function replay({ set, unset, require_digest, memory, owner }: z.output<typeof vector>): Promise<string> {
  const { signatures, ...members } = Object.fromEntries(
    Object.entries({ ...all.application, ...set }).filter(([member]) => !unset.includes(member)),
  );
  const { ignored } = await verifyTemplate(members, signatures, {
    publishers: [{ ...pinned, ...state }],
    now,
    history: { remembered: memory, owner },
    requiresDigest: require_digest,
    kind: applications,
  });
  return ignored.length > 0 ? `accepted, ignored ${ignored.join(', ')}` : 'accepted';
}

it('has the 36 vectors', () => {
  expect(all.vectors).toHaveLength(36);
});

it.each(all.vectors.map((each) => [each.name, each] as const))(
  'gives the expected result for the vector "%s"',
  async (_name, given) => {
    let result = '';
    const outcome = await outcomeOf(
      replay(given).then((text) => {
        result = text;
      }),
    );
    expect(outcome === 'accepted' ? result : outcome).toBe(given.expected);
  },
);
