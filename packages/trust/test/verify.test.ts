import { createHmac } from 'node:crypto';
import { templateDefaults } from '@svc/contract';
import {
  changedMembers,
  coveredMembers,
  digestsOf,
  type History,
  inspectSignature,
  type Members,
  readSignature,
  type TrustedPublisher,
  types,
} from '../src/index.ts';
import {
  accept,
  acme,
  content,
  first,
  good,
  keyring,
  NOW,
  nextRoot,
  outcomeOf,
  raw,
  second,
  signed,
  stranger,
  unknownKeyring,
  verify,
  withKeyring,
} from './world.ts';

const [goodSignature] = good.signatures;
const statement = {
  content: digestsOf(content, coveredMembers),
  issued_at: NOW.toISOString(),
  publisher: 'acme',
  serial: 5,
  slug: 'redis',
};
const withMembers = (changes: Members) => ({ members: { ...content, ...changes }, signatures: good.signatures });
const withSignatures = (...signatures: readonly unknown[]) => ({ members: content, signatures });
/** A signature of the right key over any payload. */
const over = async (payload: object | string, header: object = {}, typ: string = types.template) =>
  withSignatures(await raw(payload, first, typ, header));
/** The content of a statement without some members. */
const uncovering = async (members: Members, ...names: readonly string[]) => ({
  members,
  signatures: [
    await raw(
      {
        ...statement,
        content: digestsOf(
          members,
          coveredMembers.filter((name) => !names.includes(name)),
        ),
      },
      first,
      types.template,
    ),
  ],
});

const tag = (image_tag: string, serial: number, key = first) => signed({ image_tag }, { serial, key });
/** What a fleet remembers after it has seen the templates in this order. */
const remembering = async (...seen: readonly Awaited<ReturnType<typeof tag>>[]): Promise<History> => {
  const remembered = [];
  for (const each of seen) remembered.push((await verify(each)).remember);
  return { remembered, owner: 'acme' };
};
const six = await tag('8.4', 6);
const history = await remembering(good, six);

const ofAnother = await raw({ ...statement, slug: 'debug-shell' }, first, types.template);
const ofNothing = await raw('[]', first, types.template);
const withoutType = await raw(statement, first, 'JWT');

describe('content', () => {
  it.each([
    ['an Ed25519 key', first],
    ['a P-256 key', second],
  ])('accepts a template that was signed with %s', async (_name, key) => {
    const result = await verify(await signed({}, { key }));
    expect(result).toMatchObject({ publisher: 'acme', kid: key.key.kid, serial: 5, ignored: [] });
    expect(result.digests).toEqual(statement.content);
  });

  it('accepts the members in another order', async () => {
    const members = Object.fromEntries(Object.entries(content).reverse());
    expect(await outcomeOf(verify({ members, signatures: good.signatures }))).toBe('accepted');
  });

  it.each([
    ['a member with half of a surrogate pair', { description: '\ud800' }],
    ['a number that is not finite', { gpu_count: Number.NaN }],
    ['another letter in a nested value', { env: [{ name: 'MODE', value: '2' }] }],
    ['a new nested member', { ports: [{ containerPort: 6379, protocol: 'TCP', hostPort: 22 }] }],
    ['an image name with a letter of another alphabet', { image_name: 'rеdis' }],
  ])('refuses %s', async (_name, changes) => {
    expect(await outcomeOf(verify(withMembers(changes)))).toBe('content_changed');
  });

  it('names the members that differ', async () => {
    await expect(verify(withMembers({ command: ['x'], image_tag: '9' }))).rejects.toThrow(
      'content_changed: command, image_tag',
    );
  });

  it('accepts a member that the signature does not cover at its default, and refuses another value', async () => {
    expect(await outcomeOf(verify(await uncovering(content, 'command')))).toBe('accepted');
    const { signatures } = await uncovering(content, 'command');
    const changed = { members: { ...content, command: ['sh', '-c', 'evil'] }, signatures };
    await expect(verify(changed)).rejects.toThrow('uncovered_member: command');
    expect(await outcomeOf(verify(await uncovering({ ...content, documentation: 'x' }, 'documentation')))).toBe(
      'uncovered_member',
    );
  });

  it('refuses an empty list as a statement because of its form', async () => {
    await expect(verify(await over('[]'))).rejects.toThrow('signature_invalid: the payload is no object');
  });

  it.each(['name', 'slug'])('refuses a signature that does not cover %s', async (name) => {
    expect(await outcomeOf(verify(await uncovering(content, name)))).toBe('uncovered_member');
    const { [name]: _left, ...members } = content;
    expect(await outcomeOf(verify(await uncovering(members, name)))).toBe('uncovered_member');
  });

  it('refuses a member that only this reader knows, unless it is absent', async () => {
    const known = [...coveredMembers, 'privileged'];
    expect(await outcomeOf(verify(good, { known }))).toBe('accepted');
    expect(await outcomeOf(verify(withMembers({ privileged: true }), { known }))).toBe('uncovered_member');
  });

  it('reports signed members that this reader does not know, and compares them', async () => {
    const members = { ...content, seccomp_profile: true };
    const signature = await raw(
      { ...statement, content: digestsOf(members, [...coveredMembers, 'seccomp_profile']) },
      first,
      types.template,
    );
    expect((await verify({ members, signatures: [signature] })).ignored).toEqual(['seccomp_profile']);
    for (const changes of [{ seccomp_profile: false }, {}]) {
      const other = { members: { ...content, ...changes }, signatures: [signature] };
      await expect(verify(other)).rejects.toThrow('content_changed: seccomp_profile');
    }
  });

  it('does not take inherited members for members of a template', async () => {
    const named = { ...statement, content: { ...statement.content, constructor: statement.content.name } };
    await expect(verify(await over(named))).rejects.toThrow('content_changed: constructor');
  });

  it('refuses a statement about another slug', async () => {
    expect(await outcomeOf(verify(await over({ ...statement, slug: 'debug-shell' })))).toBe('other_template');
  });
});

