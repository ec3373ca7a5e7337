import { describe, expect, test } from '@jest/globals';
import { hashSecretToken, isSecretToken, newSecretToken, shownPrefix } from '../src/index.ts';

const token = newSecretToken('svcc_');
const positions = Array.from({ length: token.length }, (_, index) => index);
const replaceAt = (index: number, character: string) => token.slice(0, index) + character + token.slice(index + 1);

describe('a secret token', () => {
  test.each(['svcc_', 'svcm_'] as const)('%s has its prefix, 43 characters of chance and 6 of a checksum', (prefix) => {
    expect(newSecretToken(prefix)).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
  });

  test('is good and like no other, a thousand times', () => {
    const tokens = Array.from({ length: 1000 }, () => newSecretToken('svcm_'));
    expect(tokens.every((one) => isSecretToken('svcm_', one))).toBe(true);
    expect(new Set(tokens).size).toBe(1000);
    expect(new Set(tokens.map((one) => one.slice(5, 48))).size).toBe(1000);
  });

  test('uses its whole alphabet', () => {
    const seen = new Set(Array.from({ length: 200 }, () => newSecretToken('svcc_').slice(5, 48)).join(''));
    expect(seen.size).toBe(62);
  });

  test('keeps its checksum as it was specified: tokens that were given out go on working', () => {
    expect(isSecretToken('svcc_', `svcc_${'0'.repeat(43)}1IOh6u`)).toBe(true);
  });

  test.each(positions)('with another character at %p is refused', (index) => {
    const other = token[index] === 'x' ? 'y' : 'x';
    expect(isSecretToken('svcc_', replaceAt(index, other))).toBe(false);
  });

  test.each(positions.slice(5, -1))('with the characters at %p and behind it exchanged is refused', (index) => {
    const [one = '', other = ''] = token.slice(index, index + 2);
    const exchanged = token.slice(0, index) + other + one + token.slice(index + 2);
    expect(isSecretToken('svcc_', exchanged)).toBe(exchanged === token);
  });

  test('of one kind is not one of the other', () => {
    expect(isSecretToken('svcm_', token)).toBe(false);
    expect(isSecretToken('svcm_', token.replace('svcc_', 'svcm_'))).toBe(false);
  });

  test.each([
    ['nothing', ''],
    ['the prefix alone', 'svcc_'],
    ['one character less', token.slice(0, -1)],
    ['one character more', `${token}0`],
    ['upper-case prefix', token.replace('svcc_', 'SVCC_')],
    ['a blank before', ` ${token}`],
    ['a line break behind', `${token}\n`],
    ['a line break at the end', `${token.slice(0, -1)}\n`],
    ['a letter of another alphabet', replaceAt(10, 'а')],
    ['a full-width digit', replaceAt(10, '１')],
    ['a letter of two units', replaceAt(10, '𝟘').slice(0, token.length)],
    ['a sign', replaceAt(10, '-')],
    ['NUL', replaceAt(10, '\0')],
  ])('is not %s', (_, given) => {
    expect(isSecretToken('svcc_', given)).toBe(false);
  });

  test('is recognised by its first 12 characters', () => {
    expect(shownPrefix(token)).toBe(token.slice(0, 12));
  });

  test('is kept as its SHA-256 in 64 hexadecimal digits', () => {
    expect(hashSecretToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashSecretToken(token)).toMatch(/^[0-9a-f]{64}$/);
  });
});
