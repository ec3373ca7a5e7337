import { parseOptions } from '@svc/http';
import {
  acceptChain,
  type ContentKind,
  explanationOf,
  inspectSignature,
  type Keyring,
  signContent,
  type TrustedPublisher,
  Untrusted,
  verifyTemplate,
} from '@svc/trust';
import { z } from 'zod';
import { objectNouns } from '../../catalog/files/objects.ts';
import { signaturesFileOf, signaturesOfFile } from '../../catalog/files/signatures-file.ts';
import { kinds } from '../../catalog/trust/signatures.ts';
import { openKeyring, readKeyringFile } from './keyring-file.ts';
import { readObjects, readSignatures, writeSignatures } from './signed-folder.ts';
import { openSigner, readPublicKeyFile } from './signer.ts';

const required = z.string({ error: 'is required' }).min(1, 'must not be empty');

const signOptions = z.strictObject({
  key: required,
  signer: z.string().min(1, 'must not be empty').optional(),
  all: z.boolean().default(false),
});

type Options = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Signs the templates and applications of a folder that have no valid signature of the publisher, or all. All signatures of a run have
 * the same serial.
 * @returns one line per object that is signed, and a summary
 * @throws Error if the keyring does not list the key as one that is in use
 */
export async function signFolder(folder: string, options: Options): Promise<readonly string[]> {
  const { key: keyFile, signer: program, all } = parseOptions(signOptions, options);
  const signer = await openSigner(keyFile, program);
  const { file, keyring } = await openKeyring(folder);
  requireInUse(keyring, signer.key.kid);
  const objects = await readObjects(folder);
  const before = readSignatures(folder);
  const serial = nextSerial(before);
  const issue = { publisher: file.publisher, serial, issuedAt: new Date() };
  const signatures: Record<'template' | 'application', Record<string, string[]>> = { template: {}, application: {} };
  const lines: string[] = [];
  const removed: string[] = [];
  for (const noun of objectNouns) {
    const kind = kinds[noun];
    const known = signaturesOfFile(before)[noun];
    for (const object of objects[noun]) {
      const { slug } = object;
      const present = [...(known[slug] ?? [])];
      if (!all && present.some((signature) => counts({ content: object, signature, kind }, file.publisher, keyring))) {
        signatures[noun][slug] = present;
        continue;
      }
      // Signatures of other publishers stay while they are about this content.
      const others = present.filter((signature) => isOfAnother({ content: object, signature, kind }, file.publisher));
      signatures[noun][slug] = [...others, await signContent(kind, { ...object }, issue, signer)];
      lines.push(`sign ${slug}`);
    }
    removed.push(...Object.keys(known).filter((slug) => !Object.hasOwn(signatures[noun], slug)));
  }
  if (lines.length > 0 || removed.length > 0) {
    const { template: templates, application: applications } = signatures;
    writeSignatures(folder, { serial: lines.length > 0 ? serial : before.serial, templates, applications });
  }
  const unchanged = objects.template.length + objects.application.length - lines.length;
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

const nextSerial = (file: ReturnType<typeof readSignatures>): number =>
  Math.max(file.serial, signaturesFileOf(file).serial) + 1;

interface SignedObject {
  readonly content: object;
  readonly signature: string;
  readonly kind: ContentKind;
}

/** Whether a signature is of the publisher, with a key that counts for it, and about this content. */
function counts(signed: SignedObject, publisher: string, { keys, floors }: Keyring): boolean {
  const read = inspected(signed);
  if (read?.statement.publisher !== publisher) return false;
  const { slug, serial } = read.statement;
  const key = keys.find(({ kid }) => kid === read.kid);
  const floor = Object.hasOwn(floors, slug) ? (floors[slug] ?? 0) : 0;
  return key !== undefined && !key.revoked && serial <= (key.last_serial ?? serial) && serial >= floor;
}

const isOfAnother = (signed: SignedObject, publisher: string): boolean => {
  const read = inspected(signed);
  return read !== undefined && read.statement.publisher !== publisher;
};

function inspected({ content, signature, kind }: SignedObject) {
  try {
    return inspectSignature({ ...content }, signature, kind);
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
 * Verifies the templates and applications of a folder as a fleet does that trusts the root key, without a scope and without memory.
 * @returns one line per object, and a summary
 */
export async function verifyFolder(folder: string, options: Options): Promise<Verification> {
  const { root: rootFile, 'require-digest': requiresDigest } = parseOptions(verifyOptions, options);
  const { publisher, keyring, transitions } = readKeyringFile(folder);
  const now = new Date();
  const root = await readPublicKeyFile(rootFile);
  const state = await acceptChain({ publisher, root }, { transitions, keyring }, { now }).catch((error: unknown) => {
    if (!(error instanceof Untrusted)) throw error;
    throw new Error(`The keyring is refused: ${explained(error, kinds.template)}`);
  });
  const trusted: TrustedPublisher = { ...state, slugs: ['*'], images: ['*'], secrets: ['*'] };
  const signatures = signaturesOfFile(readSignatures(folder));
  const objects = await readObjects(folder);
  const lines: string[] = [];
  let refused = 0;
  for (const noun of objectNouns) {
    const kind = kinds[noun];
    for (const object of objects[noun]) {
      const { slug } = object;
      try {
        const verification = { publishers: [trusted], now, requiresDigest, kind };
        const { serial, kid } = await verifyTemplate({ ...object }, signatures[noun][slug] ?? [], verification);
        lines.push(`${slug}: ${publisher}, serial ${serial}, key ${kid}`);
      } catch (error) {
        if (!(error instanceof Untrusted)) throw error;
        refused += 1;
        lines.push(`${slug}: REFUSED: ${explained(error, kind)}`);
      }
    }
  }
  return { lines: [...lines, `${lines.length - refused} accepted, ${refused} refused`], isAccepted: refused === 0 };
}

const explained = ({ reason, detail }: Untrusted, { noun }: Pick<ContentKind, 'noun'>): string => {
  const { message, remedy } = explanationOf(reason, noun);
  return `${reason}${detail === '' ? '' : ` (${detail})`}. ${message} ${remedy}`;
};
