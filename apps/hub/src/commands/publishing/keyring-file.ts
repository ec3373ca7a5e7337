import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseFields, slug, storedName } from '@svc/contract';
import { acceptChain, type Keyring, type KeyState, MAX_TRANSITIONS, readPublicKey, Untrusted } from '@svc/trust';
import { z } from 'zod';

/** The file with the keyring of the publisher of a catalog. */
export const KEYRING = 'keyring.json';

const keyringFile = z.strictObject({
  publisher: slug,
  name: storedName,
  /** The root key that signed the newest keyring. Fleets trust their own copy of it. */
  root: z.record(z.string(), z.unknown()),
  keyring: z.string(),
  /** Earlier keyrings that announced another root, the oldest first. */
  transitions: z.array(z.string()).max(MAX_TRANSITIONS).default([]),
});
export type KeyringFile = z.output<typeof keyringFile>;

/** A file, and the keyring in it. */
export interface OpenedKeyring {
  readonly file: KeyringFile;
  readonly state: KeyState;
  readonly keyring: Keyring;
}

/** Whether a folder has a keyring. */
export const hasKeyring = (folder: string): boolean => existsSync(path.join(folder, KEYRING));

/** @throws Error if the file is absent or not valid */
export function readKeyringFile(folder: string): KeyringFile {
  const name = path.join(folder, KEYRING);
  if (!hasKeyring(folder)) throw new Error(`${name} does not exist. Create it with the command "keys keyring".`);
  const parsed = parseFields(keyringFile, parseJson(readFileSync(name, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new Error(parsed.errors.map((error) => `${name}: ${error.path || 'the file'}: ${error.message}`).join('\n'));
}

/**
 * Reads the keyring of a folder, and verifies it with the root in the file. It can have expired: its publisher renews it.
 * @throws Error
 */
export async function openKeyring(folder: string): Promise<OpenedKeyring> {
  const file = readKeyringFile(folder);
  try {
    const root = await readPublicKey(file.root);
    // The file has the present root, so that the keyrings that lead to it do not matter here.
    const state = await acceptChain(
      { publisher: file.publisher, root },
      { transitions: [], keyring: file.keyring },
      { now: new Date(0) },
    );
    if (!state.keyring) throw new Error('unreachable: an accepted keyring is known');
    return { file, state, keyring: state.keyring };
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    throw new Error(`${path.join(folder, KEYRING)}: ${error.message}`);
  }
}

export const writeKeyringFile = (folder: string, file: KeyringFile): void =>
  writeFileSync(path.join(folder, KEYRING), `${JSON.stringify(file, undefined, 2)}\n`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
