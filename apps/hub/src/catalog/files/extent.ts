import { Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';

/** What an import or an export reads and changes of the catalog. */
export interface Extent {
  /**
   * The categories outside which nothing is read or changed: those of a service token. Undefined: the
   * whole catalog.
   */
  readonly categoryIds?: readonly string[] | undefined;
  /** The most that is read. Undefined: no limits, for commands. */
  readonly limits?: Limits | undefined;
}

interface Limits {
  readonly categories: number;
  readonly templates: number;
  readonly applications: number;
  /** The size of the templates and applications, as they are stored. */
  readonly bytes: number;
}

export const WHOLE_CATALOG: Extent = {};

export const categoriesIn = ({ categoryIds }: Extent): Prisma.CategoryWhereInput =>
  categoryIds === undefined ? {} : { id: { in: [...categoryIds] } };

/** The templates, or the applications, in an extent. */
export const objectsIn = ({ categoryIds }: Extent): Pick<Prisma.TemplateWhereInput, 'category_id'> =>
  categoryIds === undefined ? {} : { category_id: { in: [...categoryIds] } };

const NOUNS = {
  categories: 'categories',
  templates: 'templates',
  applications: 'applications',
  bytes: 'bytes of templates and applications',
} as const;

/** Refuses to read more than the limits, before it is read. @throws 413 */
export function refuseBeyond({ limits }: Extent, found: Partial<Limits>): void {
  if (!limits) return;
  // Object.keys returns string[].
  for (const what of Object.keys(NOUNS) as (keyof typeof NOUNS)[]) {
    const count = found[what] ?? 0;
    if (count <= limits[what]) continue;
    throw new Problem(
      'payload_too_large',
      `There are ${count} ${NOUNS[what]} to read, and at most ${limits[what]} are allowed. Use a token for fewer categories, or the commands import and export.`,
    );
  }
}
