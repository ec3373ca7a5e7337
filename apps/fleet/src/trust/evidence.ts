import { type ContentKind, digestsOf, type Members, membersNamedIn, templates, Untrusted } from '@svc/trust';
import { z } from 'zod';
import { isStorable } from '../database/storable.ts';

/** What is kept of a template or an application as it was received, so that its signatures can be verified again. */
const evidence = z.object({
  /** The signed members as they were received, without those in `kept`. */
  members: z.record(z.string(), z.unknown()),
  /** The digests of members that are not kept. */
  kept: z.record(z.string(), z.string()),
  signatures: z.array(z.unknown()),
  /** `updated_at` of the document. An earlier version of the fleet that writes another document leaves the evidence. */
  updated_at: z.string(),
});
export type Evidence = z.output<typeof evidence>;

/** The evidence of a copy in a revision of a workload, or in a specification of an application. */
export const storedEvidence = evidence.extend({
  /** Why the copy differs from what was verified of its template before it was made; null: it does not. */
  refused: z.string().nullable(),
  /** Whether it was compared, which requires a valid signature. */
  is_compared: z.boolean(),
});
export type StoredEvidence = z.output<typeof storedEvidence>;

/** The evidence of an object of the mirror, unless an earlier version of the fleet has replaced its document. */
export function presentEvidence(signed: unknown, updatedAt: string): Evidence | null {
  const parsed = evidence.safeParse(signed);
  return parsed.success && parsed.data.updated_at === updatedAt ? parsed.data : null;
}

/** Long texts of which only the digest is kept. Nothing that runs depends on them. */
const DIGESTED = ['description', 'documentation', 'version'];

/** The evidence in an object of the hub; null if it has no signatures. */
export function evidenceOf(received: Members, updated_at: string, kind: ContentKind = templates): Evidence | null {
  const { signatures } = received;
  if (!Array.isArray(signatures) || signatures.length === 0) return null;
  const names = [...new Set([...kind.covered, ...signatures.flatMap((signature) => signedNames(signature, kind))])];
  // What PostgreSQL cannot store is left out, and the verification then refuses the content.
  const present = names.filter((name) => Object.hasOwn(received, name) && isStorable(received[name]));
  const own = present.filter((name) => !DIGESTED.includes(name));
  return {
    members: Object.fromEntries(own.map((name) => [name, received[name]])),
    kept: digestsOf(
      received,
      present.filter((name) => DIGESTED.includes(name)),
    ),
    signatures: signatures.slice(0, MAX_KEPT).filter(isStorable),
    updated_at,
  };
}

/** One signature more than the verification accepts, so that too many are noticed. */
const MAX_KEPT = 9;

function signedNames(signature: unknown, kind: ContentKind): string[] {
  try {
    return membersNamedIn(signature, kind);
  } catch (error) {
    if (error instanceof Untrusted) return [];
    throw error;
  }
}
