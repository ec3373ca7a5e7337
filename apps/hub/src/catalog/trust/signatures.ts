import { Problem } from '@svc/http';
import {
  applications,
  type ContentKind,
  changedMembers,
  inspectSignature,
  type Members,
  partOfDigest,
  readSignature,
  shownDigest,
  templates,
  Untrusted,
} from '@svc/trust';

/** The kinds of content by the nouns of objects. */
export const kinds = { template: templates, application: applications } as const;

interface SignedContent {
  readonly signatures: readonly string[];
}

/**
 * The covered members of signed content that a change would change, each with its name for people. Its signatures would be about
 * other content.
 */
export const brokenMembers = (
  existing: SignedContent & Members,
  changed: Members,
  kind: ContentKind,
): { readonly path: string; readonly name: string }[] =>
  existing.signatures.length === 0
    ? []
    : changedMembers(existing, { ...existing, ...changed }, kind).map((name) => ({
        path: kind.parts !== undefined && partOfDigest(name) !== undefined ? 'parts' : name,
        name: kind.parts === undefined ? name : shownDigest(name),
      }));

/** What is wrong with the signatures of a content, by their position. The hub does not verify who made them. */
export const signatureErrors = (
  content: Members,
  signatures: readonly string[],
  kind: ContentKind,
): { path: string; message: string }[] =>
  signatures.flatMap((signature, index) => {
    try {
      inspectSignature(content, signature, kind);
      return [];
    } catch (error) {
      if (!(error instanceof Untrusted)) throw error;
      return [{ path: `signatures.${index}`, message: messageOf(error, kind) }];
    }
  });

function messageOf({ reason, detail }: Untrusted, { noun }: ContentKind): string {
  switch (reason) {
    case 'content_changed':
    case 'uncovered_member':
      return `must be about this content; it differs in ${detail}`;
    case 'other_template':
      return `must be about this ${noun}, and not about ${detail}`;
    default:
      return `must be a signature of this ${noun}, as the command sign writes it: ${detail}`;
  }
}

/**
 * Refuses a change that leaves signatures which are about other content.
 * @param given the signatures of the request; undefined: they do not change
 * @throws 409 `breaks_signature`, 422 `signature_invalid`
 */
export function refuseBrokenSignatures(
  existing: (SignedContent & Members) | undefined,
  changes: Members,
  { given, kind }: { readonly given: readonly string[] | undefined; readonly kind: ContentKind },
): void {
  const content = { ...existing, ...changes };
  if (given !== undefined) {
    refuseSignatures(content, given, kind);
    return;
  }
  const broken = existing === undefined ? [] : brokenMembers(existing, changes, kind);
  if (broken.length === 0) return;
  throw new Problem(
    'breaks_signature',
    `The publisher has signed ${broken.map(({ name }) => name).join(', ')}. Import the signed files of the publisher, or remove the signatures with an empty list.`,
    { errors: broken.map(({ path }) => ({ path, message: 'must not change, because the publisher has signed it' })) },
  );
}

/** @throws 422 */
function refuseSignatures(content: Members, signatures: readonly string[], kind: ContentKind): void {
  const errors = signatureErrors(content, signatures, kind);
  const [first] = errors;
  if (first) throw new Problem('signature_invalid', `${first.path}: ${first.message}`, { errors });
}

/** The highest serial of signatures, of any publisher; 0 if there is none. What was stored by SQL can have any form. */
export const highestSerial = (signatures: readonly string[], kind: ContentKind): number =>
  Math.max(0, ...signatures.map((signature) => serialOf(signature, kind) ?? 0));

function serialOf(signature: string, kind: ContentKind): number | undefined {
  try {
    return readSignature(signature, kind).statement.serial;
  } catch {
    return undefined;
  }
}
