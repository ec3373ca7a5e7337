import { useInfiniteQuery } from '@tanstack/react-query';
import { Download, ScrollText, SearchX } from 'lucide-react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { AuditScope } from '../../shared/ui/AuditScope.tsx';
import { Button } from '../../shared/ui/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/Field.tsx';
import { PageHeader } from '../../shared/ui/PageHeader.tsx';
import { RequestId } from '../../shared/ui/RequestId.tsx';
import { Empty, ErrorView, Loading } from '../../shared/ui/states.tsx';
import { Table } from '../../shared/ui/Table.tsx';
import { Time } from '../../shared/ui/Time.tsx';
import { type FleetOutput, fleet } from '../api.ts';

type Entry = FleetOutput<'listAuditEntries'>['entries'][number];

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const;
const PAGE_SIZE = 100;

const statusClass = (status: number) => (status >= 500 ? 'text-bad' : status >= 400 ? 'text-busy' : 'text-good');

/** A local time as the service expects it; empty if it is not a time. */
function instantOf(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

export default function Audit() {
  const { values, set, isFiltered, clear } = useFilters(
    'actor',
    'method',
    'path',
    'status',
    'tool',
    'request_id',
    'from',
    'to',
  );
  const filters = {
    ...values,
    from: instantOf(values.from),
    to: instantOf(values.to),
  };
  const entries = useInfiniteQuery({
    queryKey: ['audit', filters],
    queryFn: ({ pageParam, signal }) =>
      fleet.call('listAuditEntries', { query: { ...filters, limit: PAGE_SIZE, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const rows = entries.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <PageHeader
        title={t('Audit log')}
        about={t('Requests with MCP tokens, sign-ins, and changes by users, newest first')}
        actions={
          <>
            <Button pending={entries.isRefetching} onClick={() => void entries.refetch()}>
              {t('Show newer')}
            </Button>
            <a className="button" href={fleet.urlOf('exportAuditEntries', { query: filters })} download="audit.jsonl">
              <Download size={16} aria-hidden />
              {t('Export')}
            </a>
          </>
        }
      />
      <div className="filters">
        <AuditScope path={values.path} onChange={(path) => set({ path })} />
        <SearchField label={t('Caller')} value={values.actor} onChange={(actor) => set({ actor })} />
        <SearchField label={t('Path begins with')} value={values.path} onChange={(path) => set({ path })} />
        <FilterSelect
          label={t('Method')}
          value={values.method}
          onChange={(method) => set({ method })}
          options={[
            { value: '', label: t('All methods') },
            ...methods.map((method) => ({ value: method, label: method })),
          ]}
        />
        <FilterSelect
          label={t('Status')}
          value={values.status}
          onChange={(status) => set({ status })}
          options={[
            { value: '', label: t('Any status') },
            ...['200', '201', '204', '302', '400', '401', '403', '404', '409', '412', '422', '429', '500', '503'].map(
              (status) => ({
                value: status,
                label: status,
              }),
            ),
          ]}
        />
        <SearchField label={t('Tool of an agent')} value={values.tool} onChange={(tool) => set({ tool })} />
        <SearchField label={t('Request id')} value={values.request_id} onChange={(request_id) => set({ request_id })} />
        <DateFilter label={t('From')} value={values.from} onChange={(from) => set({ from })} />
        <DateFilter label={t('To')} value={values.to} onChange={(to) => set({ to })} />
      </div>
      {entries.error && <ErrorView error={entries.error} retry={entries.refetch} />}
      {entries.isPending && <Loading text={t('Loading the audit log…')} />}
      {entries.data && rows.length === 0 && (
        <div className="panel">
          {isFiltered ? (
            <Empty
              icon={SearchX}
              title={t('No entry matches')}
              action={<Button onClick={clear}>{t('Clear the filters')}</Button>}
            />
          ) : (
            <Empty icon={ScrollText} title={t('The audit log is empty')} />
          )}
        </div>
      )}
      {rows.length > 0 && (
        <Table
          label={t('Audit log')}
          className="dense"
          columns={[
            { label: t('Time') },
            { label: t('Caller') },
            { label: t('Request') },
            { label: t('Status'), isEnd: true },
            { label: t('Source') },
            { label: t('Request id') },
          ]}
        >
          {rows.map((entry) => (
            <Row key={entry.id} entry={entry} />
          ))}
        </Table>
      )}
      {entries.hasNextPage && (
        <div className="pager">
          <Button pending={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            {t('Show older')}
          </Button>
        </div>
      )}
    </>
  );
}

const Row = ({
  entry: { at, actor, method, path, status, source, request_id, aborted, token_id, tool, part },
}: {
  readonly entry: Entry;
}) => (
  <tr>
    <td className="muted">
      <Time at={at} isExact />
    </td>
    <td>
      <bdi>{actor}</bdi>
      {token_id !== null && <span className="tag"> {t('token')}</span>}
    </td>
    <td className="mono small">
      <strong>{method}</strong> {path}
      {tool !== null && <span className="tag"> {tool}</span>}
      {part && <span className="muted"> {t('for an agent')}</span>}
    </td>
    <td className={`end numeric strong ${statusClass(status)}`}>
      {status}
      {aborted && <span className="muted small"> {t('aborted')}</span>}
    </td>
    <td className="mono small muted nowrap">{source ?? t('unknown')}</td>
    <td>
      <RequestId id={request_id} />
    </td>
  </tr>
);

const DateFilter = ({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) => (
  <label className="row-nowrap muted small">
    {label}
    <input type="datetime-local" className="input" value={value} onChange={({ target }) => onChange(target.value)} />
  </label>
);
