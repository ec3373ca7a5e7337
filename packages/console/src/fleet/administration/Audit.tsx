import { useInfiniteQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SearchField } from '../../shared/ui/controls/Field.tsx';
import { AuditEntries, auditMethods } from '../../shared/ui/lists/AuditEntries.tsx';
import { AuditScope } from '../../shared/ui/lists/AuditScope.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet } from '../api.ts';
import { sentenceOf } from './audit-sentences.tsx';

const PAGE_SIZE = 100;

/** A local time as the service expects it; empty if it is not a time. */
function instantOf(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** The views of the log. Only the requests have filters by their parts. */
const views = [
  { value: '', label: t('Changes') },
  { value: 'requests', label: t('All requests') },
] as const;

const FILTERS = ['actor', 'method', 'path', 'status', 'tool', 'request_id', 'from', 'to'] as const;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, '']));

export default function Audit() {
  const { values, set } = useFilters('view', ...FILTERS);
  const { view, ...given } = values;
  const isOfChanges = view === '';
  const filters = {
    ...given,
    changes: isOfChanges,
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
  return (
    <>
      <PageHeader
        title={t('Audit log')}
        about={
          isOfChanges
            ? t('Who changed what, and who signed in, newest first')
            : t('Requests with MCP tokens, sign-ins, and changes by users, newest first')
        }
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
        <fieldset className="chips" aria-label={t('View')}>
          {views.map(({ value, label }) => (
            <button
              key={value}
              type="button"
              className="chip"
              aria-pressed={view === value}
              onClick={() => set({ ...NO_FILTERS, view: value })}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <AuditScope path={values.path} onChange={(path) => set({ path })} />
        <SearchField label={t('Caller')} value={values.actor} onChange={(actor) => set({ actor })} />
        {!isOfChanges && (
          <>
            <SearchField label={t('Path begins with')} value={values.path} onChange={(path) => set({ path })} />
            <FilterSelect
              label={t('Method')}
              value={values.method}
              onChange={(method) => set({ method })}
              options={auditMethods}
            />
            <FilterSelect
              label={t('Status')}
              value={values.status}
              onChange={(status) => set({ status })}
              options={[
                { value: '', label: t('Any status') },
                ...[
                  '200',
                  '201',
                  '204',
                  '302',
                  '400',
                  '401',
                  '403',
                  '404',
                  '409',
                  '412',
                  '422',
                  '429',
                  '500',
                  '503',
                ].map((status) => ({
                  value: status,
                  label: status,
                })),
              ]}
            />
            <SearchField label={t('Tool of an agent')} value={values.tool} onChange={(tool) => set({ tool })} />
          </>
        )}
        <SearchField label={t('Request id')} value={values.request_id} onChange={(request_id) => set({ request_id })} />
        <DateFilter label={t('From')} value={values.from} onChange={(from) => set({ from })} />
        <DateFilter label={t('To')} value={values.to} onChange={(to) => set({ to })} />
      </div>
      <AuditEntries
        query={entries}
        caller={t('Caller')}
        isFiltered={FILTERS.some((name) => values[name] !== '')}
        onClear={() => set(NO_FILTERS)}
        sentenceOf={isOfChanges ? sentenceOf : undefined}
        callerOf={({ actor, token_id }) => (
          <>
            <bdi>{actor}</bdi>
            {token_id !== null && <span className="tag"> {t('token')}</span>}
          </>
        )}
        requestNotes={({ tool, part }) => (
          <>
            {tool !== null && <span className="tag"> {tool}</span>}
            {part && <span className="muted"> {t('for an agent')}</span>}
          </>
        )}
        statusNote={({ aborted }) => aborted && <span className="muted small"> {t('aborted')}</span>}
      />
    </>
  );
}

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
    <span className="nowrap">{label}</span>
    <input type="datetime-local" className="input" value={value} onChange={({ target }) => onChange(target.value)} />
  </label>
);
