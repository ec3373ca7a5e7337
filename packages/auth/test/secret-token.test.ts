import { describe, expect, test } from '@jest/globals';
import { displayPrefix, hashSecretToken, isSecretToken, newSecretToken } from '../src/index.ts';

const token = newSecretToken('svcc_');
const positions = Array.from({ length: token.length }, (_, index) => index);
const replaceAt = (index: number, character: string) => token.slice(0, index) + character + token.slice(index + 1);

describe('a secret token', () => {
  test.each(['svcc_', 'svcm_', 'svcs_', 'svcu_'] as const)(
    '%s has its prefix, 43 random characters and a checksum of 6 characters',
    (prefix) => {
      expect(newSecretToken(prefix)).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
    },
  );

  test('is valid and unique among a thousand', () => {
    const tokens = Array.from({ length: 1000 }, () => newSecretToken('svcm_'));
    expect(tokens.every((one) => isSecretToken('svcm_', one))).toBe(true);
    expect(new Set(tokens).size).toBe(1000);
    expect(new Set(tokens.map((one) => one.slice(5, 48))).size).toBe(1000);
  });

  test('uses all characters of its alphabet', () => {
    const seen = new Set(Array.from({ length: 200 }, () => newSecretToken('svcc_').slice(5, 48)).join(''));
    expect(seen.size).toBe(62);
  });

  test('has the specified checksum, so that issued tokens remain valid', () => {
    expect(isSecretToken('svcc_', `svcc_${'0'.repeat(43)}1IOh6u`)).toBe(true);
  });

  test.each(positions)('with another character at position %p is invalid', (index) => {
    const other = token[index] === 'x' ? 'y' : 'x';
    expect(isSecretToken('svcc_', replaceAt(index, other))).toBe(false);
  });

  test.each(positions.slice(5, -1))(
    'with the characters at position %p and the next one swapped is invalid',
    (index) => {
      const [one = '', other = ''] = token.slice(index, index + 2);
      const swapped = token.slice(0, index) + other + one + token.slice(index + 2);
      expect(isSecretToken('svcc_', swapped)).toBe(swapped === token);
    },
  );

  test('of one kind is invalid for the other kind', () => {
    expect(isSecretToken('svcm_', token)).toBe(false);
    expect(isSecretToken('svcm_', token.replace('svcc_', 'svcm_'))).toBe(false);
  });

  test.each([
    ['an empty string', ''],
    ['only the prefix', 'svcc_'],
    ['too short', token.slice(0, -1)],
    ['too long', `${token}0`],
    ['in upper case', token.replace('svcc_', 'SVCC_')],
    ['preceded by a space', ` ${token}`],
    ['followed by a line break', `${token}\n`],
    ['terminated by a line break', `${token.slice(0, -1)}\n`],
    ['with a letter of another alphabet', replaceAt(10, 'а')],
    ['with a full-width digit', replaceAt(10, '１')],
    ['with a character of two UTF-16 code units', replaceAt(10, '𝟘').slice(0, token.length)],
    ['with a hyphen', replaceAt(10, '-')],
    ['with NUL', replaceAt(10, '\0')],
  ])('is invalid if it is %s', (_, given) => {
    expect(isSecretToken('svcc_', given)).toBe(false);
  });

  test('is identified by its first 12 characters', () => {
    expect(displayPrefix(token)).toBe(token.slice(0, 12));
  });

  test('is stored as its SHA-256 in 64 hexadecimal digits', () => {
    expect(hashSecretToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashSecretToken(token)).toMatch(/^[0-9a-f]{64}$/);
  });
});
