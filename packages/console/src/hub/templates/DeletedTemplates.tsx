import { useQuery } from '@tanstack/react-query';
import { History as HistoryIcon, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { hub } from '../api.ts';

const PAGE_SIZE = 50;

/** The deleted templates, of which each has its history. */
export function DeletedTemplates({ filters }: { readonly filters: ReactNode }) {
  const { set, page } = useFilters();
  const query = useQuery(hub.read('listDeletedTemplates', { query: { page, limit: PAGE_SIZE } }));
  const historyOf = (id: string) => href('/admin/templates/:id', { id });
  return (
    <ListStates
      query={query}
      pagination={query.data?.pagination}
      count={(count) => t('{count, plural, one {# template} other {# templates}}', { count })}
      loading={t('Loading the templates…')}
      noMatch={t('No template matches')}
      isFiltered={false}
      onClear={() => undefined}
      onPage={(next) => set({ page: next })}
      filters={filters}
      icon={Trash2}
      emptyTitle={t('No template was deleted')}
      emptyText={t('Deleted templates can be restored as long as the hub keeps their history.')}
    >
      <Table
        label={t('Deleted templates')}
        columns={[
          { label: t('Name') },
          { label: t('Deleted') },
          { label: t('Author') },
          { label: t('Message') },
          { label: t('Actions'), isHidden: true },
        ]}
      >
        {query.data?.templates.map(({ id, name, slug, at, author, message }) => (
          <tr key={id}>
            <th scope="row">
              <Link href={historyOf(id)} className="cell-link">
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
              <ButtonLink size="small" icon={HistoryIcon} href={historyOf(id)}>
                {t('History')}
              </ButtonLink>
            </td>
          </tr>
        ))}
      </Table>
    </ListStates>
  );
}