describe('signatures', () => {
  it.each([
    ['no list', undefined],
    ['an empty list', []],
    ['text instead of a list', goodSignature],
  ])('reports %s as unsigned', async (_name, signatures) => {
    // The hub can send anything.
    expect(await outcomeOf(verify({ members: content, signatures: signatures as unknown[] }))).toBe('unsigned');
  });

  it.each([
    ['nine signatures', Array(9).fill(goodSignature)],
    ['a signature of a megabyte', ['a'.repeat(1_000_000)]],
    ['signatures that are no text', [5, null, {}]],
    ['a malformed signature', ['x.y.z']],
    ['a shortened signature', [String(goodSignature).slice(0, -4)]],
  ])('refuses %s', async (_name, signatures) => {
    expect(await outcomeOf(verify(withSignatures(...signatures)))).toBe('signature_invalid');
  });

  it.each([[5], [null], [{ protected: 'e30' }]])('refuses %j, which is no text', async (signature) => {
    await expect(verify(withSignatures(signature))).rejects.toThrow('signature_invalid: is not text');
  });

  it('refuses a valid signature of more than 16 KiB', async () => {
    expect(await outcomeOf(verify(await over({ ...statement, note: 'x'.repeat(13_000) })))).toBe('signature_invalid');
  });

  it('uses the first valid signature, and otherwise the reason of the first one with a known key', async () => {
    expect(await outcomeOf(verify(withSignatures('x.y.z', goodSignature)))).toBe('accepted');
    const [unknown] = (await signed({}, { key: stranger })).signatures;
    expect(await outcomeOf(verify(withSignatures(unknown)))).toBe('unknown_key');
    expect(await outcomeOf(verify(withSignatures(unknown, 'x.y.z')))).toBe('signature_invalid');
  });

  it('does not hide an error that is no refusal behind a later signature', async () => {
    let reads = 0;
    const broken = Object.defineProperty({ ...content }, 'slug', {
      get: () => {
        reads += 1;
        if (reads === 1) throw new RangeError('broken');
        return 'redis';
      },
      enumerable: true,
    });
    const signatures = [goodSignature, goodSignature];
    await expect(verify({ members: broken, signatures })).rejects.toThrow(RangeError);
  });

  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [, payload = ''] = String(goodSignature).split('.');
  const headerWith = (alg: string) => encoded({ alg, kid: first.key.kid, typ: types.template });

  it('refuses a token without a signature', async () => {
    expect(await outcomeOf(verify(withSignatures(`${headerWith('none')}.${payload}.`)))).toBe('signature_invalid');
  });

  it('refuses a code that was made with the public key as a secret', async () => {
    const body = `${headerWith('HS256')}.${payload}`;
    const code = createHmac('sha256', Buffer.from(first.key.x, 'base64url')).update(body).digest('base64url');
    expect(await outcomeOf(verify(withSignatures(`${body}.${code}`)))).toBe('signature_invalid');
  });

  it.each([
    ['jwk', first.key],
    ['jku', 'https://evil.example/keys'],
    ['x5u', 'https://evil.example/certificate'],
    ['x5c', ['AA']],
    ['note', 'x'],
    ['crit', ['exp']],
  ])('refuses a signature of the right key with %s in its header', async (name, value) => {
    expect(await outcomeOf(verify(await over(statement, { [name]: value })))).toBe('signature_invalid');
  });

  it.each(['JWT', types.keyring])('refuses a signature of the right key with the typ %s', async (typ) => {
    expect(await outcomeOf(verify(await over(statement, {}, typ)))).toBe('signature_invalid');
  });

  it.each(['EdDSA', 'ES256', 5])('refuses a signature of an Ed25519 key with the algorithm %s', async (alg) => {
    expect(await outcomeOf(verify(await over(statement, { alg })))).toBe('signature_invalid');
  });

  it('refuses another key with the identifier of a known one', async () => {
    const forged = { ...stranger, key: { ...stranger.key, kid: first.key.kid } };
    expect(await outcomeOf(verify(withSignatures(await raw(statement, forged, types.template))))).toBe(
      'signature_invalid',
    );
  });
});

