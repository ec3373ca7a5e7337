import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { acceptChain, acceptKeyring, inspectKeyring, MAX_TRANSITIONS, publicKeyOfPem, types } from '../src/index.ts';
import {
  accept,
  acme,
  first,
  fixedKey,
  good,
  inDays,
  keyring,
  NOW,
  nextRoot,
  outcomeOf,
  raw,
  root,
  sealed,
  second,
  signed,
  signKeyring,
  stranger,
  unknownKeyring,
  verify,
} from './world.ts';

const now = { now: NOW };
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const acceptedOf = (payload: object) => outcomeOf(accept(payload, acme));

describe('who signed a keyring', () => {
  it.each([
    ['a stranger', stranger, 'unknown_key'],
    ['a signing key', first, 'unknown_key'],
    ['a root that was not announced', nextRoot, 'unknown_key'],
    ['the root', root, 'accepted'],
  ])('decides about %s', async (_name, by, expected) => {
    expect(await outcomeOf(accept(keyring(9, [first.key]), acme, by))).toBe(expected);
  });

  it('refuses a statement, and a keyring with the typ of a statement', async () => {
    expect(await outcomeOf(acceptKeyring(acme, good.signatures[0], now))).toBe('signature_invalid');
    const other = await raw(keyring(9, [first.key]), root, types.template);
    expect(await outcomeOf(acceptKeyring(acme, other, now))).toBe('signature_invalid');
  });

  it('refuses another key with the identifier of the root', async () => {
    const forged = { ...stranger, key: { ...stranger.key, kid: root.key.kid } };
    expect(await outcomeOf(accept(keyring(9, [first.key]), acme, forged))).toBe('signature_invalid');
  });

  it('refuses a valid keyring of more than 256 KiB', async () => {
    expect(await acceptedOf(keyring(9, [first.key], { note: 'x'.repeat(200_000) }))).toBe('signature_invalid');
    expect(await acceptedOf(keyring(9, [first.key], { note: 'x'.repeat(100_000) }))).toBe('accepted');
  });
});

const keys32 = await Promise.all(Array.from({ length: 33 }, async (_, index) => (await fixedKey(100 + index)).key));

/** A key whose identifier is its thumbprint, so that only its other members are wrong. */
const withThumbprint = async (jwk: JsonWebKey, alg: string) => ({
  ...jwk,
  alg,
  kid: await calculateJwkThumbprint({ kty: 'OKP', ...jwk }),
});
const publicJwk = (pair: { readonly publicKey: KeyObject }) => pair.publicKey.export({ format: 'jwk' });
const x25519 = await withThumbprint(publicJwk(generateKeyPairSync('x25519')), 'Ed25519');
const p384 = await withThumbprint(publicJwk(generateKeyPairSync('ec', { namedCurve: 'P-384' })), 'ES256');
const edwards = { kty: 'OKP', crv: 'Ed25519', x: first.key.x };
const swapped = await withThumbprint(edwards, 'ES256');
const padded = await withThumbprint({ ...edwards, x: `${edwards.x}=` }, 'Ed25519');
const noPoint = await withThumbprint({ kty: 'EC', crv: 'P-256', x: second.key.x, y: second.key.x }, 'ES256');

describe('form of a keyring', () => {
  it.each<[string, object]>([
    ['version 0', { version: 0 }],
    ['a version that is text', { version: '5' }],
    ['a publisher that is no slug', { publisher: 'A b' }],
    ['the slug of another publisher', { publisher: 'zeta' }],
    ['no time', { expires_at: 'never' }],
    ['a time that is a number', { issued_at: 5 }],
    ['an expiry after ten years', { expires_at: inDays(3650) }],
    ['an expiry before its issue', { issued_at: inDays(20), expires_at: inDays(10) }],
    ['keys that are no list', { keys: {} }],
    ['33 keys', { keys: keys32 }],
    ['a key twice', { keys: [first.key, { ...first.key, revoked: true }] }],
    ['a kid that is not the thumbprint', { keys: [{ ...first.key, kid: stranger.key.kid }] }],
    ['a private key', { keys: [{ ...first.key, d: 'AA' }] }],
    ['an RSA key', { keys: [{ ...rsa, alg: 'RS256', kid: first.key.kid }] }],
    ['a key for an exchange of keys', { keys: [x25519] }],
    ['a key of another curve', { keys: [p384] }],
    ['a key with the algorithm of another type', { keys: [swapped] }],
    ['a key that is no point', { keys: [noPoint] }],
    ['a key that is not in its usual form', { keys: [padded] }],
    ['serial 0 as the last one', { keys: [{ ...first.key, last_serial: 0 }] }],
    ['text as the last serial', { keys: [{ ...first.key, last_serial: '5' }] }],
    ['text as a revocation', { keys: [{ ...first.key, revoked: 'yes' }] }],
    ['no as a revocation', { keys: [{ ...first.key, revoked: false }] }],
    ['a list of floors', { floors: [] }],
    ['a negative floor', { floors: { redis: -1 } }],
    ['a floor for what is no slug', { floors: { 'A B': 1 } }],
    ['a next root of an unsupported type', { next_root: { ...rsa, alg: 'RS256', kid: first.key.kid } }],
    ['a private next root', { next_root: { ...nextRoot.key, d: 'AA' } }],
  ])('refuses a keyring with %s', async (_name, changes) => {
    expect(await acceptedOf(keyring(9, [first.key], changes))).toBe('keyring_invalid');
  });

  it('accepts 32 keys, 400 days, and members that this version does not know', async () => {
    const changes = { keys: keys32.slice(1), expires_at: inDays(400), note: 'x' };
    expect(await acceptedOf(keyring(9, [], changes))).toBe('accepted');
  });

  it('names the wrong members', async () => {
    await expect(accept(keyring(9, [], { version: 0, floors: [] }), acme)).rejects.toThrow(
      'keyring_invalid: version, floors',
    );
  });
});

