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

describe('while the issuer is not reachable', () => {
  test('keys are unavailable if none are cached', async () => {
    issuer.state.isDown = true;
    expect(await search('one')).toBe('unavailable');
    expect(keys.status()).toEqual({ wasReached: false, problem: expect.any(String) });
  });

  test('a hundred concurrent lookups cause one fetch, and those of the next two seconds another one', async () => {
    issuer.state.isDown = true;
    const searchAll = () => Promise.all(Array.from({ length: 100 }, () => search('one')));
    expect(new Set<Found>(await searchAll())).toEqual(new Set(['unavailable']));
    expect(issuer.refreshes()).toBe(1);
    clock += 1950; // the next fetch starts after 50 ms
    expect(new Set<Found>(await searchAll())).toEqual(new Set(['unavailable']));
    expect(issuer.refreshes()).toBe(2);
  });

  test('cached keys are used for a day', async () => {
    await search('one');
    issuer.state.isDown = true;
    for (clock = HOUR; clock <= 24 * HOUR; clock += HOUR) {
      expect(await search('one')).toBe('found');
      await settle();
    }
    expect(keys.status()).toEqual({ wasReached: true, problem: expect.any(String) });
  });

  test('cached keys are not used after a day', async () => {
    await search('one');
    issuer.state.isDown = true;
    clock = 24 * HOUR + 1;
    expect(await search('one')).toBe('unavailable');
  });

  test('an unknown key is unknown, not unavailable, while other keys are cached', async () => {
    await search('one');
    issuer.state.isDown = true;
    clock += 2000;
    expect(await search('two')).toBe('unknown');
  });

  test('the next lookup succeeds when the issuer is reachable again', async () => {
    issuer.state.isDown = true;
    await search('one');
    issuer.state.isDown = false;
    clock += 2000;
    expect(await search('one')).toBe('found');
    expect(keys.status()).toEqual({ wasReached: true, problem: undefined });
  });
});

describe('a response of the issuer is rejected if it is', () => {
  const DISCOVERY = `${ISSUER}/.well-known/openid-configuration`;
  const page = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

  test.each([
    ['a discovery document of another issuer', { issuer: 'https://evil.example.test', jwks_uri: `${ISSUER}/keys` }],
    ['a discovery document with a trailing slash in the issuer', { issuer: `${ISSUER}/`, jwks_uri: `${ISSUER}/keys` }],
    ['a discovery document without the URL of the keys', { issuer: ISSUER }],
    ['a discovery document with a relative URL of the keys', { issuer: ISSUER, jwks_uri: 'keys' }],
    ['a discovery document that is not JSON', '<html>'],
    ['a discovery document that is null', 'null'],
  ])('%s', async (_, document) => {
    issuer.pages.set(DISCOVERY, page(document));
    expect(await search('one')).toBe('unavailable');
    expect(issuer.requests).toEqual([DISCOVERY]);
  });

  test.each([
    ['a key set that is not JSON', '<html>'],
    ['an array instead of a key set', [one.jwk]],
    ['a key set whose keys are not an array', { keys: one.jwk }],
    ['a key set whose keys are not objects', { keys: ['one', null] }],
    ['a key set with a key without a type', { keys: [{ kid: 'one' }] }],
  ])('%s', async (_, set) => {
    issuer.pages.set(`${ISSUER}/keys`, page(set));
    expect(await search('one')).toBe('unavailable');
  });

  test('an error', async () => {
    issuer.pages.delete(`${ISSUER}/keys`);
    expect(await search('one')).toBe('unavailable');
  });

  test('a key set with an invalid key, but its other keys are used', async () => {
    issuer.publish([{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', kid: 'garbage', alg: 'ES256' }, one.jwk]);
    expect(await search('garbage')).toBe('unavailable');
    expect(await search('one')).toBe('found');
  });

  test('invalid while keys are cached, which remain in use', async () => {
    await search('one');
    issuer.pages.set(`${ISSUER}/keys`, 'garbage');
    clock += HOUR;
    expect(await search('one')).toBe('found');
    await settle();
    clock += 2000;
    expect(await search('one')).toBe('found');
    expect(keys.status()).toEqual({ wasReached: true, problem: expect.any(String) });
  });
});
