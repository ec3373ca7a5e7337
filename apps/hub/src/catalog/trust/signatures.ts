import { Problem } from '@svc/http';
import { changedMembers, inspectSignature, type Members, readSignature, Untrusted } from '@svc/trust';

interface SignedTemplate {
  readonly signatures: readonly string[];
}

/** The covered members of a signed template that a change would change. Its signatures would be about other content. */
export const brokenMembers = (existing: SignedTemplate & Members, changed: Members): string[] =>
  existing.signatures.length === 0 ? [] : changedMembers(existing, { ...existing, ...changed });

/** What is wrong with the signatures of a template, by their position. The hub does not verify who made them. */
export const signatureErrors = (
  template: Members,
  signatures: readonly string[],
): { path: string; message: string }[] =>
  signatures.flatMap((signature, index) => {
    try {
      inspectSignature(template, signature);
      return [];
    } catch (error) {
      if (!(error instanceof Untrusted)) throw error;
      return [{ path: `signatures.${index}`, message: messageOf(error) }];
    }
  });

function messageOf({ reason, detail }: Untrusted): string {
  switch (reason) {
    case 'content_changed':
    case 'uncovered_member':
      return `must be about this content; it differs in ${detail}`;
    case 'other_template':
      return `must be about this template, and not about ${detail}`;
    default:
      return `must be a signature of a template, as the command sign writes it: ${detail}`;
  }
}

/**
 * Refuses a change that leaves signatures which are about other content.
 * @param given the signatures of the request; undefined: they do not change
 * @throws 409 `breaks_signature`, 422 `signature_invalid`
 */
export function refuseBrokenSignatures(
  existing: (SignedTemplate & Members) | undefined,
  changes: Members,
  given: readonly string[] | undefined,
): void {
  const template = { ...existing, ...changes };
  if (given !== undefined) {
    refuseSignatures(template, given);
    return;
  }
  const broken = existing === undefined ? [] : brokenMembers(existing, changes);
  if (broken.length === 0) return;
  throw new Problem(
    'breaks_signature',
    `The publisher has signed ${broken.join(', ')}. Import the signed files of the publisher, or remove the signatures with an empty list.`,
    { errors: broken.map((path) => ({ path, message: 'must not change, because the publisher has signed it' })) },
  );
}

/** @throws 422 */
function refuseSignatures(template: Members, signatures: readonly string[]): void {
  const errors = signatureErrors(template, signatures);
  const [first] = errors;
  if (first) throw new Problem('signature_invalid', `${first.path}: ${first.message}`, { errors });
}

/** The highest serial of signatures, of any publisher; 0 if there is none. What was stored by SQL can have any form. */
export const highestSerial = (signatures: readonly string[]): number =>
  Math.max(0, ...signatures.map((signature) => serialOf(signature) ?? 0));

function serialOf(signature: string): number | undefined {
  try {
    return readSignature(signature).statement.serial;
  } catch {
    return undefined;
  }
}
