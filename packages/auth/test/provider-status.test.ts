import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../../testing/src/run/eventually.ts';
import {
  commonStatus,
  createKeySource,
  isDevelopmentProvider,
  providerHealth,
  startProviderProbes,
} from '../src/index.ts';
import { aKey, anIssuer, ISSUER } from './issuer.ts';

const one = await aKey('one');
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

/** Keys of an issuer, which is probed. */
function probed(prepare: (issuer: ReturnType<typeof anIssuer>) => void = () => undefined) {
  const issuer = anIssuer([one.jwk]);
  prepare(issuer);
  const keys = createKeySource({ issuer: ISSUER, send: issuer.send, intervalMs: 1 });
  const before = providerHealth(keys.status());
  stop = startProviderProbes(async () => keys).stop;
  return { keys, before, issuer };
}

test('an identity provider is unknown until it is probed, and then ok', async () => {
  const { keys, before } = probed();
  expect(before).toEqual({ name: 'identity provider', state: 'unknown' });
  await eventually('it is reached', async () => providerHealth(keys.status()).state === 'ok');
});

test('a wrong issuer is degraded after the start without any user, and the detail states why', async () => {
  const { keys } = probed((issuer) =>
    issuer.pages.set(
      `${ISSUER}/.well-known/openid-configuration`,
      JSON.stringify({ issuer: `${ISSUER}/realms/other`, jwks_uri: `${ISSUER}/keys` }),
    ),
  );
  await eventually('the probe has failed', async () => providerHealth(keys.status()).state !== 'unknown');
  expect(providerHealth(keys.status())).toEqual({
    name: 'identity provider',
    state: 'degraded',
    detail:
      'The discovery document is of another issuer. Both must be identical. It was not reached since the start, so that its users cannot sign in. Check OIDC_ISSUER.',
  });
});

test('a provider that was reached before and fails is degraded, and what was fetched remains valid', async () => {
  const { keys, issuer } = probed();
  await eventually('it is reached', async () => keys.status().wasReached);
  issuer.state.isDown = true;
  await expect(keys.probe()).rejects.toThrow();
  expect(providerHealth(keys.status())).toMatchObject({
    state: 'degraded',
    detail: expect.stringContaining('keys that were fetched before remain valid'),
  });
});

test('a service without a provider has nothing to report', () => {
  expect(providerHealth(undefined)).toEqual({ name: 'identity provider', state: 'ok', detail: 'not configured' });
});

test('the status of several documents is a problem if one of them has one', () => {
  const good = { wasReached: true, problem: undefined };
  expect(commonStatus([good, { wasReached: false, problem: 'why' }])).toEqual({ wasReached: true, problem: 'why' });
  expect(commonStatus([{ wasReached: false, problem: undefined }])).toEqual({ wasReached: false, problem: undefined });
});

test('only the provider for development is recognized as one', async () => {
  const { send, pages } = anIssuer([one.jwk]);
  expect(await isDevelopmentProvider({ issuer: ISSUER, send })).toBe(false);
  pages.set(`${ISSUER}/.well-known/openid-configuration`, JSON.stringify({ svc_development: true }));
  expect(await isDevelopmentProvider({ issuer: ISSUER, send })).toBe(true);
});
