import { useQuery } from '@tanstack/react-query';
import { History as HistoryIcon, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { countOfApplications } from '../../shared/catalog/application-count.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect } from '../../shared/ui/controls/Field.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { hub } from '../api.ts';
import { type Kind, operations, pageOf } from './kinds.ts';

const PAGE_SIZE = 50;

const words = {
  template: {
    label: t('Deleted templates'),
    loading: t('Loading the templates…'),
    count: (count: number) => t('{count, plural, one {# template} other {# templates}}', { count }),
    emptyTitle: t('No template was deleted'),
    emptyText: t('Deleted templates can be restored as long as the hub keeps their history.'),
  },
  application: {
    label: t('Deleted applications'),
    loading: t('Loading the applications…'),
    count: countOfApplications,
    emptyTitle: t('No application was deleted'),
    emptyText: t('Deleted applications can be restored as long as the hub keeps their history.'),
  },
} as const;

/** The deleted objects of a kind, of which each has its history. */
export function DeletedObjects({ kind, filters }: { readonly kind: Kind; readonly filters: ReactNode }) {
  const { set, page } = useFilters();
  const query = useQuery(hub.read(operations[kind].listDeleted, { query: { page, limit: PAGE_SIZE } }));
  const { label, ...states } = words[kind];
  const { data } = query;
  const rows = data && ('templates' in data ? data.templates : data.applications);
  return (
    <ListStates
      {...states}
      query={query}
      pagination={data?.pagination}
      noMatch=""
      isFiltered={false}
      onClear={() => undefined}
      onPage={(next) => set({ page: next })}
      filters={filters}
      icon={Trash2}
    >
      <Table
        label={label}
        columns={[
          { label: t('Name') },
          { label: t('Deleted') },
          { label: t('Author') },
          { label: t('Message') },
          { label: t('Actions'), isHidden: true },
        ]}
      >
        {rows?.map(({ id, name, slug, at, author, message }) => (
          <tr key={id}>
            <th scope="row">
              <Link href={pageOf(kind, id)} className="cell-link">
                {name ?? slug}
              </Link>
              <span className="muted small mono truncate">
                <bdi>{slug}</bdi>
              </span>
            </th>
            <td className="muted">
              <Time at={at} />
            </td>
            <td>{author ?? <span className="muted">{t('not known')}</span>}</td>
            <td>
              <bdi className="prewrap">{message}</bdi>
            </td>
            <td className="end">
              <ButtonLink size="small" icon={HistoryIcon} href={pageOf(kind, id)}>
                {t('History')}
              </ButtonLink>
            </td>
          </tr>
        ))}
      </Table>
    </ListStates>
  );
}

/** Selects the present objects or the deleted ones. */
export const PresentOrDeleted = ({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}) => (
  <FilterSelect
    label={t('Show')}
    value={value}
    onChange={onChange}
    options={[
      { value: '', label: t('Present') },
      { value: 'deleted', label: t('Deleted') },
    ]}
  />
);
