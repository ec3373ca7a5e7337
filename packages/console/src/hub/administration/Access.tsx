import { useMutation, useQuery } from '@tanstack/react-query';
import { Grid3x3 } from 'lucide-react';
import { useState } from 'react';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Empty, ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Category, hub, type Organization } from '../api.ts';
import { AccessRequestsPanel } from './AccessRequestsPanel.tsx';
import { OrganizationView } from './OrganizationView.tsx';

const PAGE_SIZE = 25;

const tabs = [
  { id: 'matrix', label: t('Grants') },
  { id: 'requests', label: t('Requests') },
  { id: 'view', label: t('What an organization sees') },
] as const;

export default function Access() {
  const tab = useTab(tabs);
  return (
    <>
      <PageHeader title={t('Access')} about={t('Which organizations see which private categories')} />
      <Tabs label={t('Access')} tabs={tabs} current={tab} path="/admin/access" />
      {tab === 'matrix' && <Matrix />}
      {tab === 'requests' && <AccessRequestsPanel />}
      {tab === 'view' && <ViewOfOrganization />}
    </>
  );
}

const cellOf = (organization: Pick<Organization, 'id'>, category: Pick<Category, 'id'>) =>
  `${organization.id} ${category.id}`;

/** Grants as a matrix. Changes are collected, shown with their consequences, and then applied. */
function Matrix() {
  const { values, set, page } = useFilters('search');
  const organizations = useQuery(hub.read('listOrganizations', { query: { ...values, page, limit: PAGE_SIZE } }));
  const categories = useQuery(hub.read('listAllCategories'));
  const grants = useQuery(hub.read('listGrants'));
  const [staged, setStaged] = useState<ReadonlyMap<string, Change>>(new Map());
  const apply = useMutation({
    ...hub.change('changeAccess', 'catalog'),
    onSuccess: ({ granted: created, revoked }) => {
      confirmChange(
        t('{created, plural, one {# grant} other {# grants}} created, {revoked} revoked', {
          created,
          revoked: formatCount(revoked),
        }),
      );
      setStaged(new Map());
    },
  });
  const error = organizations.error ?? categories.error ?? grants.error;
  if (error) {
    const retry = () => [organizations, categories, grants].map((query) => query.refetch());
    return <ErrorView error={error} retry={retry} />;
  }
  if (!organizations.data || !categories.data || !grants.data) return <Loading text={t('Loading the grants…')} />;
  const hidden = categories.data.categories.filter(({ is_private }) => is_private);
  if (hidden.length === 0) {
    return (
      <div className="panel">
        <Empty
          icon={Grid3x3}
          title={t('No category is private')}
          action={<ButtonLink href="/admin/categories">{t('Categories')}</ButtonLink>}
        >
          {t('All organizations see all categories. Make a category private to decide who sees it.')}
        </Empty>
      </div>
    );
  }
  const granted = new Set(grants.data.grants.map(({ org_id, category_id }) => `${org_id} ${category_id}`));
  const toggle = (change: Change) => {
    const next = new Map(staged);
    const cell = cellOf(change.organization, change.category);
    if (granted.has(cell) === change.isGranted) next.delete(cell);
    else next.set(cell, change);
    setStaged(next);
  };
  const changes = [...staged.values()];
  return (
    <div className="stack">
      <div className="filters">
        <SearchField label={t('Search organizations')} value={values.search} onChange={(search) => set({ search })} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
      <section className="table-box" aria-label={t('Grants')} tabIndex={0}>
        <table className="matrix">
          <thead>
            <tr>
              <th scope="col">{t('Organization')}</th>
              {hidden.map(({ id, name, template_count }) => (
                <th key={id} scope="col">
                  {name}
                  <span className="muted small truncate">
                    {t('{count, plural, one {# template} other {# templates}}', { count: template_count })}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {organizations.data.organizations.map((organization) => (
              <tr key={organization.id}>
                <th scope="row">
                  {organization.name}
                  <span className="muted small truncate">{tierLabel(organization.tier)}</span>
                </th>
                {hidden.map((category) => {
                  const cell = cellOf(organization, category);
                  const change = staged.get(cell);
                  return (
                    <td key={category.id} className={change ? 'changed' : undefined}>
                      <label>
                        <input
                          type="checkbox"
                          aria-label={t('{organization} sees {category}', {
                            organization: organization.name,
                            category: category.name,
                          })}
                          checked={change ? change.isGranted : granted.has(cell)}
                          onChange={({ target }) => toggle({ organization, category, isGranted: target.checked })}
                        />
                        <span>{category.name}</span>
                      </label>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Pager pagination={organizations.data.pagination} onPage={(next) => set({ page: next })} />
      {apply.error && <ErrorView error={apply.error} />}
      {changes.length > 0 && (
        <Notice title={t('{count, plural, one {# change} other {# changes}}', { count: changes.length })}>
          <ul className="bullets">
            {changes.map((change) => (
              <li key={cellOf(change.organization, change.category)}>{wordsOf(change)}</li>
            ))}
          </ul>
          <Consequences changes={changes} />
          <div className="actions">
            <Button tone="primary" pending={apply.isPending} onClick={() => apply.mutate({ body: bodyOf(changes) })}>
              {t('Apply {count, plural, one {# change} other {# changes}}', { count: changes.length })}
            </Button>
            <Button onClick={() => setStaged(new Map())}>{t('Discard')}</Button>
          </div>
        </Notice>
      )}
    </div>
  );
}

interface Change {
  readonly organization: Organization;
  readonly category: Category;
  readonly isGranted: boolean;
}

const pairsOf = (changes: readonly Change[], isGranted: boolean) =>
  changes
    .filter((change) => change.isGranted === isGranted)
    .map(({ organization, category }) => ({ org_id: organization.id, category_id: category.id }));

const bodyOf = (changes: readonly Change[]) => ({ grants: pairsOf(changes, true), revokes: pairsOf(changes, false) });

/** What organizations would gain and lose, as the hub computes it. */
function Consequences({ changes }: { readonly changes: readonly Change[] }) {
  const body = bodyOf(changes);
  const plan = useQuery({
    queryKey: ['visibility', body],
    queryFn: ({ signal }) => hub.call('planVisibility', { body, signal }),
    placeholderData: (previous) => previous,
  });
  if (plan.error) return <ErrorView error={plan.error} retry={plan.refetch} />;
  return (
    <div role="status">
      <ul className="small">
        {plan.data?.organizations.map(({ id, name, gained, lost, applications }) => (
          <li key={id}>
            {rich('{name} gains {gained, plural, one {# template} other {# templates}} and loses {lost}.', {
              name: <strong>{name}</strong>,
              gained,
              lost: formatCount(lost),
            })}{' '}
            {applications.gained + applications.lost > 0 &&
              t('It gains {gained, plural, one {# application} other {# applications}} and loses {lost}.', {
                gained: applications.gained,
                lost: formatCount(applications.lost),
              })}
          </li>
        ))}
      </ul>
    </div>
  );
}

const namesOf = (organization: Organization, category: Category) => ({
  organization: organization.name,
  category: category.name,
});

const wordsOf = ({ organization, category, isGranted }: Change) =>
  isGranted
    ? t('Grant {organization} access to {category}.', namesOf(organization, category))
    : t(
        'Revoke the access of {organization} to {category}. What its fleets run continues.',
        namesOf(organization, category),
      );

function ViewOfOrganization() {
  const { values, set } = useFilters('org', 'tab');
  const organizations = useQuery(hub.read('listOrganizations'));
  const all = organizations.data?.organizations ?? [];
  const chosen = all.find(({ slug }) => slug === values.org);
  return (
    <div className="stack">
      <div className="filters">
        <FilterSelect
          label={t('Organization')}
          value={values.org}
          onChange={(org) => set({ org })}
          options={[
            { value: '', label: t('Choose an organization…') },
            ...all.map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
        />
      </div>
      {organizations.error && <ErrorView error={organizations.error} retry={organizations.refetch} />}
      {chosen ? (
        <OrganizationView organization={chosen} />
      ) : (
        <Panel>
          <p className="muted">{t('Choose an organization to see its templates, and the reason for each.')}</p>
        </Panel>
      )}
    </div>
  );
}
