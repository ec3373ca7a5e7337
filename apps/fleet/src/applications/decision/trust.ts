import { applications } from '@svc/trust';
import type { Refusal } from '../../deployments/refusals.ts';
import {
  isAdmin,
  type OfApplication,
  type RefusedTargets,
  refusalsOf,
  type Trusted,
  targetsUnder,
} from '../../deployments/templates/trust.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Changer } from '../../identity/principal.ts';
import { type Evidence, storedEvidence } from '../../trust/evidence.ts';
import { readHistory } from '../../trust/memory.ts';
import { BY_HAND, compareCopy, type Judgement, judgeParts, OFF } from '../../trust/verdict.ts';
import type { Origin } from '../origin.ts';

type Transaction = Prisma.TransactionClient;

/** A stored specification of an application. */
export interface StoredSpecification {
  readonly id: string;
  readonly specVersion: number;
}

interface Context {
  readonly transaction: Transaction;
  readonly principal?: Changer;
  readonly trusted: Trusted;
}

interface Examined {
  /** The application of the catalog of which it becomes a copy. */
  readonly origin?: Origin | undefined;
  /** The specification that it continues to have; undefined: it begins to have another one. */
  readonly stored?: StoredSpecification | undefined;
}

/** What is known about who signed an application. */
interface ExaminedApplication extends OfApplication {
  /** The parts that the verdict is about. */
  readonly parts: readonly string[];
  /**
   * The reasons of the policy against another specification than before, and the targets on which they apply. No part need differ: the
   * values of variables can, in ways that no revision of a workload shows.
   */
  readonly refusals: readonly Refusal[];
  readonly refusedTargets: RefusedTargets;
}

/**
 * Verifies what an application is to be with the present keys: the application of the catalog of which it becomes a copy, or the copy that
 * it continues to be. A specification of a request was made by hand.
 */
export async function examineApplication(
  { transaction, principal, trusted }: Context,
  { origin, stored }: Examined,
): Promise<ExaminedApplication> {
  const policy = await trusted.policy();
  if (policy.mode === 'off') return { verdict: OFF, parts: [], refusals: [], refusedTargets: new Set() };
  const copy = origin ? { evidence: origin.evidence } : stored && (await readCopy(transaction, stored));
  const judgement: Judgement = copy
    ? await judgeParts(copy.evidence, {
        policy,
        publishers: await trusted.publishers(),
        now: new Date(),
        historyOf: (key) => readHistory(transaction, key, { lock: false }),
        kind: applications,
      })
    : { verdict: BY_HAND, parts: [] };
  const given = { isAdmin: isAdmin(principal), overridden: [], subject: 'application' as const };
  const begins = stored === undefined;
  const refusals = policy.mode === 'require' && begins ? refusalsOf(judgement.verdict, policy, given) : [];
  const refusedTargets = refusals.length === 0 ? new Set<string>() : await targetsUnder(transaction, policy);
  return { ...judgement, refusals, refusedTargets };
}

/** What is stored of the signatures of a specification; undefined if it is no copy. */
async function readCopy(transaction: Transaction, { id, specVersion }: StoredSpecification) {
  const { catalog_id, trust } = await transaction.applicationSpec.findUniqueOrThrow({
    where: { application_id_spec_version: { application_id: id, spec_version: specVersion } },
    select: { catalog_id: true, trust: true },
  });
  return catalog_id === null ? undefined : { evidence: storedEvidence.nullable().parse(trust) };
}

/** What is stored of the signatures of a new copy, which is compared with what was verified of its application before. */
export const trustOfCopy = async (transaction: Transaction, evidence: Evidence | null) =>
  evidence === null
    ? Prisma.DbNull
    : (JSON.parse(JSON.stringify(await compareCopy(transaction, evidence, applications))) as Prisma.InputJsonObject); // an object

type PartRefusal = Refusal & { readonly part: string | null };

const OF_TRUST: readonly Refusal['code'][] = ['template_untrusted', 'by_hand_refused'];

interface Refused {
  /** Those of the whole application, for its trust. */
  readonly ofApplication: readonly Refusal[];
  readonly ofParts: readonly PartRefusal[];
  /** The names of the parts that are not trusted, and of all parts. */
  readonly untrusted: readonly string[];
  readonly parts: readonly string[];
}

/** The refusals of an application, each reason of trust once: about the parts that are not trusted, or about the whole. */
export function refusalsByPart({ ofApplication, ofParts, untrusted, parts }: Refused): PartRefusal[] {
  const known = untrusted.filter((name) => parts.includes(name));
  const all = [...ofApplication, ...ofParts];
  const ofTrust = OF_TRUST.flatMap((code): PartRefusal[] => {
    const found = all.find((refusal) => refusal.code === code);
    if (!found) return [];
    const concerned = code === 'template_untrusted' && known.length > 0 ? known : [null];
    return concerned.map((part) => ({ ...found, part }));
  });
  return [...ofTrust, ...ofParts.filter(({ code }) => !OF_TRUST.includes(code))];
}
