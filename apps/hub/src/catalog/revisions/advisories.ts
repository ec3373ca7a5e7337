import { MAX_ADVISORIES } from '@svc/contract/hub';
import { invalid, notFound, Problem } from '@svc/http';
import type { CatalogTransaction } from '../../database/catalog-write.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Kind } from '../kinds.ts';
import { newestRevision } from './read.ts';

/** What an administrator states about revisions of an object. */
export interface StatedAdvisory {
  readonly severity: string;
  readonly message: string;
  readonly url: string | null;
  readonly first_revision: number;
  readonly last_revision: number | null;
}

type StoredAdvisory = StatedAdvisory & { readonly id: string };

const columns = Prisma.sql`id, severity, message, url, first_revision, last_revision`;

/** Publishes an advisory. Triggers show it with the object. @throws 400, 404, 409 */
export async function createAdvisory(
  transaction: CatalogTransaction,
  kind: Kind,
  id: string,
  stated: StatedAdvisory,
): Promise<StoredAdvisory> {
  const [object] = await transaction.$queryRaw<{ revision: number; open: number }[]>`
    SELECT t.revision, (
      SELECT count(*)::int FROM ${kind.advisories} a WHERE a.${kind.id} = t.id AND a.withdrawn_at IS NULL) AS open
    FROM ${kind.table} t WHERE t.id = ${id}::uuid`;
  if (!object) throw notFound();
  refuseLater(stated, object.revision);
  const { open } = object;
  if (open >= MAX_ADVISORIES) {
    throw new Problem(
      'too_many_advisories',
      `The ${kind.noun} has ${open} advisories, and at most ${MAX_ADVISORIES} are allowed. Withdraw or change one of them.`,
    );
  }
  const { severity, message, url, first_revision, last_revision } = stated;
  return one(
    await transaction.$queryRaw<StoredAdvisory[]>`
      INSERT INTO ${kind.advisories} (id, ${kind.id}, severity, message, url, first_revision, last_revision)
      VALUES (gen_random_uuid(), ${id}::uuid, ${severity}, ${message}, ${url}, ${first_revision}, ${last_revision})
      RETURNING ${columns}`,
  );
}

function one(rows: readonly StoredAdvisory[]): StoredAdvisory {
  const [advisory] = rows;
  if (!advisory) throw new Error('an advisory was not stored');
  return advisory;
}

interface Named {
  readonly id: string;
  readonly advisoryId: string;
}

/** Replaces an advisory. @throws 400, 404, 409 */
export async function updateAdvisory(
  transaction: CatalogTransaction,
  kind: Kind,
  named: Named,
  stated: StatedAdvisory,
): Promise<StoredAdvisory> {
  await requireOpen(transaction, kind, named);
  refuseLater(stated, (await newestRevision(transaction, kind, named.id)) ?? 0);
  const { severity, message, url, first_revision, last_revision } = stated;
  return one(
    await transaction.$queryRaw<StoredAdvisory[]>`
      UPDATE ${kind.advisories} SET severity = ${severity}, message = ${message}, url = ${url},
        first_revision = ${first_revision}, last_revision = ${last_revision}
      WHERE id = ${named.advisoryId}::uuid RETURNING ${columns}`,
  );
}

/** Withdraws an advisory. @throws 404, 409 */
export async function withdrawAdvisory(transaction: CatalogTransaction, kind: Kind, named: Named): Promise<void> {
  await requireOpen(transaction, kind, named);
  await transaction.$executeRaw`
    UPDATE ${kind.advisories} SET withdrawn_at = now() WHERE id = ${named.advisoryId}::uuid`;
}

async function requireOpen(transaction: CatalogTransaction, kind: Kind, { id, advisoryId }: Named): Promise<void> {
  const [found] = await transaction.$queryRaw<{ is_withdrawn: boolean }[]>`
    SELECT withdrawn_at IS NOT NULL AS is_withdrawn FROM ${kind.advisories}
    WHERE id = ${advisoryId}::uuid AND ${kind.id} = ${id}::uuid`;
  if (!found) throw notFound();
  if (found.is_withdrawn) {
    throw new Problem('advisory_withdrawn', 'The advisory was withdrawn, and cannot be changed. Publish a new one.');
  }
}

/** @throws 400 for a range that begins after the newest revision */
function refuseLater({ first_revision }: StatedAdvisory, newest: number): void {
  if (first_revision <= newest) return;
  throw invalid([{ path: 'first_revision', message: `must be at most ${newest}, the newest revision` }]);
}
