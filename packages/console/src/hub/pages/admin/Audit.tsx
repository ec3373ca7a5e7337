import { useInfiniteQuery } from '@tanstack/react-query';
import { ScrollText, SearchX } from 'lucide-react';
import { useFilters } from '../../../shared/routing/search.ts';
import { t } from '../../../shared/texts/texts.ts';
import { AuditScope } from '../../../shared/ui/AuditScope.tsx';
import { Button } from '../../../shared/ui/Button.tsx';
import { FilterSelect, SearchField } from '../../../shared/ui/Field.tsx';
import { PageHeader } from '../../../shared/ui/PageHeader.tsx';
import { RequestId } from '../../../shared/ui/RequestId.tsx';
import { Empty, ErrorView, Loading } from '../../../shared/ui/states.tsx';
import { Table } from '../../../shared/ui/Table.tsx';
import { Time } from '../../../shared/ui/Time.tsx';
import { hub } from '../../api.ts';

const PAGE_SIZE = 100;

export default function Audit() {
  const { values, set, isFiltered, clear } = useFilters('email', 'method', 'path');
  const entries = useInfiniteQuery({
    queryKey: ['admin-audit', values],
    queryFn: ({ pageParam, signal }) =>
      hub.call('listAuditEntries', { query: { ...values, limit: PAGE_SIZE, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const rows = entries.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <PageHeader
        title={t('Audit log')}
        about={t('Changes by administrators, sign-ins and sign-outs, newest first')}
        actions={
          <Button pending={entries.isRefetching} onClick={() => void entries.refetch()}>
            {t('Show newer')}
          </Button>
        }
      />
      <div className="filters">
        <AuditScope path={values.path} onChange={(path) => set({ path })} />
        <SearchField label={t('E-mail of the user')} value={values.email} onChange={(email) => set({ email })} />
        <SearchField label={t('Path begins with')} value={values.path} onChange={(path) => set({ path })} />
        <FilterSelect
          label={t('Method')}
          value={values.method}
          onChange={(method) => set({ method })}
          options={[
            { value: '', label: t('All methods') },
            ...['GET', 'POST', 'PUT', 'DELETE'].map((method) => ({ value: method, label: method })),
          ]}
        />
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
            { label: t('User') },
            { label: t('Request') },
            { label: t('Status'), isEnd: true },
            { label: t('Source') },
            { label: t('Request id') },
          ]}
        >
          {rows.map(({ id, at, user_id, email, method, path, status, source, request_id }) => (
            <tr key={id}>
              <td className="muted">
                <Time at={at} isExact />
              </td>
              <td>{email ?? user_id ?? <span className="muted">{t('the hub')}</span>}</td>
              <td className="mono small">
                <strong>{method}</strong> {path}
              </td>
              <td className="end numeric strong">{status}</td>
              <td className="mono small muted nowrap">{source ?? t('unknown')}</td>
              <td>
                <RequestId id={request_id} />
              </td>
            </tr>
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