describe('statements', () => {
  const text = JSON.stringify(statement);
  it.each([
    ['that is indented', JSON.stringify(statement, null, 1)],
    ['with a member twice', `{"serial":99,${text.slice(1)}`],
    ['that is a list', '[]'],
    ['that is text', '"x"'],
    ['that is null', 'null'],
    ['that is no JSON', 'x'],
    ['with a byte order mark', `\ufeff${text}`],
  ])('refuses a statement %s', async (_name, payload) => {
    expect(await outcomeOf(verify(await over(payload)))).toBe('signature_invalid');
  });

  const { name: digest } = statement.content;
  it.each([
    ['content', undefined],
    ['content', []],
    ['content', { ...statement.content, name: 'x' }],
    ['content', { ...statement.content, 'A b': digest }],
    ['serial', 0],
    ['serial', -1],
    ['serial', 1.5],
    ['serial', '5'],
    ['serial', null],
    ['serial', 2 ** 53],
    ['issued_at', 'yesterday'],
    ['issued_at', '2026-02-30T00:00:00Z'],
    ['publisher', 5],
    ['slug', null],
  ])('refuses a statement whose %s is %j', async (member, value) => {
    const changed = JSON.parse(JSON.stringify({ ...statement, [member]: value }));
    expect(await outcomeOf(verify(await over(changed)))).toBe('signature_invalid');
  });

  it('refuses a statement in the name of another publisher', async () => {
    const zeta: TrustedPublisher = {
      ...unknownKeyring,
      ...(await accept(
        { ...keyring(1, [stranger.key]), publisher: 'zeta' },
        { publisher: 'zeta', root: nextRoot.key },
        nextRoot,
      )),
    };
    expect(await outcomeOf(verify(await signed({}, { publisher: 'zeta' })))).toBe('signature_invalid');
    const publishers = [acme, zeta];
    expect(await outcomeOf(verify(await signed({}, { key: stranger }), { publishers }))).toBe('signature_invalid');
  });

  it('uses the keyring of the publisher that the statement names, if several list its key', async () => {
    const copycat: TrustedPublisher = {
      ...unknownKeyring,
      ...(await accept(
        { ...keyring(1, [{ ...first.key, revoked: true }]), publisher: 'zeta' },
        { publisher: 'zeta', root: nextRoot.key },
        nextRoot,
      )),
    };
    expect(await outcomeOf(verify(good, { publishers: [copycat, acme] }))).toBe('accepted');
  });
});

