import { beforeEach, describe, expect, test } from '@jest/globals';
import { createKeySource, type KeySource } from '../src/index.ts';
import { aKey, anIssuer, type Found, find, ISSUER, settle } from './issuer.ts';

const HOUR = 3_600_000;

const one = await aKey('one');

let issuer: ReturnType<typeof anIssuer>;
let keys: KeySource;
let clock: number;

beforeEach(() => {
  issuer = anIssuer([one.jwk]);
  clock = 0;
  keys = createKeySource({ issuer: ISSUER, send: issuer.send, now: () => clock });
});

const search = (kid: string) => find(keys, kid);

describe('while the issuer is away', () => {
  test('without known keys there are none', async () => {
    issuer.state.isAway = true;
    expect(await search('one')).toBe('unavailable');
    expect(keys.failing()).toBe(true);
  });

  test('it is not asked more than twice in half a minute', async () => {
    issuer.state.isAway = true;
    const found: Found[] = [];
    for (let index = 0; index < 100; index++) found.push(await search('one'));
    expect(new Set(found)).toEqual(new Set(['unavailable']));
    expect(issuer.refreshes()).toBe(2);
  });

  test('known keys go on for a day', async () => {
    await search('one');
    issuer.state.isAway = true;
    for (clock = HOUR; clock <= 24 * HOUR; clock += HOUR) {
      expect(await search('one')).toBe('found');
      await settle();
    }
    expect(keys.failing()).toBe(true);
  });

  test('known keys do not go on for longer than a day', async () => {
    await search('one');
    issuer.state.isAway = true;
    clock = 24 * HOUR + 1;
    expect(await search('one')).toBe('unavailable');
  });

  test('an unknown key is unknown, not unavailable, as long as others are known', async () => {
    await search('one');
    issuer.state.isAway = true;
    expect(await search('two')).toBe('unknown');
  });

  test('its return is noticed, and all is well again', async () => {
    issuer.state.isAway = true;
    await search('one');
    issuer.state.isAway = false;
    expect(await search('one')).toBe('found');
    expect(keys.failing()).toBe(false);
  });
});

describe('refused is', () => {
  const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
  const page = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

  test.each([
    ['the discovery document of another issuer', { issuer: 'https://evil.example.test', jwks_uri: `${ISSUER}/keys` }],
    ['one that differs in a slash', { issuer: `${ISSUER}/`, jwks_uri: `${ISSUER}/keys` }],
    ['one without an address of keys', { issuer: ISSUER }],
    ['one whose address of keys is none', { issuer: ISSUER, jwks_uri: 'keys' }],
    ['one that is no JSON', '<html>'],
    ['one that is null', 'null'],
  ])('%s', async (_, document) => {
    issuer.pages.set(DISCOVERY, page(document));
    expect(await search('one')).toBe('unavailable');
    expect(issuer.visits).toEqual([DISCOVERY]);
  });

  test.each([
    ['a set of keys that is no JSON', '<html>'],
    ['a list in its place', [one.jwk]],
    ['keys that are no list', { keys: one.jwk }],
    ['keys that are no objects', { keys: ['one', null] }],
    ['a key without a type', { keys: [{ kid: 'one' }] }],
  ])('%s', async (_, set) => {
    issuer.pages.set(`${ISSUER}/keys`, page(set));
    expect(await search('one')).toBe('unavailable');
  });

  test('an answer that is no success', async () => {
    issuer.pages.delete(`${ISSUER}/keys`);
    expect(await search('one')).toBe('unavailable');
  });

  test('a key that can’t be read, while the others go on', async () => {
    issuer.publish([{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'garbage', alg: 'ES256' }, one.jwk]);
    expect(await search('garbage')).toBe('unavailable');
    expect(await search('one')).toBe('found');
  });

  test('garbage in place of keys that are known: they go on', async () => {
    await search('one');
    issuer.pages.set(`${ISSUER}/keys`, 'garbage');
    clock += HOUR;
    expect(await search('one')).toBe('found');
    await settle();
    expect(await search('one')).toBe('found');
    expect(keys.failing()).toBe(true);
  });
});
