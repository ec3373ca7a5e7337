import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  acceptChain,
  canonicalForm,
  coveredMembers,
  digestOf,
  type KeyState,
  readPublicKey,
  type TrustedPublisher,
  verifyTemplate,
} from '../src/index.ts';
import { outcomeOf } from './world.ts';

// The vectors are those of the specification of the format. Other programs replay them, too.

const chain = z.object({ transitions: z.array(z.string()).default([]), keyring: z.string() });
const vector = z.object({
  kind: z.literal('keyring').optional(),
  name: z.string(),
  template: z.string().default(''),
  keyring: z.string().nullable().default('first'),
  known: z.string().optional(),
  set: z.record(z.string(), z.unknown()).default({}),
  unset: z.array(z.string()).default([]),
  serial: z.int().optional(),
  now: z.string().optional(),
  require_digest: z.boolean().default(false),
  known_members: z.array(z.string()).default([]),
  memory: z.record(z.string(), z.object({ serial: z.int(), digest: z.string() })).default({}),
  owners: z.record(z.string(), z.string()).default({}),
  stored: z.record(z.string(), z.string()).optional(),
  expected: z.string(),
});
const file = z.object({
  now: z.string(),
  publishers: z.object({
    acme: z.object({
      publisher: z.string(),
      root: z.unknown(),
      images: z.array(z.string()),
      slugs: z.array(z.string()),
      secrets: z.array(z.string()),
    }),
  }),
  canonical: z.array(z.object({ value: z.unknown(), canonical: z.string(), sha256: z.string() })),
  keyrings: z.record(z.string(), chain),
  templates: z.record(z.string(), z.record(z.string(), z.unknown())),
  vectors: z.array(vector),
});

const all = file.parse(JSON.parse(readFileSync(new URL('fixtures/vectors.json', import.meta.url), 'utf8')));
const pinned: TrustedPublisher = {
  ...all.publishers.acme,
  root: await readPublicKey(all.publishers.acme.root),
};

const chainOf = (name: string): z.output<typeof chain> => {
  const found = all.keyrings[name];
  if (!found) throw new Error(`there is no keyring ${name}`);
  return found;
};

async function replayKeyring({ keyring, known }: z.output<typeof vector>): Promise<KeyState> {
  const now = { now: new Date(all.now) };
  const state = known === undefined ? pinned : await acceptChain(pinned, chainOf(known), now);
  return acceptChain(state, chainOf(keyring ?? ''), now);
}

/** The members that templates have since the vectors were written. */
const SINCE = ['files', 'entrypoint', 'working_dir', 'read_only_root', 'tmpfs'];

async function replayTemplate(given: z.output<typeof vector>): Promise<string> {
  const { keyring, template, set, unset, owners, memory, stored, known_members, require_digest } = given;
  const installed = { now: new Date(all.now) };
  const state = keyring === null ? pinned : await acceptChain(pinned, chainOf(keyring), installed);
  const { signatures, ...members } = Object.fromEntries(
    Object.entries({ ...all.templates[template], ...set }).filter(([member]) => !unset.includes(member)),
  );
  const remembered = Object.entries(memory).map(([key, { serial, digest }]) => {
    const [publisher = '', slug = '', kid = ''] = key.split('/');
    return { publisher, slug, kid, serial, content: digest };
  });
  const { serial, ignored } = await verifyTemplate(members, signatures, {
    publishers: [{ ...pinned, ...state }],
    now: new Date(given.now ?? all.now),
    history: stored ? undefined : { remembered, owner: owners[String(members.slug)] },
    kept: stored,
    requiresDigest: require_digest,
    known: [...coveredMembers.filter((name) => !SINCE.includes(name)), ...known_members],
  });
  expect(serial).toBe(given.serial);
  return ignored.length > 0 ? `accepted, ignored ${ignored.join(', ')}` : 'accepted';
}

const resultOf = async (given: z.output<typeof vector>): Promise<string> => {
  if (given.kind === 'keyring') return outcomeOf(replayKeyring(given));
  let result = '';
  const outcome = await outcomeOf(
    replayTemplate(given).then((text) => {
      result = text;
    }),
  );
  return outcome === 'accepted' ? result : outcome;
};

it('has the 59 vectors of templates and keyrings, and the three of the canonical form', () => {
  expect([all.vectors.length, all.canonical.length]).toEqual([59, 3]);
});

it.each(all.vectors.map((each) => [each.kind ?? 'template', each.name, each] as const))(
  'gives the expected result for the %s of the vector "%s"',
  async (_kind, _name, given) => {
    expect(await resultOf(given)).toBe(given.expected);
  },
);

it.each(all.canonical)('gives the expected canonical form and digest of $canonical', ({ value, canonical, sha256 }) => {
  expect([canonicalForm(value), digestOf(value)]).toEqual([canonical, sha256]);
});
