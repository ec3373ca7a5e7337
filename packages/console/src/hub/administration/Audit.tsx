import { useInfiniteQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { AuditEntries, auditMethods } from '../../shared/ui/lists/AuditEntries.tsx';
import { AuditScope } from '../../shared/ui/lists/AuditScope.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { hub } from '../api.ts';

const PAGE_SIZE = 100;

export default function Audit() {
  return (
    <AuditLog
      operation="listAuditEntries"
      about={t('Changes by administrators and members, sign-ins and sign-outs, newest first')}
    />
  );
}

interface AuditLogProps {
  readonly operation: 'listAuditEntries' | 'listAccountAuditEntries';
  readonly about: string;
}

/** The audit log of the hub, or of the organization of the user. */
export function AuditLog({ operation, about }: AuditLogProps) {
  const { values, set, isFiltered, clear } = useFilters('email', 'method', 'path');
  const entries = useInfiniteQuery({
    queryKey: [operation, values],
    queryFn: ({ pageParam, signal }) =>
      hub.call(operation, { query: { ...values, limit: PAGE_SIZE, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  return (
    <>
      <PageHeader
        title={t('Audit log')}
        about={about}
        actions={
          <>
            <Button pending={entries.isRefetching} onClick={() => void entries.refetch()}>
              {t('Show newer')}
            </Button>
            {operation === 'listAuditEntries' && (
              <a className="button" href={hub.urlOf('exportAuditEntries', { query: values })} download="audit.jsonl">
                <Download size={16} aria-hidden />
                {t('Export')}
              </a>
            )}
          </>
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
          options={auditMethods}
        />
      </div>
      <AuditEntries
        query={entries}
        caller={t('User')}
        isFiltered={isFiltered}
        onClear={clear}
        callerOf={({ email, user_id, token_id }) => (
          <>
            {email ?? user_id ?? <span className="muted">{t('the hub')}</span>}
            {token_id && <span className="muted small truncate">{t('with a service token')}</span>}
          </>
        )}
      />
    </>
  );
}
