import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'wouter';
import { TemplateStatus } from '../../shared/catalog/TemplateAdvice.tsx';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { t } from '../../shared/texts/texts.ts';
import { SearchField } from '../../shared/ui/controls/Field.tsx';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import type { ManagedApplication, ManagedTemplate } from '../api.ts';
import { visibilityLook } from '../looks.ts';

/** What templates and applications have in common. */
type Listed = Pick<
  ManagedTemplate & ManagedApplication,
  | 'id'
  | 'name'
  | 'slug'
  | 'version'
  | 'category_name'
  | 'is_public'
  | 'status'
  | 'min_tier'
  | 'download_count'
  | 'updated_at'
>;

/** The number of rows of a page. */
export const MANAGED_PAGE_SIZE = 50;

/** The templates or the applications of the hub, for administrators. */
export function ManagedList<T extends Listed>({
  label,
  rows,
  hrefOf,
  actionsOf,
  marksOf,
  search,
  filters,
  ...states
}: Omit<ComponentProps<typeof ListStates>, 'filters' | 'children'> & {
  /** What the table contains. */
  readonly label: string;
  readonly rows: readonly T[] | undefined;
  readonly hrefOf: (row: T) => string;
  readonly actionsOf: (row: T) => ComponentProps<typeof Menu>['actions'];
  /** Below the name of a row. */
  readonly marksOf?: (row: T) => ReactNode;
  readonly search: { readonly value: string; readonly onChange: (value: string) => void };
  /** Further filters. */
  readonly filters?: ReactNode;
}) {
  return (
    <ListStates
      {...states}
      filters={
        <>
          <SearchField label={t('Search by name or description')} {...search} />
          {filters}
        </>
      }
    >
      <Table
        label={label}
        columns={[
          { label: t('Name') },
          { label: t('Category') },
          { label: t('Visibility') },
          { label: t('Tier') },
          { label: t('Downloads'), isEnd: true },
          { label: t('Changed') },
          { label: t('Actions'), isHidden: true },
        ]}
      >
        {rows?.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              <Link href={hrefOf(row)} className="cell-link">
                {row.name}
              </Link>
              <span className="muted small mono truncate">
                <bdi>{row.slug}</bdi> {row.version}
              </span>
              {marksOf?.(row)}
            </th>
            <td>{row.category_name}</td>
            <td>
              <Status {...visibilityLook(!row.is_public)} />
              <TemplateStatus status={row.status} />
            </td>
            <td className="muted">{tierLabel(row.min_tier)}</td>
            <td className="end numeric">{formatCount(row.download_count)}</td>
            <td className="muted">
              <Time at={row.updated_at} />
            </td>
            <td className="end">
              <Menu label={t('Actions for {name}', { name: row.name })} actions={actionsOf(row)} />
            </td>
          </tr>
        ))}
      </Table>
    </ListStates>
  );
}
