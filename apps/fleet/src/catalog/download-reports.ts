import { CallError } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Hub } from './hub.ts';

interface DeployedRevision {
  readonly workloadId: string;
  readonly revision: number;
}

/** Records the first deployment of a template in this fleet. Later deployments have no effect. */
export const recordDownload = (
  transaction: Prisma.TransactionClient,
  { workloadId, revision }: DeployedRevision,
): Promise<number> =>
  transaction.$executeRaw`
    INSERT INTO download_reports (template_id, slug)
    SELECT template_id, template_slug FROM workload_revisions
    WHERE workload_id = ${workloadId}::uuid AND revision = ${revision} AND template_id IS NOT NULL
    ON CONFLICT (template_id) DO NOTHING`;

/** A template that was withdrawn since its deployment (404) needs no report. */
function ignoreWithdrawn(error: unknown): void {
  const isWithdrawn = error instanceof CallError && error.failure.kind === 'refused' && error.failure.status === 404;
  if (!isWithdrawn) throw error;
}

interface DueReport {
  readonly template_id: string;
  readonly slug: string;
}

/**
 * Fetches each template from the hub once after its first deployment, because the hub counts that
 * request as a download. If a request fails, a later call repeats it. Replicas share the work.
 * @throws CallError
 */
export async function reportDownloads({ client }: Database, hub: Hub): Promise<void> {
  for (let report = await claimReport(client); report; report = await claimReport(client)) {
    const { template_id, slug } = report;
    await hub.client.getTemplate({ params: { slug } }).catch(ignoreWithdrawn);
    await client.$executeRaw`UPDATE download_reports SET reported_at = now() WHERE template_id = ${template_id}::uuid`;
  }
}

/**
 * Claims a report for a minute, with the current slug of the template. Other replicas skip it
 * during this time.
 */
async function claimReport(client: Database['client']): Promise<DueReport | undefined> {
  const [report] = await client.$queryRaw<DueReport[]>`
      UPDATE download_reports u SET claimed_at = now(), slug = coalesce(t.slug, u.slug)
      FROM (SELECT template_id FROM download_reports
            WHERE reported_at IS NULL AND coalesce(claimed_at < now() - interval '1 minute', true)
            LIMIT 1 FOR UPDATE SKIP LOCKED) due
      LEFT JOIN catalog_templates t ON t.id = due.template_id
      WHERE u.template_id = due.template_id
      RETURNING u.template_id, u.slug`;
  return report;
}
