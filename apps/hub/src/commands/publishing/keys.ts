import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { queryInteger, slug, storedName } from '@svc/contract';
import { parseOptions } from '@svc/http';
import {
  type ListedKey,
  MAX_TRANSITIONS,
  type NewKeyring,
  type PublicKey,
  publicKeyOfPem,
  readSignature,
  type Signer,
  signKeyring,
} from '@svc/trust';
import { z } from 'zod';
import { objectNouns } from '../../catalog/files/objects.ts';
import { signaturesOfFile } from '../../catalog/files/signatures-file.ts';
import { kinds } from '../../catalog/trust/signatures.ts';
import { hasKeyring, type OpenedKeyring, openKeyring, writeKeyringFile } from './keyring-file.ts';
import { readSignatures } from './signed-folder.ts';
import { openSigner, readPublicKeyFile } from './signer.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 400;

type Options = Readonly<Record<string, string | boolean | undefined>>;

const file = z.string({ error: 'is required' }).min(1, 'must not be empty');
const rootOptions = {
  root: file,
  signer: z.string().min(1, 'must not be empty').optional(),
  days: queryInteger(1, MAX_DAYS).prefault('90'),
};

/**
 * Creates a key: the private one in the file, which only its owner can read, and the public one in the same file with `.pub`.
 * @returns what was written, with the thumbprint of the key
 * @throws Error if a file exists
 */
