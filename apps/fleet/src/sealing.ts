import { base64url, FlattenedEncrypt, flattenedDecrypt } from 'jose';
import { z } from 'zod';

/** Where a sealed value stands: it opens there and nowhere else. */
interface Place {
  readonly table: string;
  readonly column: string;
  readonly row: string;
}

export interface EncryptionKey {
  readonly kid: string;
  readonly key: Uint8Array;
}

/** Encrypts what may not stand in the database in clear: JWE with A256KW and A256GCM (RFC 7516, RFC 7518). */
export interface Sealer {
  /** Of the key that seals; it stands beside each sealed value. */
  readonly kid: string;
  /** Whether it has a key, so that what was sealed with that opens. */
  knows(kid: string): boolean;
  seal(place: Place, plaintext: string): Promise<string>;
  /** @throws UnknownKey when it was sealed with a key that is not configured; an error when it was changed or moved. */
  open(place: Place, sealed: string): Promise<string>;
}

/** A value was sealed with a key that ENCRYPTION_KEYS does not hold. */
export class UnknownKey extends Error {
  override name = 'UnknownKey';
  constructor(kid: string) {
    super(`ENCRYPTION_KEYS has no key "${kid}", with which values of this database are encrypted: give that key too.`);
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

/** The first key seals; every key opens what was sealed with it. */
export function createSealer(keys: readonly EncryptionKey[]): Sealer {
  const [first] = keys;
  if (!first) throw new RangeError('at least one encryption key is needed');
  return {
    kid: first.kid,
    knows: (kid) => keys.some((key) => key.kid === kid),
    seal: async (place, plaintext) => {
      const { aad: _, ...sealed } = await new FlattenedEncrypt(new TextEncoder().encode(plaintext))
        .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', kid: first.kid })
        .setAdditionalAuthenticatedData(bytesOf(place))
        .encrypt(first.key);
      return JSON.stringify(sealed);
    },
    open: async (place, text) => {
      const sealed = sealedShape.parse(JSON.parse(text));
      const { kid } = header.parse(JSON.parse(new TextDecoder().decode(base64url.decode(sealed.protected))));
      const found = keys.find((key) => key.kid === kid);
      if (!found) throw new UnknownKey(kid);
      // The place is not read from the value but rebuilt: a value that was moved to another row does not open.
      const { plaintext } = await flattenedDecrypt({ ...sealed, aad: base64url.encode(bytesOf(place)) }, found.key);
      return new TextDecoder().decode(plaintext);
    },
  };
}

const bytesOf = ({ table, column, row }: Place) => new TextEncoder().encode(JSON.stringify([table, column, row]));