describe('scope', () => {
  it.each([
    ['another registry', { registry_url: 'ghcr.io', image_name: 'someone/miner' }, 'image_out_of_scope'],
    ['a name that begins like the pattern', { image_name: 'libraryx/redis' }, 'image_out_of_scope'],
    ['an alias of Docker Hub', { registry_url: 'Index.Docker.IO' }, 'accepted'],
    ['another slug', { slug: 'postgres' }, 'slug_out_of_scope'],
    ['a slug that matches a pattern', { slug: 'debug-shell' }, 'accepted'],
    ['another secret', { secret_refs: [{ name: 'corp-pull', env: 'P' }] }, 'secret_out_of_scope'],
    ['another pull secret', { registry_credentials: 'corp-pull' }, 'secret_out_of_scope'],
    ['a pull secret that matches a pattern', { registry_credentials: 'acme-pull' }, 'accepted'],
    ['an image of unknown form', { image_name: ['redis'] }, 'image_out_of_scope'],
    ['secrets of unknown form', { secret_refs: { name: 'corp-pull' } }, 'secret_out_of_scope'],
  ])('decides about %s', async (_name, changes, expected) => {
    expect(await outcomeOf(verify(await signed(changes)))).toBe(expected);
  });

  it('admits no secret without a pattern', async () => {
    expect(await outcomeOf(verify(good, { trust: { ...acme, secrets: [] } }))).toBe('secret_out_of_scope');
  });

  it.each([
    ['a digest', {}, 'accepted'],
    ['no digest', { image_digest: null }, 'image_not_pinned'],
    ['a malformed digest', { image_digest: 'sha256:abc' }, 'image_not_pinned'],
    ['a digest of unknown form', { image_digest: 5 }, 'image_not_pinned'],
  ])('decides about %s if an image must be named by digest', async (_name, changes, expected) => {
    expect(await outcomeOf(verify(await signed(changes), { requiresDigest: true }))).toBe(expected);
    expect(await outcomeOf(verify(await signed(changes)))).toBe('accepted');
  });
});

describe('keys', () => {
  it('refuses a keyring that has expired, at that moment', async () => {
    const expiry = new Date(acme.keyring?.expires_at ?? '');
    expect(await outcomeOf(verify(good, { now: new Date(expiry.getTime() - 1) }))).toBe('accepted');
    expect(await outcomeOf(verify(good, { now: expiry }))).toBe('keyring_expired');
  });

  it('accepts what a retired key signed before', async () => {
    const trust = await withKeyring([{ ...first.key, last_serial: 5 }, second.key]);
    expect(await outcomeOf(verify(good, { trust }))).toBe('accepted');
    expect(await outcomeOf(verify(await signed({}, { serial: 6 }), { trust }))).toBe('key_retired');
    expect(await outcomeOf(verify(await signed({}, { serial: 6, key: second }), { trust }))).toBe('accepted');
  });

  it('refuses everything that a revoked key signed, and accepts a second signature', async () => {
    const trust = await withKeyring([{ ...first.key, revoked: true }, second.key]);
    expect(await outcomeOf(verify(good, { trust }))).toBe('key_revoked');
    const [other] = (await signed({}, { key: second })).signatures;
    expect(await verify(withSignatures(goodSignature, other), { trust })).toMatchObject({ kid: second.key.kid });
  });

  it('distinguishes a missing keyring from an unknown key', async () => {
    expect(await outcomeOf(verify(good, { trust: unknownKeyring }))).toBe('keyring_missing');
    expect(await outcomeOf(verify(withSignatures('x.y.z'), { trust: unknownKeyring }))).toBe('signature_invalid');
    const publishers = [{ ...unknownKeyring, publisher: 'zeta' }, acme];
    expect(await outcomeOf(verify(good, { publishers }))).toBe('accepted');
    expect(await outcomeOf(verify(good, { publishers: [] }))).toBe('unknown_key');
  });

  it('refuses serials that the keyring withdraws, also of a stored revision', async () => {
    const trust = await withKeyring([first.key, second.key], { floors: { redis: 6, constructor: 9 } });
    expect(await outcomeOf(verify(good, { trust }))).toBe('revision_withdrawn');
    expect(await outcomeOf(verify(good, { trust, kept: {} }))).toBe('revision_withdrawn');
    expect(await outcomeOf(verify(await signed({}, { serial: 6 }), { trust }))).toBe('accepted');
    const others = { ...trust, slugs: ['*'] };
    expect(await outcomeOf(verify(await signed({ slug: 'valueof' }), { trust: others }))).toBe('accepted');
  });
});

