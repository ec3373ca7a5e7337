import { beforeEach, expect, jest, test } from '@jest/globals';
import * as argon2 from '@node-rs/argon2';
import { createPasswords } from '../../src/identity/passwords/passwords.ts';

const verified = jest.fn(argon2.verify);
const { hash, verify } = createPasswords({ hashing: { hash: argon2.hash, verify: verified } });
const known = await hash('a known password');

beforeEach(() => {
  verified.mockClear();
});

test.each([
  ['the hash of a known user', known],
  ['no hash, for an unknown user', undefined],
  ['a malformed hash', '$argon2id$v=19$m=19456,t=2,p=1$AAAA$'],
  ['a hash with excessive memory cost', known.replace('m=19456', 'm=4294967295')],
  ['a hash of another algorithm', '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
])('a sign-in with %s causes one password verification at the current cost', async (_, stored) => {
  await verify(stored, 'a wrong password', 'unknown');
  expect(verified).toHaveBeenCalledTimes(1);
  const { algorithm, memoryCost, timeCost, parallelism } = argon2.parseOptions(verified.mock.calls[0]?.[0] ?? '');
  expect({ algorithm, memoryCost, timeCost, parallelism }).toEqual({
    algorithm: 2,
    memoryCost: 19_456,
    timeCost: 2,
    parallelism: 1,
  });
});
