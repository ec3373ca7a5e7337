import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { ScrollText, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { isolated, rich, t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { RequestId } from '../display/RequestId.tsx';
import { Time } from '../display/Time.tsx';
import { Empty, ErrorView, Loading } from '../feedback/states.tsx';
import { Table } from './Table.tsx';

/** The members that the audit logs of both services have. */
interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly source: string | null;
  readonly request_id: string;
}

export const auditMethods = [
  { value: '', label: t('All methods') },
  ...['GET', 'POST', 'PUT', 'DELETE'].map((method) => ({ value: method, label: method })),
];

/** The entries of an audit log, newest first, with a button for older ones. */
export function AuditEntries<E extends AuditEntry>({
  query,
  caller,
  isFiltered,
  onClear,
  callerOf,
  requestNotes,
  statusNote,
  sentenceOf,
}: {
  readonly query: UseInfiniteQueryResult<InfiniteData<{ readonly entries: readonly E[] }>>;
  /** The title of the column of callers. */
  readonly caller: string;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly callerOf: (entry: E) => ReactNode;
  /** Shown behind the path. */
  readonly requestNotes?: (entry: E) => ReactNode;
  /** Shown behind the status. */
  readonly statusNote?: (entry: E) => ReactNode;
  /** If it is given, each entry is this sentence, with the request on demand. */
  readonly sentenceOf?: ((entry: E) => ReactNode) | undefined;
}) {
  const rows = query.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      {query.error && <ErrorView error={query.error} retry={query.refetch} />}
      {query.isPending && <Loading text={t('Loading the audit log…')} />}
      {query.data && rows.length === 0 && (
        <div className="panel">
          {isFiltered ? (
            <Empty
              icon={SearchX}
              title={t('No entry matches')}
              action={<Button onClick={onClear}>{t('Clear the filters')}</Button>}
            />
          ) : (
            <Empty icon={ScrollText} title={t('The audit log is empty')} />
          )}
        </div>
      )}
      {rows.length > 0 && sentenceOf && (
        <ul className="panel item-list" aria-label={t('Audit log')}>
          {rows.map((entry) => (
            <li key={entry.id}>
              <div className="spread">
                <span className="grow">
                  {sentenceOf(entry)}
                  {requestNotes?.(entry)}
                </span>
                <span className="muted small nowrap">
                  <Time at={entry.at} isExact />
                </span>
              </div>
              <details>
                <summary className="small muted">{t('Request')}</summary>
                <p className="row small muted">
                  <code>
                    {isolated(entry.method)} {entry.path}
                  </code>
                  <span className={`numeric strong ${statusClass(entry.status)}`}>
                    {entry.status}
                    {statusNote?.(entry)}
                  </span>
                  <span>{rich('from {address}', { address: entry.source ?? t('unknown') })}</span>
                  <RequestId id={entry.request_id} />
                </p>
              </details>
            </li>
          ))}
        </ul>
      )}
      {rows.length > 0 && !sentenceOf && (
        <Table
          label={t('Audit log')}
          className="dense"
          columns={[
            { label: t('Time') },
            { label: caller },
            { label: t('Request') },
            { label: t('Status'), isEnd: true },
            { label: t('Source') },
            { label: t('Request id') },
          ]}
        >
          {rows.map((entry) => (
            <tr key={entry.id}>
              <td className="muted">
                <Time at={entry.at} isExact />
              </td>
              <td>{callerOf(entry)}</td>
              <td className="mono small">
                <strong>{entry.method}</strong> {entry.path}
                {requestNotes?.(entry)}
              </td>
              <td className={`end numeric strong ${statusClass(entry.status)}`}>
                {entry.status}
                {statusNote?.(entry)}
              </td>
              <td className="mono small muted nowrap">{entry.source ?? t('unknown')}</td>
              <td>
                <RequestId id={entry.request_id} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {query.hasNextPage && (
        <div className="pager">
          <Button pending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t('Show older')}
          </Button>
        </div>
      )}
    </>
  );
}

const statusClass = (status: number) => (status >= 500 ? 'text-bad' : status >= 400 ? 'text-busy' : 'text-good');