describe('history', () => {
  it('accepts the newest serial again, and a later one', async () => {
    expect(await outcomeOf(verify(six, { history }))).toBe('accepted');
    expect(await outcomeOf(verify(await tag('8.5', 7), { history }))).toBe('accepted');
  });

  it.each([
    ['the same key', first],
    ['another key', second],
  ])('refuses an older serial, and other content with the same one, of %s', async (_name, key) => {
    expect(await outcomeOf(verify(await tag('8.2', 5, key), { history }))).toBe('rollback');
    expect(await outcomeOf(verify(await tag('8.3', 6, key), { history }))).toBe('equivocation');
    expect(await outcomeOf(verify(await tag('8.4', 6, key), { history }))).toBe('accepted');
  });

  it('compares with the same slug of the same publisher only', async () => {
    const [, last] = history.remembered;
    for (const other of [{ slug: 'debug-shell' }, { publisher: 'zeta' }]) {
      const remembered = last ? [{ ...last, ...other }] : [];
      expect(await outcomeOf(verify(good, { history: { remembered, owner: 'acme' } }))).toBe('accepted');
    }
  });

  it('does not compare a stored revision, and uses the digests of members that it does not keep', async () => {
    const { documentation: _left, ...members } = content;
    const { documentation = '' } = statement.content;
    const stored = { members, signatures: good.signatures };
    expect(await outcomeOf(verify(stored, { kept: { documentation } }))).toBe('accepted');
    expect(await outcomeOf(verify(stored))).toBe('content_changed');
    const changed = { ...stored, members: { ...members, command: ['x'] } };
    expect(
      await outcomeOf(verify(changed, { kept: { documentation, command: statement.content.command ?? '' } })),
    ).toBe('content_changed');
  });

  it('does not let a stolen key block later serials after its revocation', async () => {
    const blocked = await remembering(await tag('9', Number.MAX_SAFE_INTEGER));
    const next = await tag('8.5', 6, second);
    expect(await outcomeOf(verify(next, { history: blocked }))).toBe('rollback');
    const trust = await withKeyring([{ ...first.key, revoked: true }, second.key]);
    expect(await outcomeOf(verify(next, { history: blocked, trust }))).toBe('accepted');
    expect(await outcomeOf(verify(next, { history: blocked, trust: await withKeyring([second.key]) }))).toBe(
      'accepted',
    );
  });

  it('refuses another publisher of a slug', async () => {
    expect(await outcomeOf(verify(good, { history: { remembered: [], owner: 'zeta' } }))).toBe('publisher_changed');
    expect(await outcomeOf(verify(good, { history: { remembered: [], owner: undefined } }))).toBe('accepted');
  });
});

describe('signatures without a key', () => {
  it('shows what a signature is about, also one of a stranger', async () => {
    const [signature] = (await signed({}, { key: stranger })).signatures;
    const { kid, statement: found } = inspectSignature(content, signature);
    expect([kid, found]).toEqual([stranger.key.kid, statement]);
    expect(readSignature(signature)).toEqual({ kid, statement: found });
  });

  it.each([
    ['content_changed: command', { ...content, command: ['x'] }, goodSignature],
    ['other_template', content, ofAnother],
    ['signature_invalid', content, ofNothing],
    ['signature_invalid', content, withoutType],
    ['signature_invalid', content, `${String(goodSignature).split('.')[0]}._w.x`],
    ['signature_invalid', content, 5],
  ])('refuses with %s what a hub must not store', (expected, members, signature) => {
    expect(() => inspectSignature(members, signature)).toThrow(expected);
  });

  it('names the covered members in which templates differ', () => {
    const other = { ...content, image_tag: '9', tags: ['other'], description: undefined };
    expect(changedMembers(content, other)).toEqual(['description', 'image_tag']);
    expect(changedMembers({ name: 'A', slug: 'a' }, { ...templateDefaults, name: 'A', slug: 'a' })).toEqual([]);
  });
});
