import { nearestName, storedValueProblems } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { countLexemes, readYamlText, TOO_COMPLEX } from '@svc/documents';
import { invalid } from '@svc/http';
import { readTemplateFile as readFile } from '../../../catalog/files/template-file.ts';
import { route } from '../../request/context.ts';

/** The maximum number of categories that a suggestion considers. */
const MAX_SUGGESTED = 400;

/**
 * A category or an organization that the hub does not have is a warning, because the form offers
 * the choice.
 */
export const readTemplateFile = route(
  hubEndpoints.readTemplateFile,
  async ({ database: { client } }, { body: { yaml } }) => {
    const file = templateIn(yaml);
    const slug = file.category;
    const category = await client.category.findUnique({ where: { slug }, select: { id: true } });
    const owner = file.owner
      ? await client.organization.findUnique({ where: { slug: file.owner }, select: { id: true } })
      : null;
    const warnings = storedValueProblems(file);
    if (!category) {
      const others = await client.category.findMany({ select: { slug: true }, take: MAX_SUGGESTED });
      const nearest = nearestName(
        slug,
        others.map((other) => other.slug),
      );
      const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      warnings.push({ path: 'category', message: `no category has the slug ${slug}${meant}` });
    }
    if (file.owner && !owner) {
      warnings.push({ path: 'owner', message: `no organization has the slug ${file.owner}, so there is no owner` });
    }
    const references = { category_id: category?.id ?? null, owner_org_id: owner?.id ?? null };
    return { template: { ...file, ...references }, warnings };
  },
);

/** The template that a YAML text describes. @throws 400 with an error for each line that is not valid */
function templateIn(yaml: string) {
  if (countLexemes(yaml) === undefined) throw invalid([{ path: 'yaml', message: TOO_COMPLEX }]);
  const { value, problems, lineOf } = readYamlText(yaml);
  const errors = problems.map(({ line, message }) => `line ${line}: ${message}`);
  const placeOf = (member: string) => `line ${lineOf(member)}`;
  const file = errors.length === 0 ? readFile(value, { placeOf, slug: '' }, errors) : undefined;
  if (file?.slugProblem) errors.push(`${placeOf('slug')}: slug: ${file.slugProblem}`);
  if (!file || errors.length > 0) throw invalid(errors.map((message) => ({ path: 'yaml', message })));
  return file;
}
