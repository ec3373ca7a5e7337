import { ArrowDown, ArrowUp, ChevronLeft, ChevronRight, ChevronsUpDown } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { formatCount } from '../display/format.ts';

export interface Column {
  readonly label: string;
  readonly isHidden?: boolean;
  readonly isEnd?: boolean;
  /** The field of `sort`, if the list can be sorted by the column. */
  readonly sort?: string;
}

export interface Sorting {
  readonly value: string;
  readonly onChange: (sort: string) => void;
}

/** A table. If it is wider than the page, it scrolls by itself, also with the keyboard. */
export const Table = ({
  label,
  columns,
  sorting,
  children,
  className,
}: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly sorting?: Sorting;
  readonly children: ReactNode;
  readonly className?: string;
}) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  <div className="table-box" role="group" aria-label={label} tabIndex={0}>
    <table className={className} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.label}
              scope="col"
              className={column.isEnd ? 'end' : undefined}
              aria-sort={sortOf(column, sorting)}
            >
              <ColumnLabel column={column} {...(sorting ? { sorting } : {})} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

function sortOf({ sort }: Column, sorting: Sorting | undefined) {
  if (sort === undefined || sorting === undefined) return undefined;
  if (sorting.value === sort) return 'ascending' as const;
  return sorting.value === `-${sort}` ? ('descending' as const) : ('none' as const);
}

/** The heading of a column; a button if the list can be sorted by it. */
export function ColumnLabel({ column, sorting }: { readonly column: Column; readonly sorting?: Sorting }) {
  const { label, isHidden, sort } = column;
  if (isHidden) return <span className="visually-hidden">{label}</span>;
  if (sort === undefined || sorting === undefined) return label;
  const order = sortOf(column, sorting);
  const Icon = order === 'ascending' ? ArrowUp : order === 'descending' ? ArrowDown : ChevronsUpDown;
  return (
    <button
      type="button"
      className="sort-button"
      onClick={() => sorting.onChange(order === 'ascending' ? `-${sort}` : sort)}
    >
      {label}
      <Icon size={13} aria-hidden />
    </button>
  );
}

interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalPages: number;
}

export function Pager({
  pagination: { page, limit, total, totalPages },
  onPage,
}: {
  readonly pagination: Pagination;
  readonly onPage: (page: number) => void;
}) {
  // The last page no longer exists if its rows were deleted.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onPage` is another function at each render
  useEffect(() => {
    if (totalPages > 0 && page > totalPages) onPage(totalPages);
  }, [page, totalPages]);
  if (totalPages <= 1) return null;
  const first = (page - 1) * limit + 1;
  return (
    <nav className="pager" aria-label={t('Pages')}>
      <span className="numeric">
        {t('{first}–{last} of {total}', {
          first: formatCount(first),
          last: formatCount(Math.min(total, page * limit)),
          total: formatCount(total),
        })}
      </span>
      <span className="row">
        <Button
          size="small"
          icon={ChevronLeft}
          blocked={page <= 1 ? t('This is the first page.') : undefined}
          onClick={() => onPage(page - 1)}
        >
          {t('Previous')}
        </Button>
        <Button
          size="small"
          icon={ChevronRight}
          blocked={page >= totalPages ? t('This is the last page.') : undefined}
          onClick={() => onPage(page + 1)}
        >
          {t('Next')}
        </Button>
      </span>
    </nav>
  );
}
