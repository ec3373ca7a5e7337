import { MAX_ADVISORIES } from '@svc/contract/hub';
import { invalid, notFound, Problem } from '@svc/http';
import type { CatalogTransaction } from '../../database/catalog-write.ts';
import { newestRevision } from './read.ts';

/** What an administrator states about revisions of a template. */
export interface StatedAdvisory {
  readonly severity: string;
  readonly message: string;
  readonly url: string | null;
  readonly first_revision: number;
  readonly last_revision: number | null;
}

/** Publishes an advisory. Triggers show it with the template. @throws 400, 404, 409 */
export async function createAdvisory(transaction: CatalogTransaction, templateId: string, stated: StatedAdvisory) {
  const template = await transaction.template.findUnique({ where: { id: templateId }, select: { revision: true } });
  if (!template) throw notFound();
  refuseLater(stated, template.revision);
  const open = await transaction.templateAdvisory.count({ where: { template_id: templateId, withdrawn_at: null } });
  if (open >= MAX_ADVISORIES) {
    throw new Problem(
      'too_many_advisories',
      `The template has ${open} advisories, and at most ${MAX_ADVISORIES} are allowed. Withdraw or change one of them.`,
    );
  }
  return transaction.templateAdvisory.create({ data: { template_id: templateId, ...stated } });
}

interface Named {
  readonly id: string;
  readonly advisoryId: string;
}

/** Replaces an advisory. @throws 400, 404, 409 */
export async function updateAdvisory(transaction: CatalogTransaction, named: Named, stated: StatedAdvisory) {
  await requireOpen(transaction, named);
  refuseLater(stated, (await newestRevision(transaction, named.id)) ?? 0);
  return transaction.templateAdvisory.update({ where: { id: named.advisoryId }, data: { ...stated } });
}

/** Withdraws an advisory. @throws 404, 409 */
export async function withdrawAdvisory(transaction: CatalogTransaction, named: Named): Promise<void> {
  await requireOpen(transaction, named);
  await transaction.templateAdvisory.update({
    where: { id: named.advisoryId },
    data: { withdrawn_at: new Date() },
  });
}

async function requireOpen({ templateAdvisory }: CatalogTransaction, { id, advisoryId }: Named): Promise<void> {
  const found = await templateAdvisory.findUnique({ where: { id: advisoryId, template_id: id } });
  if (!found) throw notFound();
  if (found.withdrawn_at) {
    throw new Problem('advisory_withdrawn', 'The advisory was withdrawn, and cannot be changed. Publish a new one.');
  }
}

/** @throws 400 for a range that begins after the newest revision */
function refuseLater({ first_revision }: StatedAdvisory, newest: number): void {
  if (first_revision <= newest) return;
  throw invalid([{ path: 'first_revision', message: `must be at most ${newest}, the newest revision` }]);
}
