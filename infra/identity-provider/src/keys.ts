import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** The keys with which the provider signs tokens and cookies. */
export type Keys = { jwks: { keys: JsonWebKey[] }; cookieKeys: string[] };

/** Reads the keys from `file`, or creates it (mode 600) with new keys. Without a file, the keys are new. */
export async function loadKeys(file: string | undefined): Promise<Keys> {
  if (file === undefined) return createKeys();
  if (existsSync(file)) {
    try {
      // Only this function writes the file, and atomically, so its content has this type.
      return JSON.parse(await readFile(file, 'utf8')) as Keys;
    } catch (cause) {
      throw new Error(`The keys file ${file} is not readable. Remove it to create a new one.`, { cause });
    }
  }
  const keys = createKeys();
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(keys), { mode: 0o600 });
  await rename(temporary, file);
  return keys;
}

function createKeys(): Keys {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = randomBytes(9).toString('base64url');
  return {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] },
    cookieKeys: [randomBytes(32).toString('base64url')],
  };
}
