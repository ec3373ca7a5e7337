import { memo, type ReactNode, startTransition, useDeferredValue, useEffect, useRef, useState } from 'react';
import { type Column, ColumnLabel, type Sorting } from './Table.tsx';

/** The rows above and below the window that are rendered in advance, after those in the window. */
const MARGIN_ROWS = 10;
const FIRST_ROWS = 16;

export interface VirtualColumn<T> extends Column {
  /** A track of the grid, such as `2fr`. */
  readonly width: string;
  /** The column is hidden on narrow screens. */
  readonly isWideOnly?: boolean;
  readonly cell: (row: T) => ReactNode;
}

/**
 * A table of any length that renders only the visible rows. `rowAt` returns undefined for a row
 * that is not loaded yet, and `onVisible` reports the range that must be loaded.
 */
export function VirtualTable<T>({
  label,
  columns,
  sorting,
  total,
  rowHeight,
  rowAt,
  keyOf,
  onVisible,
}: {
  readonly label: string;
  readonly columns: readonly VirtualColumn<T>[];
  readonly sorting?: Sorting;
  readonly total: number;
  readonly rowHeight: number;
  readonly rowAt: (index: number) => T | undefined;
  readonly keyOf: (row: T) => string;
  readonly onVisible: (first: number, last: number) => void;
}) {
  const rows = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: Math.min(total, FIRST_ROWS) });
  useEffect(() => {
    const measure = () => {
      const top = rows.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - MARGIN_ROWS);
      const last = Math.min(total, Math.ceil((innerHeight - top) / rowHeight) + MARGIN_ROWS);
      // Input and frames come first: rows appear one after the other.
      startTransition(() =>
        setRange((current) => (current.first === first && current.last === last ? current : { first, last })),
      );
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [total, rowHeight]);
  const deferredRowAt = useDeferredValue(rowAt);
  const last = Math.min(range.last, total);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new range is reported
  useEffect(() => {
    if (last > range.first) onVisible(range.first, last - 1);
  }, [range.first, last]);

  const box = useRef<HTMLDivElement>(null);
  const wide = columns.map(({ width }) => width).join(' ');
  const narrow = columns.flatMap(({ width, isWideOnly }) => (isWideOnly ? [] : [width])).join(' ');
  // Inline style attributes are not permitted by the content security policy; properties of the
  // object model are.
  useEffect(() => {
    box.current?.style.setProperty('--columns', wide);
    box.current?.style.setProperty('--narrow-columns', narrow);
    box.current?.style.setProperty('--row-height', `${rowHeight}px`);
    rows.current?.style.setProperty('height', `${total * rowHeight}px`);
  }, [wide, narrow, rowHeight, total]);

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot position rows
    <div ref={box} className="grid-table" role="table" aria-label={label} aria-rowcount={total + 1}>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: rows are not interactive */}
      <div className="line head" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: a header is not interactive
          <span key={column.label} role="columnheader" className={column.isWideOnly ? 'narrow-hidden' : undefined}>
            <ColumnLabel column={column} {...(sorting ? { sorting } : {})} />
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div ref={rows} className="rows" role="rowgroup">
        {Array.from({ length: Math.max(0, last - range.first) }, (_, offset) => {
          const index = range.first + offset;
          const row = deferredRowAt(index);
          return (
            <Row
              key={row === undefined ? `row-${index}` : keyOf(row)}
              index={index}
              top={index * rowHeight}
              row={row}
              columns={columns}
            />
          );
        })}
      </div>
    </div>
  );
}

interface RowProps<T> {
  readonly index: number;
  readonly top: number;
  /** Undefined: not loaded yet. */
  readonly row: T | undefined;
  readonly columns: readonly VirtualColumn<T>[];
}

/** A row renders again only if its object changes. */
const Row = memo(function Row<T>({ index, top, row, columns }: RowProps<T>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot position rows
    // biome-ignore lint/a11y/useFocusableInteractive: rows are not interactive
    <div className="line" role="row" aria-rowindex={index + 2} style={{ top }}>
      {columns.map((column) => (
        // biome-ignore lint/a11y/useSemanticElements: see above
        <span key={column.label} role="cell" className={column.isWideOnly ? 'narrow-hidden' : undefined}>
          {row === undefined ? <span className="placeholder" /> : column.cell(row)}
        </span>
      ))}
    </div>
  );
}) as <T>(props: RowProps<T>) => ReactNode; // memo() loses the type parameter