export async function newKey(name: string, options: Options): Promise<readonly string[]> {
  const { algorithm } = parseOptions(
    z.strictObject({ algorithm: z.enum(['Ed25519', 'ES256'], 'must be Ed25519 or ES256').default('Ed25519') }),
    options,
  );
  const publicName = `${name}.pub`;
  for (const each of [name, publicName]) {
    if (existsSync(each)) throw new Error(`${each} exists. A key is never overwritten; choose another file.`);
  }
  const { privateKey, publicKey } =
    algorithm === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  writeFileSync(name, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  writeFileSync(publicName, pem, { flag: 'wx' });
  const { kid } = await publicKeyOfPem(pem);
  return [`${name}: the private key. Keep it secret, and keep a copy of a root key offline.`, `${publicName}: ${kid}`];
}

/** Creates the keyring of a folder, or renews it for some days, with one more signing key. */
export async function writeKeyring(folder: string, options: Options): Promise<readonly string[]> {
  const given = parseOptions(
    z.strictObject({
      ...rootOptions,
      publisher: slug.optional(),
      name: storedName.optional(),
      key: file.optional(),
    }),
    options,
  );
  const added = given.key === undefined ? [] : [await readPublicKeyFile(given.key)];
  const root = await openSigner(given.root, given.signer);
  if (!hasKeyring(folder)) return createKeyring(folder, { ...given, root, added });
  const opened = await openKeyring(folder);
  const { keyring } = opened;
  if (given.publisher !== undefined && given.publisher !== keyring.publisher) {
    throw new Error(`The keyring is that of ${keyring.publisher}. The slug of a publisher cannot change.`);
  }
  const keys = [...keyring.keys, ...added.filter(({ kid }) => !keyring.keys.some((key) => key.kid === kid))];
  return seal(folder, opened, { keys, root, days: given.days, name: given.name });
}

interface Creation {
  readonly publisher?: string | undefined;
  readonly name?: string | undefined;
  readonly root: Signer;
  readonly days: number;
  readonly added: readonly PublicKey[];
}

async function createKeyring(folder: string, { publisher, name, root, days, added }: Creation) {
  if (publisher === undefined) throw new Error('Specify the slug of the publisher: --publisher.');
  if (added.length === 0) throw new Error('Specify the file with the public signing key: --key.');
  refuseRootAsKey(root, added);
  mkdirSync(folder, { recursive: true });
  const keyring = await signKeyring({ publisher, version: 1, ...validity(days), keys: added }, root);
  writeKeyringFile(folder, { publisher, name: name ?? publisher, root: { ...root.key }, keyring, transitions: [] });
  return written(1, days);
}

/** A root key signs nothing else, so that it can stay offline. */
function refuseRootAsKey(root: Signer, keys: readonly PublicKey[]): void {
  if (!keys.some(({ kid }) => kid === root.key.kid)) return;
  throw new Error('The root key must not be a signing key. Create another key with the command "keys new".');
}

/** Retires the other signing keys with a new one, or announces another root key. */
export async function rotateKeys(folder: string, options: Options): Promise<readonly string[]> {
  const given = parseOptions(
    z.strictObject({ ...rootOptions, key: file.optional(), 'next-root': file.optional() }),
    options,
  );
  if ((given.key === undefined) === (given['next-root'] === undefined)) {
    throw new Error('Specify either the new signing key, --key, or the next root key, --next-root.');
  }
  const opened = await openKeyring(folder);
  const root = await openSigner(given.root, given.signer);
  const { keys } = opened.keyring;
  if (given['next-root'] !== undefined) {
    const nextRoot = await readPublicKeyFile(given['next-root']);
    return seal(folder, opened, { keys, root, days: given.days, nextRoot });
  }
  const added = await readPublicKeyFile(given.key ?? '');
  const { serial } = readSignatures(folder);
  const retired = keys.map((key) =>
    key.revoked || key.last_serial !== undefined ? key : { ...key, last_serial: serial },
  );
  const kept = serial === 0 ? [] : retired; // without signatures, there is nothing for which an earlier key counts
  return seal(folder, opened, {
    keys: [...kept.filter(({ kid }) => kid !== added.kid), added],
    root,
    days: given.days,
  });
}

/**
 * Revokes a signing key: nothing that it signed counts any longer. What the folder states becomes the floor of each slug, because
 * the memory of fleets about the key does not count either.
 */
export async function revokeKey(folder: string, options: Options): Promise<readonly string[]> {
  const { kid, ...given } = parseOptions(z.strictObject({ ...rootOptions, kid: file }), options);
  const opened = await openKeyring(folder);
  const root = await openSigner(given.root, given.signer);
  const { keys, floors, publisher } = opened.keyring;
  if (!keys.some((key) => key.kid === kid)) throw new Error(`The keyring does not list the key ${kid}.`);
  const revoked = keys.map((key) => (key.kid === kid ? { ...key, revoked: true as const } : key));
  const raised = floorsOf(folder, publisher, floors);
  const lines = await seal(folder, opened, { keys: revoked, floors: raised, root, days: given.days });
  return [...lines, `Sign the folder again with a key that is in use: nothing that ${kid} signed counts any longer.`];
}

/** The highest serial of each slug of a folder. A template and an application with the same slug have the same floor. */
function floorsOf(folder: string, publisher: string, floors: Readonly<Record<string, number>>): Record<string, number> {
  const raised = new Map(Object.entries(floors));
  const signed = signaturesOfFile(readSignatures(folder));
  for (const noun of objectNouns) {
    for (const [slug, signatures] of Object.entries(signed[noun])) {
      const own = signatures
        .map((signature) => readSignature(signature, kinds[noun]))
        .filter(({ statement }) => statement.publisher === publisher);
      const highest = Math.max(raised.get(slug) ?? 0, ...own.map(({ statement }) => statement.serial));
      if (highest > 0) raised.set(slug, highest);
    }
  }
  return Object.fromEntries(raised);
}

interface Change {
  readonly keys: readonly ListedKey[];
  readonly root: Signer;
  readonly days: number;
  readonly floors?: Readonly<Record<string, number>>;
  readonly nextRoot?: PublicKey;
  readonly name?: string | undefined;
}

/** Signs the next version of a keyring with its root, or with the one that it announced, and writes it. */
async function seal(
  folder: string,
  { file: before, keyring }: OpenedKeyring,
  { keys, root, days, floors = keyring.floors, nextRoot, name = before.name }: Change,
): Promise<readonly string[]> {
  const isNext = root.key.kid === keyring.next_root?.kid;
  if (!isNext && root.key.kid !== before.root.kid) {
    throw new Error(`The key ${root.key.kid} is neither the root key of the keyring nor the one that it announces.`);
  }
  refuseRootAsKey(root, keys);
  const version = keyring.version + 1;
  const next: NewKeyring = {
    publisher: keyring.publisher,
    version,
    ...validity(days),
    keys,
    ...(Object.keys(floors).length > 0 && { floors }),
    ...(nextRoot && { next_root: nextRoot }),
  };
  const sealed = await signKeyring(next, root);
  const transitions = isNext ? [...before.transitions, before.keyring].slice(-MAX_TRANSITIONS) : before.transitions;
  writeKeyringFile(folder, { ...before, name, root: { ...root.key }, keyring: sealed, transitions });
  return written(version, days);
}

const validity = (days: number) => {
  const now = Date.now();
  return { issued_at: new Date(now).toISOString(), expires_at: new Date(now + days * DAY_MS).toISOString() };
};

const written = (version: number, days: number) => [`keyring.json: version ${version}, valid for ${days} days`];
