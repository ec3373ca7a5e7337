import { nearestName } from '@svc/contract';
import { countLexemes, readYamlText, TOO_COMPLEX } from '@svc/documents';
import { invalid } from '@svc/http';
import type { Slugged } from '../../catalog/files/template-file.ts';
import type { Database } from '../../database/client.ts';

/** The maximum number of categories that a suggestion considers. */
const MAX_SUGGESTED = 400;

type ReadFile<T> = (
  value: unknown,
  context: { readonly placeOf: (member: string) => string; readonly slug: string },
  errors: string[],
) => T | undefined;

/** The object that a YAML text describes. @throws 400 with an error for each line that is not valid */
export function objectIn<T extends Slugged>(yaml: string, readFile: ReadFile<T>): T {
  if (countLexemes(yaml) === undefined) throw invalid([{ path: 'yaml', message: TOO_COMPLEX }]);
  const { value, problems, lineOf } = readYamlText(yaml);
  const errors = problems.map(({ line, message }) => `line ${line}: ${message}`);
  const placeOf = (member: string) => `line ${lineOf(member)}`;
  const file = errors.length === 0 ? readFile(value, { placeOf, slug: '' }, errors) : undefined;
  if (file?.slugProblem) errors.push(`${placeOf('slug')}: slug: ${file.slugProblem}`);
  if (!file || errors.length > 0) throw invalid(errors.map((message) => ({ path: 'yaml', message })));
  return file;
}

/**
 * The ids of the category and the owner of a file. What the hub does not have is a warning, because the form offers the
 * choice.
 */
export async function referencesOf(
  client: Database['client'],
  { category: slug, owner: ownerSlug }: { readonly category: string; readonly owner: string | null | undefined },
) {
  const warnings: { path: string; message: string }[] = [];
  const category = await client.category.findUnique({ where: { slug }, select: { id: true } });
  const owner = ownerSlug
    ? await client.organization.findUnique({ where: { slug: ownerSlug }, select: { id: true } })
    : null;
  if (!category) {
    const others = await client.category.findMany({ select: { slug: true }, take: MAX_SUGGESTED });
    const nearest = nearestName(
      slug,
      others.map((other) => other.slug),
    );
    const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    warnings.push({ path: 'category', message: `no category has the slug ${slug}${meant}` });
  }
  if (ownerSlug && !owner) {
    warnings.push({ path: 'owner', message: `no organization has the slug ${ownerSlug}, so there is no owner` });
  }
  return { references: { category_id: category?.id ?? null, owner_org_id: owner?.id ?? null }, warnings };
}
