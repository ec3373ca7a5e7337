import { CallError } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Hub } from './hub.ts';

interface Used {
  readonly workloadId: string;
  readonly revision: number;
}

/** Notes that a template is deployed here, if it is for the first time. */
export const noteTemplateUse = (
  transaction: Prisma.TransactionClient,
  { workloadId, revision }: Used,
): Promise<number> =>
  transaction.$executeRaw`
    INSERT INTO template_uses (template_id, slug)
    SELECT template_id, template_slug FROM workload_revisions
    WHERE workload_id = ${workloadId}::uuid AND revision = ${revision} AND template_id IS NOT NULL
    ON CONFLICT (template_id) DO NOTHING`;

/** A template that was withdrawn meanwhile is counted no more. */
function unlessGone(error: unknown): void {
  const isGone = error instanceof CallError && error.failure.kind === 'refused' && error.failure.status === 404;
  if (!isGone) throw error;
}

interface Claimed {
  readonly template_id: string;
  readonly slug: string;
}

/**
 * Asks the hub once for each template that was deployed here for the first time: that is what it counts as a download. One
 * that it can't be asked for now stays to be asked for. Replicas share the work. @throws CallError
 */
export async function tellUses({ client }: Database, hub: Hub): Promise<void> {
  for (let use = await claim(client); use; use = await claim(client)) {
    const { template_id, slug } = use;
    await hub.client.getTemplate({ params: { slug } }).catch(unlessGone);
    await client.$executeRaw`UPDATE template_uses SET told_at = now() WHERE template_id = ${template_id}::uuid`;
  }
}

/** A template to ask for, as the hub calls it by now; another replica leaves it alone for a minute. */
async function claim(client: Database['client']): Promise<Claimed | undefined> {
  const [use] = await client.$queryRaw<Claimed[]>`
      UPDATE template_uses u SET claimed_at = now(), slug = coalesce(t.slug, u.slug)
      FROM (SELECT template_id FROM template_uses
            WHERE told_at IS NULL AND coalesce(claimed_at < now() - interval '1 minute', true)
            LIMIT 1 FOR UPDATE SKIP LOCKED) due
      LEFT JOIN catalog_templates t ON t.id = due.template_id
      WHERE u.template_id = due.template_id
      RETURNING u.template_id, u.slug`;
  return use;
}
