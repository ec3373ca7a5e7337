import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SettingsError } from '@svc/http';
import { findWeakness } from '../passwords/strength.ts';

/**
 * The account for the first sign-in to a fleet. It exists while both of its environment variables
 * are set.
 */
export interface TemporaryAdmin {
  readonly username: string;
  /** Whether the username matches, in constant time. */
  hasUsername(username: string): boolean;
  /** Whether username and password match. Both are always compared, in constant time. */
  matches(username: string, password: string): boolean;
  /**
   * A keyed hash of username and password. If either changes, sessions with the old fingerprint are
   * no longer valid.
   */
  readonly fingerprint: string;
}

/** `key` is a secret that all replicas of this fleet share. */
export function createTemporaryAdmin(
  { username, password }: { readonly username: string; readonly password: string },
  key: Uint8Array,
): TemporaryAdmin {
  const comparisonKey = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', comparisonKey).update(text).digest();
  const hasUsername = (given: string) => timingSafeEqual(digest(given), digest(username));
  return {
    username,
    hasUsername,
    matches: (givenUsername, givenPassword) => {
      const sameUsername = hasUsername(givenUsername);
      const samePassword = timingSafeEqual(digest(givenPassword), digest(password));
      return Number(sameUsername) + Number(samePassword) === 2;
    },
    fingerprint: createHmac('sha256', key)
      .update(JSON.stringify(['temporary-admin', username, password]))
      .digest('base64url'),
  };
}

/** A temporary admin whose password can be replaced while the service runs. Its sessions then end. */
export function replaceableTemporaryAdmin(
  { username, password }: { readonly username: string; readonly password: string },
  key: Uint8Array,
): TemporaryAdmin & { replace(password: string): void } {
  let current = createTemporaryAdmin({ username, password }, key);
  return {
    username,
    hasUsername: (given) => current.hasUsername(given),
    matches: (...given) => current.matches(...given),
    get fingerprint() {
      return current.fingerprint;
    },
    replace: (replacement) => {
      current = createTemporaryAdmin({ username, password: replacement }, key);
    },
  };
}

interface Credentials {
  readonly SVC_TEMP_ADMIN_USERNAME?: string | undefined;
  readonly SVC_TEMP_ADMIN_PASSWORD?: string | undefined;
}

/** The password policy of users also applies to the temporary admin. @throws SettingsError */
export async function requireStrongPassword(credentials: Credentials): Promise<void> {
  const { SVC_TEMP_ADMIN_USERNAME: username = '', SVC_TEMP_ADMIN_PASSWORD: password } = credentials;
  const weakness = password === undefined ? undefined : await findWeakness(password, [username]);
  if (weakness !== undefined) throw new SettingsError([`SVC_TEMP_ADMIN_PASSWORD: ${weakness}`]);
}
