import { beforeEach, describe, expect, test } from '@jest/globals';
import { errors } from 'jose';
import { createKeySource, type KeySource } from '../src/index.ts';
import { aKey, anIssuer, find, ISSUER, settle } from './issuer.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const [one, two] = await Promise.all([aKey('one'), aKey('two')]);

let issuer: ReturnType<typeof anIssuer>;
let keys: KeySource;
let clock: number;

beforeEach(() => {
  issuer = anIssuer([one.jwk]);
  clock = 0;
  keys = createKeySource({ issuer: ISSUER, send: issuer.send, now: () => clock });
});

const search = (kid: string) => find(keys, kid);

describe('the keys of an issuer', () => {
  test('are found with its discovery document', async () => {
    expect(await search('one')).toBe('found');
    expect(issuer.requests).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
  });

  test('of an issuer with a trailing slash are found at the same URL', async () => {
    issuer.pages.set(
      `${ISSUER}/.well-known/openid-configuration`,
      JSON.stringify({ issuer: `${ISSUER}/`, jwks_uri: `${ISSUER}/keys` }),
    );
    keys = createKeySource({ issuer: `${ISSUER}/`, send: issuer.send });
    expect(await search('one')).toBe('found');
  });

  test('are not fetched before the first lookup', () => {
    expect(issuer.requests).toEqual([]);
  });

  test('are fetched once for a hundred concurrent lookups', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, () => search('one')));
    expect(new Set(found)).toEqual(new Set(['found']));
    expect(issuer.refreshes()).toBe(1);
  });

  test('are not fetched again while they are fresh', async () => {
    await search('one');
    clock += 10 * MINUTE;
    await search('one');
    await settle();
    expect(issuer.refreshes()).toBe(1);
  });

  test('are refreshed before their use when they are no longer fresh', async () => {
    await search('one');
    clock += 10 * MINUTE + 1;
    expect(await search('one')).toBe('found');
    expect(issuer.refreshes()).toBe(2);
  });

  test('are used for a token without a key id only if there is one key', async () => {
    const withoutId = async () => keys.keyFor({ alg: 'ES256' }, { payload: '', signature: '' });
    expect(await withoutId()).toBeDefined();
    issuer.publish([one.jwk, two.jwk]);
    clock += 10 * MINUTE + 1;
    await expect(withoutId()).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
  });
});

describe('unknown key ids', () => {
  test('cause a fetch every two seconds for sequential lookups', async () => {
    for (let index = 0; index < 10; index++) {
      expect(await search(`unknown-${index}`)).toBe('unknown');
      clock += 2 * SECOND;
    }
    expect(issuer.refreshes()).toBe(10);
  });

  test('within two seconds wait for the next fetch, which finds a new key', async () => {
    clock = 1_000_000;
    keys = createKeySource({ issuer: ISSUER, send: issuer.send, now: () => clock });
    for (const kid of ['unknown-1', 'unknown-2', 'unknown-3']) {
      await search(kid);
      clock += 2 * SECOND;
    }
    await search('unknown-4');
    clock += 2 * SECOND - 50; // the next fetch starts after 50 ms
    issuer.publish([one.jwk, two.jwk]);
    const others = Array.from({ length: 100 }, (_, index) => search(`unknown-${index}`));
    expect(await search('two')).toBe('found');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['unknown']));
    expect(issuer.refreshes()).toBe(5);
  });

  test('cause one fetch for a thousand concurrent lookups', async () => {
    const found = await Promise.all(Array.from({ length: 1000 }, (_, index) => search(`unknown-${index}`)));
    expect(new Set(found)).toEqual(new Set(['unknown']));
    expect(issuer.refreshes()).toBe(1);
  });

  test('do not affect lookups of known keys', async () => {
    await search('unknown');
    expect(await search('one')).toBe('found');
    expect(issuer.refreshes()).toBe(1);
  });
});

describe('when keys change', () => {
  test('a new key is found at its first use', async () => {
    await search('one');
    issuer.publish([one.jwk, two.jwk]);
    clock += 2 * SECOND;
    expect(await search('two')).toBe('found');
    expect(issuer.refreshes()).toBe(2);
  });

  test('a removed key is unknown after the next refresh', async () => {
    await search('one');
    issuer.publish([two.jwk]);
    clock += 2 * SECOND;
    await search('two');
    clock += 2 * SECOND;
    expect(await search('one')).toBe('unknown');
  });

  test('a removed key is unknown when keys are no longer fresh', async () => {
    await search('one');
    issuer.publish([two.jwk]);
    clock += 10 * MINUTE + 1;
    expect(await search('one')).toBe('unknown');
  });
});
