import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The account of the first hours, from the environment; it exists while both variables are set. */
export interface TemporaryAdmin {
  readonly username: string;
  /** Whether these are its username and password: both are compared, in constant time, whatever the first says. */
  matches(username: string, password: string): boolean;
  /** Changes with the username or the password, and tells nothing of them: ends the sessions of the former ones. */
  readonly fingerprint: string;
}

/** `key` is a secret of this installation that all replicas have. */
export function createTemporaryAdmin(
  { username, password }: { readonly username: string; readonly password: string },
  key: Uint8Array,
): TemporaryAdmin {
  const once = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', once).update(text).digest();
  return {
    username,
    matches: (givenUsername, givenPassword) => {
      const sameUsername = timingSafeEqual(digest(givenUsername), digest(username));
      const samePassword = timingSafeEqual(digest(givenPassword), digest(password));
      return Number(sameUsername) + Number(samePassword) === 2;
    },
    fingerprint: createHmac('sha256', key)
      .update(JSON.stringify(['temporary-admin', username, password]))
      .digest('base64url'),
  };
}
