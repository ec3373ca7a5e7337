import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { TemplateTrust } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { presentEvidence } from '../trust/evidence.ts';
import { readHistories } from '../trust/memory.ts';
import { readPolicy } from '../trust/policy.ts';
import { readPublishers } from '../trust/publishers.ts';
import { judgeSignatures, slugOf } from '../trust/verdict.ts';

/** The number of templates that are verified between two statements. */
const BATCH = 125;

const row = z.object({ id: z.string(), signed: z.unknown(), digest: z.string(), updated_at: z.string() });

/** What is stored of the verification of a template. `of` is with what it was verified. */
type StoredTrust = TemplateTrust & { readonly of: string; readonly updated_at: string };

/**
 * Verifies the templates of the mirror that have changed, or all if the policy or the keys have, and stores the results for lists and
 * alerts. Decisions do not read them: they verify again. Other work of the process runs between two templates. Two replicas that do this
 * at the same time store the same.
 */
export async function storeVerdicts({ client }: Database, isStopped: () => boolean): Promise<void> {
  const policy = await readPolicy(client);
  if (policy.mode === 'off') {
    await client.$executeRaw`UPDATE catalog_templates SET trust = NULL WHERE trust IS NOT NULL`;
    return;
  }
  const publishers = await readPublishers(client);
  const now = new Date();
  const ends = [
    ...publishers.map(({ keyring }) => keyring?.expires_at ?? ''),
    ...policy.exceptions.map((each) => each.expires_at),
  ];
  const expired = ends.map((end) => Date.parse(end) <= now.getTime());
  const of = createHash('sha256')
    .update(JSON.stringify([policy, publishers, expired]))
    .digest('base64url');
  let after = '00000000-0000-0000-0000-000000000000';
  while (!isStopped()) {
    const rows = z.array(row).parse(
      await client.$queryRaw`
        SELECT id, signed, ${signedDigest} AS digest, document->>'updated_at' AS updated_at FROM catalog_templates t
        WHERE id > ${after}::uuid AND (trust IS NULL OR trust->>'of' <> ${of}
          OR trust->>'updated_at' IS DISTINCT FROM document->>'updated_at')
        ORDER BY id LIMIT ${BATCH}`,
    );
    const subjects = rows.map((each) => ({ ...each, evidence: presentEvidence(each.signed, each.updated_at) }));
    const histories = await readHistories(
      client,
      subjects.map(({ evidence }) => slugOf(evidence)),
    );
    const verdicts: { id: string; digest: string; trust: StoredTrust }[] = [];
    for (const { id, evidence, digest, updated_at } of subjects) {
      await setImmediate();
      const { verdict } = await judgeSignatures(evidence, { policy, publishers, now, historyOf: histories });
      const { state, publisher, publisher_name, reason } = verdict;
      verdicts.push({ id, digest, trust: { state, publisher, publisher_name, reason, of, updated_at } });
    }
    // A template that changes during the verification is verified again in the next pass.
    await client.$executeRaw`
      UPDATE catalog_templates t SET trust = r.trust
      FROM jsonb_to_recordset(${JSON.stringify(verdicts)}::jsonb) AS r (id uuid, digest text, trust jsonb)
      WHERE t.id = r.id AND ${signedDigest} = r.digest AND t.document->>'updated_at' = r.trust->>'updated_at'`;
    if (rows.length < BATCH) return;
    after = rows.at(-1)?.id ?? after;
  }
}

/** Identifies what was received of a template `t`. */
const signedDigest = Prisma.sql`md5(coalesce(t.signed::text, ''))`;

/** The result for a template `t`, for responses. */
export const templateTrust = Prisma.sql`(t.trust - 'of' - 'updated_at')`;
