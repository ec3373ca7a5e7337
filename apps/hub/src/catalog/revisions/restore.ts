import { parseFields, restoredContent } from '@svc/contract';
import { invalid, type Matches, notFound, requireVersion } from '@svc/http';
import type { CatalogTransaction } from '../../database/catalog-write.ts';
import { requestIcons } from '../../icons/store.ts';
import { derivedColumns } from '../derived.ts';
import { registerTags } from '../tags.ts';
import { refuseBrokenSignatures } from '../trust/signatures.ts';
import { newestRevision, readRevision } from './read.ts';

interface Restoration {
  readonly id: string;
  /** The revision whose content the template has again. */
  readonly revision: number;
  /** Members that it has instead of those of the revision. */
  readonly slug?: string | undefined;
  readonly category_id?: string | undefined;
  readonly owner_org_id?: string | null | undefined;
}

/**
 * Gives a template the content of an earlier revision. A deleted template is created again with its id; triggers
 * continue its numbers, and show its open advisories.
 * @throws 400, 404, 409, 412, 422
 */
export async function restoreContent(
  transaction: CatalogTransaction,
  { id, revision, slug, category_id, owner_org_id }: Restoration,
  matches: Matches = () => true,
): Promise<void> {
  const existing = await transaction.template.findUnique({ where: { id } });
  const newest = existing?.resource_version ?? (await newestRevision(transaction, id));
  if (newest === undefined) throw notFound();
  requireVersion(matches, newest);
  const { template } = await readRevision(transaction, id, revision);
  if (!template) throw invalid([{ path: 'revision', message: 'must not be a deletion, which has no content' }]);
  if (revision === existing?.revision) {
    throw invalid([{ path: 'revision', message: 'must be an earlier revision: this is the newest one' }]);
  }
  const parsed = parseFields(restoredContent, {
    ...template,
    ...(slug !== undefined && { slug }),
    ...(category_id !== undefined && { category_id }),
    ...(owner_org_id !== undefined && { owner_org_id }),
  });
  if (!parsed.success) {
    throw invalid(parsed.errors.map(({ path, message }) => ({ path: `revision.${path}`, message })));
  }
  const content = { ...parsed.data, slug: parsed.data.slug ?? template.slug };
  if (existing) refuseBrokenSignatures(existing, content, undefined);
  const data = { ...content, ...derivedColumns(content) };
  if (existing) await transaction.template.update({ where: { id }, data, select: { id: true } });
  else await transaction.template.create({ data: { id, ...data }, select: { id: true } });
  await registerTags(transaction, content.tags);
  if (content.icon_url !== (existing?.icon_url ?? null)) await requestIcons(transaction, [content.slug]);
}
