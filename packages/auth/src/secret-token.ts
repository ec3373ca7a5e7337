import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43; // 256 bits
const CHECKSUM_LENGTH = 6; // enough for 32 bits
const SHOWN_LENGTH = 12;

/**
 * `svcc_`: an API key of an organization, in the hub. `svcm_`: an MCP token, in the fleet. `svcs_`:
 * a service token of the hub. `svcu_`: a session of a user of the hub in a program.
 */
export type TokenPrefix = 'svcc_' | 'svcm_' | 'svcs_' | 'svcu_';

/** Whether a token is one of these or of a later kind. Only the service that issued it may receive it. */
export const hasTokenPrefix = (token: string): boolean => /^svc[a-z]_/.test(token);

/**
 * A new secret token: prefix, 43 random base62 characters, and the CRC-32 of both in 6 base62
 * characters. Store only its hash.
 */
export function newSecretToken(prefix: TokenPrefix): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${prefix}${secret}${checksum(prefix + secret)}`;
}

/** Whether a token has the format and the checksum of its kind. Does not need a database. */
export function isSecretToken(prefix: TokenPrefix, token: string): boolean {
  if (!token.startsWith(prefix) || token.length !== prefix.length + SECRET_LENGTH + CHECKSUM_LENGTH) return false;
  if (!/^[0-9A-Za-z]+$/.test(token.slice(prefix.length))) return false;
  return token.endsWith(checksum(token.slice(0, -CHECKSUM_LENGTH)));
}

/**
 * The stored form of a token: SHA-256 in hexadecimal. A secret of 256 bits does not require a slow
 * hash.
 */
export const hashSecretToken = (token: string): string => hash('sha256', token, 'hex');

/** The first characters of a token, to identify it. */
export const displayPrefix = (token: string): string => token.slice(0, SHOWN_LENGTH);

function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = `${ALPHABET[value % ALPHABET.length]}${digits}`;
    value = Math.floor(value / ALPHABET.length);
  }
  return digits;
}
