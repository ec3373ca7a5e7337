import type { Trust } from '@svc/contract/fleet';
import {
  contentDigest,
  coveredMembers,
  digestsOf,
  type History,
  type Reason,
  reasons,
  signedForm,
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

const NOTHING: Omit<Trust, 'state'> = {
  publisher: null,
  publisher_name: null,
  key: null,
  serial: null,
  ignored: [],
  reason: null,
  message: '',
  content: null,
};

/** Nothing is verified, because the policy is off. */
export const OFF: Trust = { state: 'off', ...NOTHING };
export const BY_HAND: Trust = { state: 'by_hand', ...NOTHING };

/** The evidence of a template or of a copy. null: there are no signatures, or a copy is from before the fleet kept them. */
type Subject = Evidence | StoredEvidence | null;

/** With what a subject is judged. */
interface Judged {
  readonly policy: TrustPolicy;
  readonly publishers: readonly NamedPublisher[];
  readonly now: Date;
  /** What was verified of a slug before. */
  readonly historyOf: (slug: string) => Promise<History> | History;
}

/** Verifies a subject with the present keys. */
export async function judge(subject: Subject, judged: Judged): Promise<Trust> {
  const { policy, publishers, now } = judged;
  if (policy.mode === 'off') return OFF;
  const content = contentOf(subject);
  try {
    const { publisher, kid, serial, ignored } = await verify(subject, judged);
    const publisher_name = publishers.find((each) => each.publisher === publisher)?.name ?? null;
    return {
      ...NOTHING,
      state: 'trusted',
      publisher,
      publisher_name,
      key: kid,
      serial,
      ignored: [...ignored],
      content,
    };
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    const { reason, detail } = error;
    const exception = policy.exceptions.find(
      ({ slug, content: excepted, expires_at }) =>
        slug === slugOf(subject) && excepted === content && Date.parse(expires_at) > now.getTime(),
    );
    const { message, remedy } = reasons[reason];
    const text = `${message.slice(0, -1)}${detail === '' ? '' : ` (${detail})`}. ${remedy}`;
    return { ...NOTHING, state: exception ? 'excepted' : 'untrusted', reason, message: text, content };
  }
}

async function verify(evidence: Subject, { policy, publishers, now, historyOf }: Judged): Promise<Verified> {
  if (!evidence) throw new Untrusted('unsigned');
  // A copy was compared when it was made. The hub does not determine that a caller chooses an older copy.
  const isCompared = 'is_compared' in evidence && evidence.is_compared;
  const verified = await verifyTemplate(evidence.members, evidence.signatures, {
    publishers,
    now,
    kept: evidence.kept,
    history: isCompared ? undefined : await historyOf(slugOf(evidence)),
    requiresDigest: policy.require_digest,
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
 * Compares a new copy of a template with what was verified of the template before, and remembers what is verified now. Another
 * transaction with the same slug waits.
 */
export async function compareCopy(transaction: Transaction, evidence: Evidence): Promise<StoredEvidence> {
  const policy = await readPolicy(transaction);
  if (policy.mode === 'off') return { ...evidence, refused: null, is_compared: false };
  const history = await readHistory(transaction, slugOf(evidence), { lock: true });
  const publishers = await readPublishers(transaction);
  try {
    const given = { publishers, now: new Date(), kept: evidence.kept, history };
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
function contentOf(evidence: Subject): string | null {
  if (!evidence) return null;
  return contentDigest({ ...digestsOf(signedForm(evidence.members), coveredMembers), ...evidence.kept });
}
