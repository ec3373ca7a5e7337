import { base64url, FlattenedEncrypt, flattenedDecrypt } from 'jose';
import { z } from 'zod';

/** The location of a sealed value. The value can be decrypted only there. */
interface SealedLocation {
  readonly table: string;
  readonly column: string;
  readonly row: string;
}

export interface EncryptionKey {
  readonly kid: string;
  readonly key: Uint8Array;
}

/**
 * Encrypts values that must not be in the database in plain text: JWE with A256KW and A256GCM (RFC
 * 7516, RFC 7518).
 */
export interface Sealer {
  /** The id of the key that encrypts. It is stored next to each sealed value. */
  readonly kid: string;
  /** Whether the key is configured, so that its values can be decrypted. */
  knows(kid: string): boolean;
  seal(location: SealedLocation, plaintext: string): Promise<string>;
  /**
   * @throws UnknownKey if the key of the value is not configured; Error if the value was changed or
   * moved
   */
  open(location: SealedLocation, sealed: string): Promise<string>;
}

/** A value is sealed with a key that ENCRYPTION_KEYS does not contain. */
export class UnknownKey extends Error {
  override name = 'UnknownKey';
  constructor(kid: string) {
    super(`ENCRYPTION_KEYS has no key "${kid}". Values of this database are encrypted with it: add the key.`);
  }
}

const sealedShape = z.object({
  protected: z.string(),
  encrypted_key: z.string(),
  iv: z.string(),
  ciphertext: z.string(),
  tag: z.string(),
});

const header = z.object({ kid: z.string() });

/**
 * Creates a sealer. The first key encrypts; each key decrypts the values that were encrypted with
 * it.
 */
export function createSealer(keys: readonly EncryptionKey[]): Sealer {
  const [first] = keys;
  if (!first) throw new RangeError('at least one encryption key is required');
  return {
    kid: first.kid,
    knows: (kid) => keys.some((key) => key.kid === kid),
    seal: async (location, plaintext) => {
      const { aad: _, ...sealed } = await new FlattenedEncrypt(new TextEncoder().encode(plaintext))
        .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', kid: first.kid })
        .setAdditionalAuthenticatedData(bytesOf(location))
        .encrypt(first.key);
      return JSON.stringify(sealed);
    },
    open: async (location, text) => {
      const sealed = sealedShape.parse(JSON.parse(text));
      const { kid } = header.parse(JSON.parse(new TextDecoder().decode(base64url.decode(sealed.protected))));
      const found = keys.find((key) => key.kid === kid);
      if (!found) throw new UnknownKey(kid);
      // The location is taken from the caller, not from the value, so that a value that was moved
      // to another row is not accepted.
      const { plaintext } = await flattenedDecrypt({ ...sealed, aad: base64url.encode(bytesOf(location)) }, found.key);
      return new TextDecoder().decode(plaintext);
    },
  };
}

/** A sealer whose keys can be replaced while the service runs. */
export function replaceableSealer(
  keys: readonly EncryptionKey[],
): Sealer & { replace(keys: readonly EncryptionKey[]): void } {
  let current = createSealer(keys);
  return {
    get kid() {
      return current.kid;
    },
    knows: (kid) => current.knows(kid),
    seal: (location, plaintext) => current.seal(location, plaintext),
    open: (location, sealed) => current.open(location, sealed),
    replace: (replacements) => {
      current = createSealer(replacements);
    },
  };
}

const bytesOf = ({ table, column, row }: SealedLocation) =>
  new TextEncoder().encode(JSON.stringify([table, column, row]));
