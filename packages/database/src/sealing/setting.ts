import { z } from 'zod';
import type { EncryptionKey } from './sealer.ts';

/** A key id, and 32 bytes in base64. */
const ENCRYPTION_KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** `ENCRYPTION_KEYS`: `<id>:<32 bytes in base64>`, comma-separated. The first key encrypts. */
export const encryptionKeys = z.string().transform((text, context): EncryptionKey[] => {
  const keys = text.split(',').flatMap((entry) => {
    const [, kid = '', encoded = ''] = ENCRYPTION_KEY.exec(entry.trim()) ?? [];
    return kid === '' ? [] : [{ kid, key: new Uint8Array(Buffer.from(encoded, 'base64')) }];
  });
  if (new Set(keys.map(({ kid }) => kid)).size === text.split(',').length) return keys;
  context.addIssue({
    code: 'custom',
    message: 'must be a comma-separated list of <id>:<32 bytes in base64> with unique ids',
  });
  return z.NEVER;
});

/** The description of the setting of a service. `what` are the values that it encrypts. */
export const describedKeys = (what: string): string =>
  `the keys that encrypt ${what}. The first key encrypts. Create one with \`node -p '"k1:"+require("crypto").randomBytes(32).toString("base64")'\`. Without the keys, encrypted values cannot be recovered`;
