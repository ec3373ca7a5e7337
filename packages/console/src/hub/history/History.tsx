import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { GitCompareArrows, History as HistoryIcon } from 'lucide-react';
import { useState } from 'react';
import { labelOfMember } from '../../shared/catalog/member-labels.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { SelectField } from '../../shared/ui/controls/Field.tsx';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { Dialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { formatList } from '../../shared/ui/display/format.ts';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { AuditEntries } from '../../shared/ui/lists/AuditEntries.tsx';
import { Pager, Table } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type HubOutput, hub, useBlocked } from '../api.ts';
import { type Kind, operations } from './kinds.ts';
import { MemberChanges } from './MemberChanges.tsx';
import { type Restorable, RestoreDialog } from './RestoreDialog.tsx';

type Revision = HubOutput<'listRevisions'>['revisions'][number];

const PAGE_SIZE = 50;
const AUDIT_PAGE_SIZE = 25;

/** The revisions of a template or an application, also of a deleted one, and its entries in the audit log. */
export function History({ of }: { readonly of: Restorable }) {
  const { page, set } = useFilters();
  const { kind, id, newest } = of;
  const query = { page, limit: PAGE_SIZE };
  const { data, error, refetch } = useQuery(hub.read(operations[kind].list, { params: { id }, query }));
  const [compared, setCompared] = useState<Revision>();
  const [restored, setRestored] = useState<Revision>();
  const blocked = useBlocked()(operations[kind].restore);
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the history…')} />;
  return (
    <div className="stack">
      <Panel title={t('Revisions')} flush>
        <Table
          label={t('Revisions')}
          columns={[
            { label: t('Revision') },
            { label: t('Time') },
            { label: t('Author') },
            { label: t('Message') },
            { label: t('Changed') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {data.revisions.map((revision) => (
            <tr key={revision.revision}>
              <th scope="row">
                {revision.revision} {revision.revision === newest && <span className="tag">{t('newest')}</span>}
              </th>
              <td className="muted">
                <Time at={revision.at} />
              </td>
              <td>{revision.author ?? <span className="muted">{t('not known')}</span>}</td>
              <td>
                <bdi className="prewrap">{revision.message}</bdi>
              </td>
              <td className="muted">
                {revision.deleted ? t('Deleted') : formatList(revision.changed.map(labelOfMember))}
              </td>
              <td className="end">
                <Menu
                  label={t('Actions for revision {revision}', { revision: revision.revision })}
                  actions={[
                    {
                      label: t('Compare…'),
                      icon: GitCompareArrows,
                      onSelect: () => setCompared(revision),
                      opensDialog: true,
                    },
                    {
                      label: t('Restore…'),
                      icon: HistoryIcon,
                      blocked:
                        blocked ??
                        (revision.deleted
                          ? t('A deletion has no content.')
                          : revision.revision === newest
                            ? t('This is the newest revision.')
                            : undefined),
                      onSelect: () => setRestored(revision),
                      opensDialog: true,
                    },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
        <Pager pagination={data.pagination} onPage={(next) => set({ page: next })} />
      </Panel>
      <Panel title={t('Audit log')} flush>
        <AuditOf id={id} />
      </Panel>
      {compared && (
        <CompareDialog
          kind={kind}
          id={id}
          revision={compared}
          others={data.revisions.filter(({ revision }) => revision < compared.revision)}
          onClose={() => setCompared(undefined)}
        />
      )}
      {restored && <RestoreDialog of={of} revision={restored.revision} onClose={() => setRestored(undefined)} />}
    </div>
  );
}

/** The audit entries of an object: also of changes without a revision, such as those of its status. */
function AuditOf({ id }: { readonly id: string }) {
  const entries = useInfiniteQuery({
    queryKey: ['admin', 'audit', id],
    queryFn: ({ pageParam, signal }) =>
      hub.call('listAuditEntries', { query: { object_id: id, limit: AUDIT_PAGE_SIZE, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  return (
    <AuditEntries
      query={entries}
      caller={t('User')}
      isFiltered={false}
      onClear={() => undefined}
      callerOf={({ email, user_id }) => email ?? user_id ?? <span className="muted">{t('the hub')}</span>}
    />
  );
}

function CompareDialog({
  kind,
  id,
  revision: { revision },
  others,
  onClose,
}: {
  readonly kind: Kind;
  readonly id: string;
  readonly revision: Revision;
  /** Earlier revisions. */
  readonly others: readonly Revision[];
  readonly onClose: () => void;
}) {
  const [since, setSince] = useState('');
  const query = since === '' ? {} : { since: Number(since) };
  const { data, error, refetch } = useQuery(
    hub.read(operations[kind].compare, { params: { id, revision: `${revision}` }, query }),
  );
  return (
    <Dialog title={t('Differences of revision {revision}', { revision })} onClose={onClose} wide>
      <div className="stack">
        <SelectField
          label={t('Compared with')}
          value={since}
          onChange={setSince}
          options={[
            { value: '', label: t('The revision before') },
            ...others.map((other) => ({
              value: `${other.revision}`,
              label: t('Revision {revision}', { revision: other.revision }),
            })),
          ]}
        />
        {error && <ErrorView error={error} retry={refetch} />}
        {!data && !error && <Loading text={t('Loading the differences…')} />}
        {data && <MemberChanges changes={data.changes} />}
      </div>
    </Dialog>
  );
}
