import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** What the provider signs with: its tokens, and its cookies. */
export type Keys = { jwks: { keys: JsonWebKey[] }; cookieKeys: string[] };

/** The keys in `file`, made there (mode 600) when it does not exist yet; fresh ones where no file is named. */
export async function loadKeys(file: string | undefined): Promise<Keys> {
  if (file === undefined) return makeKeys();
  if (existsSync(file)) {
    try {
      // Only we write this file, whole: what is in it are keys.
      return JSON.parse(await readFile(file, 'utf8')) as Keys;
    } catch (cause) {
      throw new Error(`The keys file ${file} can't be read. Remove it, and a new one is made.`, { cause });
    }
  }
  const keys = makeKeys();
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, JSON.stringify(keys), { mode: 0o600 });
  await rename(unfinished, file);
  return keys;
}

function makeKeys(): Keys {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = randomBytes(9).toString('base64url');
  return {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] },
    cookieKeys: [randomBytes(32).toString('base64url')],
  };
}
