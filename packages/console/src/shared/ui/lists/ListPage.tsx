import { type LucideIcon, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';

import { Empty, ErrorView, Loading } from '../feedback/states.tsx';
import { Pager } from './Table.tsx';

interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalPages: number;
}

/** The states of a list below its filters: loading, an error, no rows, or the rows with a pager. */
export function ListStates({
  query: { error, refetch },
  pagination,
  count,
  loading,
  noMatch,
  filters,
  isFiltered,
  onClear,
  onPage,
  icon,
  emptyTitle,
  emptyText,
  emptyAction,
  children,
}: {
  readonly query: { readonly error: unknown; readonly refetch: () => unknown };
  /** Undefined while the list is loading. */
  readonly pagination: Pagination | undefined;
  /** The number of rows in words. */
  readonly count: (total: number) => string;
  readonly loading: string;
  readonly noMatch: string;
  readonly filters?: ReactNode;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly onPage: (page: number) => void;
  readonly icon: LucideIcon;
  readonly emptyTitle: string;
  readonly emptyText: string;
  readonly emptyAction?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <>
      <div className="filters">
        {filters}
        {pagination && (
          <span className="total" role="status">
            {count(pagination.total)}
          </span>
        )}
      </div>
      {error !== null && error !== undefined && <ErrorView error={error} retry={refetch} />}
      {!pagination && !error && <Loading text={loading} />}
      {pagination?.total === 0 && (
        <div className="panel">
          {isFiltered ? (
            <Empty
              icon={SearchX}
              title={noMatch}
              action={<Button onClick={onClear}>{t('Clear the filters')}</Button>}
            />
          ) : (
            <Empty icon={icon} title={emptyTitle} action={emptyAction}>
              {emptyText}
            </Empty>
          )}
        </div>
      )}
      {pagination && pagination.total > 0 && (
        <>
          {children}
          <Pager pagination={pagination} onPage={onPage} />
        </>
      )}
    </>
  );
}
