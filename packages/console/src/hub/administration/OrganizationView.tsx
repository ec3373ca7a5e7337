import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { t } from '../../shared/texts/texts.ts';
import { formatCount } from '../../shared/ui/display/format.ts';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, type ManagedTemplate, type Organization } from '../api.ts';

/** Which templates an organization sees, and the rule that decides. */
export function OrganizationView({ organization }: { readonly organization: Organization }) {
  const templates = useQuery(hub.read('listAllTemplates', { query: { view: 'summary' } }));
  const categories = useQuery(hub.read('listAllCategories'));
  const grants = useQuery(hub.read('listGrants', { query: { org_id: organization.id } }));
  const visible = useQuery({
    queryKey: ['admin', 'visible', organization.id],
    queryFn: ({ signal }) => visibleTemplates(organization.id, signal),
  });
  const error = templates.error ?? categories.error ?? grants.error ?? visible.error;
  if (error) {
    const retry = () => [templates, categories, grants, visible].map((query) => query.refetch());
    return <ErrorView error={error} retry={retry} />;
  }
  if (!templates.data || !categories.data || !grants.data || !visible.data)
    return <Loading text={t('Loading the templates…')} />;
  const hidden = new Set(categories.data.categories.flatMap(({ id, is_private }) => (is_private ? [id] : [])));
  const granted = new Set(grants.data.grants.map(({ category_id }) => category_id));
  const rows = templates.data.templates.map((template) => ({
    template,
    isVisible: visible.data.has(template.id),
    reason: reasonOf({ template, organization, hidden, granted }),
  }));
  const seen = rows.filter(({ isVisible }) => isVisible).length;
  return (
    <Panel
      title={t('{name} sees {seen} of {total, plural, one {# template} other {# templates}}', {
        name: organization.name,
        seen: formatCount(seen),
        total: rows.length,
      })}
      flush
    >
      {organization.status === 'suspended' && (
        <Notice kind="warning" title={t('The organization is suspended')}>
          <p>{t('Its fleets cannot sync.')}</p>
        </Notice>
      )}
      <Table
        label={t('Templates')}
        columns={[{ label: t('Template') }, { label: t('Visible') }, { label: t('Reason') }]}
      >
        {rows.map(({ template, isVisible, reason }) => (
          <tr key={template.id}>
            <th scope="row">
              <Link href={href('/admin/templates/:id', { id: template.id })} className="cell-link">
                {template.name}
              </Link>
              <span className="muted small truncate">{template.category_name}</span>
            </th>
            <td>
              <Status {...(isVisible ? looks.good(t('Visible')) : looks.off(t('Hidden')))} />
            </td>
            <td className="muted">{reason}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

interface Given {
  readonly template: ManagedTemplate;
  readonly organization: Organization;
  /** The ids of private categories. */
  readonly hidden: ReadonlySet<string>;
  /** The ids of categories for which the organization has a grant. */
  readonly granted: ReadonlySet<string>;
}

/** The rule that decides. The hub decides by the same rule; `visible` is its result. */
function reasonOf({ template, organization, hidden, granted }: Given): string {
  const { is_public, owner_org_id, category_id, category_name } = template;
  if (owner_org_id === organization.id) return t('The organization owns the template.');
  if (!hidden.has(category_id)) {
    return is_public ? t('The template and its category are public.') : t('The template is private.');
  }
  if (!is_public && owner_org_id !== null) return t('The template is private to another organization.');
  return granted.has(category_id)
    ? t('The organization has a grant for {category_name}.', { category_name })
    : t('The category {category_name} is private, and there is no grant.', { category_name });
}

const PAGE_SIZE = 100;

/** The ids of the templates that an organization sees. */
async function visibleTemplates(as: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let page = 1, totalPages = 1; page <= totalPages; page += 1) {
    const query = { as, view: 'summary', limit: PAGE_SIZE, page } as const;
    const { templates, pagination } = await hub.call('listAllTemplates', { query, signal });
    for (const { id } of templates) ids.add(id);
    totalPages = pagination.totalPages;
  }
  return ids;
}
