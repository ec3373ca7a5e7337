import { parseOptions } from '@svc/http';
import {
  acceptChain,
  inspectSignature,
  type Keyring,
  readSignature,
  reasons,
  signTemplate,
  type TrustedPublisher,
  Untrusted,
  verifyTemplate,
} from '@svc/trust';
import { z } from 'zod';
import { openKeyring, readKeyringFile } from './keyring-file.ts';
import { readSignatures, readTemplates, writeSignatures } from './signed-folder.ts';
import { openSigner, readPublicKeyFile } from './signer.ts';

const required = z.string({ error: 'is required' }).min(1, 'must not be empty');

const signOptions = z.strictObject({
  key: required,
  signer: z.string().min(1, 'must not be empty').optional(),
  all: z.boolean().default(false),
});

type Options = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Signs the templates of a folder that have no valid signature of the publisher, or all. All signatures of a run have the same serial.
 * @returns one line per template that is signed, and a summary
 * @throws Error if the keyring does not list the key as one that is in use
 */
export async function signFolder(folder: string, options: Options): Promise<readonly string[]> {
  const { key: keyFile, signer: program, all } = parseOptions(signOptions, options);
  const signer = await openSigner(keyFile, program);
  const { file, keyring } = await openKeyring(folder);
  requireInUse(keyring, signer.key.kid);
  const templates = await readTemplates(folder);
  const before = readSignatures(folder);
  const serial = nextSerial(before);
  const issue = { publisher: file.publisher, serial, issuedAt: new Date() };
  const signatures: Record<string, string[]> = {};
  const lines: string[] = [];
  for (const template of templates) {
    const { slug } = template;
    const present = before.templates[slug] ?? [];
    if (!all && present.some((signature) => counts(template, signature, file.publisher, keyring))) {
      signatures[slug] = present;
      continue;
    }
    // Signatures of other publishers stay while they are about this content.
    const others = present.filter((signature) => isOfAnother(template, signature, file.publisher));
    signatures[slug] = [...others, await signTemplate({ ...template }, issue, signer)];
    lines.push(`sign ${slug}`);
  }
  const removed = Object.keys(before.templates).filter((slug) => !Object.hasOwn(signatures, slug));
  if (lines.length > 0 || removed.length > 0) {
    writeSignatures(folder, { serial: lines.length > 0 ? serial : before.serial, templates: signatures });
  }
  const unchanged = templates.length - lines.length;
  return [
    ...lines,
    ...removed.map((slug) => `remove the signature of ${slug}, which no file describes`),
    `${lines.length} signed${lines.length > 0 ? ` with the serial ${serial}` : ''}, ${unchanged} unchanged`,
  ];
}

/** @throws Error */
function requireInUse({ keys }: Keyring, kid: string): void {
  const listed = keys.find((key) => key.kid === kid);
  const reason = !listed
    ? 'does not list it'
    : listed.revoked
      ? 'lists it as revoked'
      : listed.last_serial !== undefined
        ? 'lists it as retired'
        : undefined;
  if (reason !== undefined) throw new Error(`The key ${kid} cannot sign: the keyring ${reason}.`);
}

function nextSerial({ serial, templates }: ReturnType<typeof readSignatures>): number {
  const signed = Object.values(templates)
    .flat()
    .map((signature) => serialOf(signature));
  return Math.max(serial, ...signed) + 1;
}

function serialOf(signature: string): number {
  try {
    return readSignature(signature).statement.serial;
  } catch {
    return 0;
  }
}

/** Whether a signature is of the publisher, with a key that counts for it, and about this content. */
function counts(template: object, signature: string, publisher: string, { keys, floors }: Keyring): boolean {
  const read = inspected(template, signature);
  if (read?.statement.publisher !== publisher) return false;
  const { slug, serial } = read.statement;
  const key = keys.find(({ kid }) => kid === read.kid);
  const floor = Object.hasOwn(floors, slug) ? (floors[slug] ?? 0) : 0;
  return key !== undefined && !key.revoked && serial <= (key.last_serial ?? serial) && serial >= floor;
}

const isOfAnother = (template: object, signature: string, publisher: string): boolean => {
  const read = inspected(template, signature);
  return read !== undefined && read.statement.publisher !== publisher;
};

function inspected(template: object, signature: string) {
  try {
    return inspectSignature({ ...template }, signature);
  } catch (error) {
    if (error instanceof Untrusted) return undefined;
    throw error;
  }
}

const verifyOptions = z.strictObject({ root: required, 'require-digest': z.boolean().default(false) });

interface Verification {
  readonly lines: readonly string[];
  readonly isAccepted: boolean;
}

/**
 * Verifies the templates of a folder as a fleet does that trusts the root key, without a scope and without memory.
 * @returns one line per template, and a summary
 */
export async function verifyFolder(folder: string, options: Options): Promise<Verification> {
  const { root: rootFile, 'require-digest': requiresDigest } = parseOptions(verifyOptions, options);
  const { publisher, keyring, transitions } = readKeyringFile(folder);
  const now = new Date();
  const root = await readPublicKeyFile(rootFile);
  const state = await acceptChain({ publisher, root }, { transitions, keyring }, { now }).catch((error: unknown) => {
    if (!(error instanceof Untrusted)) throw error;
    throw new Error(`The keyring is refused: ${explained(error)}`);
  });
  const trusted: TrustedPublisher = { ...state, slugs: ['*'], images: ['*'], secrets: ['*'] };
  const { templates: signatures } = readSignatures(folder);
  const lines: string[] = [];
  let refused = 0;
  for (const template of await readTemplates(folder)) {
    const { slug } = template;
    try {
      const verification = { publishers: [trusted], now, requiresDigest };
      const { serial, kid } = await verifyTemplate({ ...template }, signatures[slug] ?? [], verification);
      lines.push(`${slug}: ${publisher}, serial ${serial}, key ${kid}`);
    } catch (error) {
      if (!(error instanceof Untrusted)) throw error;
      refused += 1;
      lines.push(`${slug}: REFUSED: ${explained(error)}`);
    }
  }
  return { lines: [...lines, `${lines.length - refused} accepted, ${refused} refused`], isAccepted: refused === 0 };
}

const explained = ({ reason, detail }: Untrusted): string => {
  const { message, remedy } = reasons[reason];
  return `${reason}${detail === '' ? '' : ` (${detail})`}. ${message} ${remedy}`;
};
