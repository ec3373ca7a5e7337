import { parseFields } from '@svc/contract';
import { invalid, type Matches, notFound, requireVersion } from '@svc/http';
import type { CatalogTransaction } from '../../database/catalog-write.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { requestIcons } from '../../icons/store.ts';
import { derivedColumns } from '../derived.ts';
import { tableOf } from '../files/objects.ts';
import { registerTags } from '../tags.ts';
import { kinds, refuseBrokenSignatures } from '../trust/signatures.ts';
import type { CatalogContent, RevisedKind } from './content.ts';
import { newestRevision, readRevision } from './read.ts';

interface Restoration {
  readonly id: string;
  /** The revision whose content the object has again. */
  readonly revision: number;
  /** Members that it has instead of those of the revision. */
  readonly slug?: string | undefined;
  readonly category_id?: string | undefined;
  readonly owner_org_id?: string | null | undefined;
}

/**
 * Gives an object the content of an earlier revision. A deleted object is created again with its id; triggers
 * continue its numbers, and show its open advisories.
 * @throws 400, 404, 409, 412, 422
 */
export async function restoreContent(
  transaction: CatalogTransaction,
  revised: RevisedKind<CatalogContent>,
  { id, revision, slug, category_id, owner_org_id }: Restoration,
  matches: Matches = () => true,
): Promise<void> {
  const { kind, restored } = revised;
  const table = tableOf(transaction, kind.noun);
  const existing = await table.findUnique({ where: { id } });
  const newest = existing?.resource_version ?? (await newestRevision(transaction, kind, id));
  if (newest === undefined) throw notFound();
  requireVersion(matches, newest);
  const { content: old } = await readRevision(transaction, revised, id, revision);
  if (!old) throw invalid([{ path: 'revision', message: 'must not be a deletion, which has no content' }]);
  if (revision === existing?.revision) {
    throw invalid([{ path: 'revision', message: 'must be an earlier revision: this is the newest one' }]);
  }
  const parsed = parseFields(restored, {
    ...old,
    ...(slug !== undefined && { slug }),
    ...(category_id !== undefined && { category_id }),
    ...(owner_org_id !== undefined && { owner_org_id }),
  });
  if (!parsed.success) {
    throw invalid(parsed.errors.map(({ path, message }) => ({ path: `revision.${path}`, message })));
  }
  const content = { ...parsed.data, slug: parsed.data.slug ?? old.slug };
  if (existing) refuseBrokenSignatures(existing, { ...content }, { given: undefined, kind: kinds[kind.noun] });
  const data = { ...content, ...derivedColumns(content) };
  if (existing) await table.update({ where: { id }, data, select: { id: true } });
  else {
    const created = { id, ...data } as unknown as Prisma.TemplateUncheckedCreateInput; // the rules accepted the columns
    await table.create({ data: created, select: { id: true } });
  }
  await registerTags(transaction, content.tags);
  if ('icon_url' in content && content.icon_url !== (existing?.icon_url ?? null))
    await requestIcons(transaction, [content.slug]);
}