const revoked = await accept(keyring(3, [{ ...first.key, revoked: true }, second.key]), acme);

describe('version of a keyring', () => {
  it('refuses an older one, which would restore a revoked key', async () => {
    expect(await outcomeOf(accept(keyring(1, [first.key, second.key]), revoked))).toBe('keyring_rollback');
  });

  it('accepts the same one again, and refuses another one with its version', async () => {
    const same = keyring(3, [{ ...first.key, revoked: true }, second.key]);
    expect(await outcomeOf(accept(same, revoked))).toBe('accepted');
    expect(await outcomeOf(accept(keyring(3, [first.key, second.key]), revoked))).toBe('keyring_conflict');
    expect(await outcomeOf(accept({ ...same, note: 'x' }, revoked))).toBe('keyring_conflict');
  });

  it('refuses one that has expired', async () => {
    const old = { issued_at: inDays(-9), expires_at: inDays(0) };
    expect(await acceptedOf(keyring(9, [first.key], old))).toBe('keyring_expired');
  });
});

const announcement = keyring(5, [second.key], { next_root: nextRoot.key });
const announcing = await sealed(announcement);
const announced = await accept(announcement, acme);
const newest = await sealed(keyring(6, [second.key]), nextRoot);
const moved = await acceptKeyring(announced, newest, now);
const expired = await sealed(
  keyring(5, [second.key], { issued_at: inDays(-90), expires_at: inDays(-1), next_root: nextRoot.key }),
);

describe('rotation of the root', () => {
  it('lets the announced root sign the next keyring, and no longer the old one', async () => {
    const template = await signed({}, { key: second });
    expect(await outcomeOf(verify(template, { trust: { ...unknownKeyring, ...moved } }))).toBe('accepted');
    expect(moved.root).toEqual(nextRoot.key);
    expect(await outcomeOf(accept(keyring(7, [stranger.key]), moved))).toBe('unknown_key');
  });

  it('lets the old root sign until the announced one has signed', async () => {
    expect(await outcomeOf(accept(keyring(6, [second.key], { next_root: nextRoot.key }), announced))).toBe('accepted');
  });

  it('withdraws an announcement with the next keyring', async () => {
    const withdrawn = await accept(keyring(6, [second.key]), announced);
    expect(await outcomeOf(accept(keyring(7, [second.key]), withdrawn, nextRoot))).toBe('unknown_key');
  });

  it('follows announcements that a fleet has missed, also expired ones', async () => {
    const state = await acceptChain(acme, { transitions: [expired], keyring: newest }, now);
    expect([state.root.kid, state.keyring?.version]).toEqual([nextRoot.key.kid, 6]);
  });

  it('does not accept an expired announcement as the keyring itself', async () => {
    expect(await outcomeOf(acceptChain(acme, { transitions: [], keyring: expired }, now))).toBe('keyring_expired');
  });

  it('skips announcements of strangers, and those from before', async () => {
    const foreign = await sealed(keyring(5, [stranger.key], { next_root: stranger.key }), stranger);
    const evil = { transitions: [foreign], keyring: await sealed(keyring(6, [stranger.key]), stranger) };
    expect(await outcomeOf(acceptChain(acme, evil, now))).toBe('unknown_key');
    const again = await acceptChain(moved, { transitions: [announcing, 'x'], keyring: newest }, now);
    expect(again.root.kid).toBe(nextRoot.key.kid);
  });

  it(`applies at most ${MAX_TRANSITIONS} announcements`, async () => {
    const chain = (before: number) => ({ transitions: [...Array(before).fill('x'), expired], keyring: newest });
    expect(await outcomeOf(acceptChain(acme, chain(MAX_TRANSITIONS - 1), now))).toBe('accepted');
    expect(await outcomeOf(acceptChain(acme, chain(MAX_TRANSITIONS), now))).toBe('unknown_key');
  });
});

describe('keyrings that are kept for others', () => {
  it('reads a keyring without a root, also an expired one, and does not verify it', async () => {
    const jws = await sealed(keyring(4, [first.key], { expires_at: inDays(1), floors: { redis: 2 } }), stranger);
    expect(await inspectKeyring(jws)).toMatchObject({
      kid: stranger.key.kid,
      keyring: { publisher: 'acme', version: 4, floors: { redis: 2 } },
    });
    const forged = `${jws.slice(0, -10)}AAAAAAAAAA`;
    expect((await inspectKeyring(forged)).keyring.version).toBe(4);
    expect(await outcomeOf(inspectKeyring('x'))).toBe('signature_invalid');
    expect(await outcomeOf(inspectKeyring(await sealed(keyring(0, []))))).toBe('keyring_invalid');
  });

  it('does not sign a keyring that nobody would accept', async () => {
    const valid = { ...keyring(4, []), keys: [first.key] };
    expect(await outcomeOf(signKeyring(valid, root))).toBe('accepted');
    expect(await outcomeOf(signKeyring({ ...valid, version: 0 }, root))).toBe('keyring_invalid');
  });
});

describe('keys in PEM', () => {
  it('reads the public key of a private and of a public key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const own = await publicKeyOfPem(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(own).toEqual(await publicKeyOfPem(publicKey.export({ type: 'spki', format: 'pem' })));
    expect(await acceptedOf(keyring(9, [own]))).toBe('accepted');
  });

  it('refuses other keys, and other text', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });
    await expect(publicKeyOfPem(other)).rejects.toThrow('must be an Ed25519 or a P-256 key');
    await expect(publicKeyOfPem('x')).rejects.toThrow('one key in PEM');
  });
});
