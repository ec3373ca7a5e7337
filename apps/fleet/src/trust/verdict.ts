import type { Trust } from '@svc/contract/fleet';
import {
  type ContentKind,
  contentDigestOf,
  explanationOf,
  type History,
  type Reason,
  reasons,
  templates,
  Untrusted,
  type Verified,
  verifyTemplate,
} from '@svc/trust';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Evidence, StoredEvidence } from './evidence.ts';
import { readHistory, remember } from './memory.ts';
import { readPolicy, type TrustPolicy } from './policy.ts';
import { type NamedPublisher, readPublishers } from './publishers.ts';

type Transaction = Prisma.TransactionClient;

const NOTHING: Omit<Trust, 'state' | 'content'> = {
  publisher: null,
  publisher_name: null,
  key: null,
  serial: null,
  ignored: [],
  reason: null,
  message: '',
};

/** Nothing is verified, because the policy is off. */
export const OFF: Trust = { state: 'off', ...NOTHING, content: null };
export const BY_HAND: Trust = { state: 'by_hand', ...NOTHING, content: null };

/** The evidence of a template or an application, or of a copy. null: there are no signatures, or a copy is from before the fleet kept them. */
type Subject = Evidence | StoredEvidence | null;

/** With what a subject is judged. */
interface Judged {
  readonly policy: TrustPolicy;
  readonly publishers: readonly NamedPublisher[];
  readonly now: Date;
  /** What was verified before of the content that a memory calls so. */
  readonly historyOf: (key: string) => Promise<History> | History;
  /** Default: templates. */
  readonly kind?: ContentKind;
}

/** A verdict, and the parts of an application that it is about. */
export interface Judgement<T = Trust> {
  readonly verdict: T;
  readonly parts: readonly string[];
}

/** Verifies a subject with the present keys. */
export const judge = async (subject: Subject, judged: Judged): Promise<Trust> =>
  (await judgeParts(subject, judged)).verdict;

/** The same, with the parts. */
export async function judgeParts(subject: Subject, judged: Judged): Promise<Judgement> {
  if (judged.policy.mode === 'off') return { verdict: OFF, parts: [] };
  const { verdict, parts } = await judgeSignatures(subject, judged);
  return { verdict: { ...verdict, content: contentOf(subject, judged.kind) }, parts };
}

/** The same for a policy that is not off, without the digest of the content, for callers that do not show it. */
export async function judgeSignatures(subject: Subject, judged: Judged): Promise<Judgement<Omit<Trust, 'content'>>> {
  const { policy, publishers, now, kind = templates } = judged;
  try {
    const { publisher, kid, serial, ignored } = await verify(subject, judged);
    const publisher_name = publishers.find((each) => each.publisher === publisher)?.name ?? null;
    const trusted = { publisher, publisher_name, key: kid, serial, ignored: [...ignored] };
    return { verdict: { ...NOTHING, state: 'trusted', ...trusted }, parts: [] };
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    const { reason, detail, parts } = error;
    const exceptions = policy.exceptions.filter(
      ({ slug, expires_at }) => slug === slugOf(subject) && Date.parse(expires_at) > now.getTime(),
    );
    const isExcepted = exceptions.some(({ content }) => content === contentOf(subject, kind));
    const { message, remedy } = explanationOf(reason, kind.noun);
    const text = `${message.slice(0, -1)}${detail === '' ? '' : ` (${detail})`}. ${remedy}`;
    const state = isExcepted ? 'excepted' : 'untrusted';
    return { verdict: { ...NOTHING, state, reason, message: text }, parts };
  }
}

async function verify(evidence: Subject, judged: Judged): Promise<Verified> {
  const { policy, publishers, now, historyOf, kind = templates } = judged;
  if (!evidence) throw new Untrusted('unsigned');
  // A copy was compared when it was made. The hub does not determine that a caller chooses an older copy.
  const isCompared = 'is_compared' in evidence && evidence.is_compared;
  const verified = await verifyTemplate(evidence.members, evidence.signatures, {
    publishers,
    now,
    kept: evidence.kept,
    history: isCompared ? undefined : await historyOf(kind.keyOf(slugOf(evidence))),
    requiresDigest: policy.require_digest,
    kind,
  });
  const refused = 'refused' in evidence ? reasonOf(evidence.refused) : undefined;
  if (refused !== undefined) throw new Untrusted(refused, 'when the copy was made');
  return verified;
}

/** The slug that the evidence states; '' without evidence. */
export const slugOf = (evidence: Subject): string => String(evidence?.members.slug ?? '');

const reasonOf = (text: string | null): Reason | undefined =>
  // Object.keys returns string[].
  (Object.keys(reasons) as Reason[]).find((reason) => reason === text);

/**
 * Compares a new copy with what was verified of its template or application before, and remembers what is verified now. Another
 * transaction with the same content waits.
 */
export async function compareCopy(
  transaction: Transaction,
  evidence: Evidence,
  kind: ContentKind = templates,
): Promise<StoredEvidence> {
  const policy = await readPolicy(transaction);
  if (policy.mode === 'off') return { ...evidence, refused: null, is_compared: false };
  const history = await readHistory(transaction, kind.keyOf(slugOf(evidence)), { lock: true });
  const publishers = await readPublishers(transaction);
  try {
    const given = { publishers, now: new Date(), kept: evidence.kept, history, kind };
    const verified = await verifyTemplate(evidence.members, evidence.signatures, given);
    await remember(transaction, verified.remember);
    return { ...evidence, refused: null, is_compared: true };
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    const isCompared = OF_HISTORY.includes(error.reason);
    return { ...evidence, refused: isCompared ? error.reason : null, is_compared: isCompared };
  }
}

/** The reasons that only the memory shows. All others are found again with the present keys. */
const OF_HISTORY: readonly Reason[] = ['rollback', 'equivocation', 'publisher_changed'];

/** The digest of the content, whoever signed it. */
const contentOf = (evidence: Subject, kind?: ContentKind): string | null =>
  evidence && contentDigestOf(evidence.members, kind, evidence.kept);
