import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, GitBranch, Pencil, Power, PowerOff, RefreshCw, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { href } from '../../shared/routing/href.ts';
import { useFilters } from '../../shared/routing/search.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Menu } from '../../shared/ui/controls/Menu.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { looks, Status, type StatusLook } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { ListStates } from '../../shared/ui/lists/ListPage.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { fleet, useBlocked } from '../api.ts';
import { planLooks } from './plan-looks.ts';
import { HookDialog, type Source, SourceForm } from './SourceForm.tsx';

type Open = { readonly kind: 'new' } | { readonly kind: 'change' | 'rotate' | 'delete'; readonly source: Source };

const REFRESH_MS = 5000;
/** While a repository is read. */
const READING_MS = 1000;

const stateLooks: Readonly<Record<Source['state'], StatusLook>> = {
  ok: looks.good(t('Working')),
  pending: looks.waiting(t('Not read yet')),
  failing: looks.bad(t('Failing')),
  disabled: looks.off(t('Disabled')),
};

/** The branches of git repositories whose files become plans. */
export default function Sources() {
  const { page, set } = useFilters();
  const sources = useQuery({
    ...fleet.read('listSources', { query: { page } }),
    refetchInterval: ({ state }) => (state.data?.sources.some(({ checking }) => checking) ? READING_MS : REFRESH_MS),
  });
  const [open, setOpen] = useState<Open>();
  const blocked = useBlocked();
  const check = useMutation({
    ...fleet.change('checkSource'),
    onSuccess: ({ source }) => confirmChange(t('The repository of {name} is read now', { name: source.name })),
  });
  const enable = useMutation(fleet.change('updateSource'));
  const failure = check.error ?? enable.error;
  const close = () => setOpen(undefined);
  const create = (
    <Button
      tone="primary"
      icon={CirclePlus}
      aria-haspopup="dialog"
      blocked={blocked('createSource')}
      onClick={() => setOpen({ kind: 'new' })}
    >
      {t('New source')}
    </Button>
  );
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Plans'), href: '/plans' }]}
        title={t('Sources')}
        about={t('A source is a branch of a git repository. Each commit becomes a plan of its files.')}
        actions={create}
      />
      {failure && <ErrorView error={failure} />}
      <ListStates
        query={sources}
        pagination={sources.data?.pagination}
        count={(total) => t('{count, plural, one {# source} other {# sources}}', { count: total })}
        loading={t('Loading the sources…')}
        noMatch=""
        isFiltered={false}
        onClear={() => undefined}
        onPage={(next) => set({ page: next })}
        icon={GitBranch}
        emptyTitle={t('There is no source yet')}
        emptyText={t('Keep deployments and applications in a git repository, and the fleet follows its commits.')}
      >
        <Table
          label={t('Sources')}
          columns={[
            { label: t('Name') },
            { label: t('State') },
            { label: t('Last commit') },
            { label: t('Plan') },
            { label: t('Read') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {sources.data?.sources.map((source) => (
            <Row
              key={source.id}
              source={source}
              onOpen={(kind) => setOpen({ kind, source })}
              onCheck={() => check.mutate({ params: { id: source.id } })}
              onEnable={() => enable.mutate({ params: { id: source.id }, body: { enabled: !source.enabled } })}
            />
          ))}
        </Table>
      </ListStates>
      {open?.kind === 'new' && <SourceForm onClose={close} />}
      {open?.kind === 'change' && <SourceForm source={open.source} onClose={close} />}
      {open?.kind === 'rotate' && <RotateDialog source={open.source} onClose={close} />}
      {open?.kind === 'delete' && <DeleteDialog source={open.source} onClose={close} />}
    </>
  );
}

function Row({
  source,
  onOpen,
  onCheck,
  onEnable,
}: {
  readonly source: Source;
  readonly onOpen: (kind: 'change' | 'rotate' | 'delete') => void;
  readonly onCheck: () => void;
  readonly onEnable: () => void;
}) {
  const { name, url, branch, folder, enabled, commit, plan_id: planId, plan_state: state, checked_at: readAt } = source;
  const blocked = useBlocked();
  return (
    <tr>
      <th scope="row">
        {name}
        <span className="muted small mono truncate">
          {[url, branch, folder].filter((part) => part !== '').join(' · ')}
        </span>
      </th>
      <td>
        <Status {...stateLooks[source.state]} />
        <span className="muted small">{source.disabled_reason ?? source.failure}</span>
      </td>
      <td>
        {commit ? (
          <>
            <bdi>{commit.title}</bdi>
            <span className="muted small">
              <code>{commit.sha.slice(0, 12)}</code> <bdi>{commit.author}</bdi>
            </span>
          </>
        ) : (
          <span className="muted">{t('none')}</span>
        )}
      </td>
      <td>
        {planId !== null && state !== null && (
          <Link href={href('/plans/:id', { id: planId })} className="cell-link">
            <Status {...planLooks[state]} />
          </Link>
        )}
      </td>
      <td className="muted">{source.checking ? t('Reading…') : readAt ? <Time at={readAt} /> : t('never')}</td>
      <td className="end">
        <Menu
          label={t('Actions for {name}', { name })}
          actions={[
            {
              label: t('Read now'),
              icon: RefreshCw,
              onSelect: onCheck,
              blocked: enabled ? blocked('checkSource') : t('The source is disabled.'),
            },
            {
              label: t('Change…'),
              icon: Pencil,
              onSelect: () => onOpen('change'),
              opensDialog: true,
              blocked: blocked('updateSource'),
            },
            {
              label: enabled ? t('Disable') : t('Enable'),
              icon: enabled ? PowerOff : Power,
              onSelect: onEnable,
              blocked: blocked('updateSource'),
            },
            {
              label: t('Replace the secret of notifications…'),
              icon: RotateCw,
              onSelect: () => onOpen('rotate'),
              opensDialog: true,
              blocked: blocked('rotateSource'),
            },
            {
              label: t('Delete…'),
              icon: Trash2,
              isDangerous: true,
              onSelect: () => onOpen('delete'),
              opensDialog: true,
              blocked: blocked('deleteSource'),
            },
          ]}
        />
      </td>
    </tr>
  );
}

interface SourceDialogProps {
  readonly source: Source;
  readonly onClose: () => void;
}

function RotateDialog({ source: { id, name }, onClose }: SourceDialogProps) {
  const rotate = useMutation({ ...fleet.change('rotateSource'), gcTime: 0 });
  if (rotate.data) return <HookDialog source={rotate.data.source} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t('Replace the secret of notifications of {name}?', { name })}
      action={t('Replace')}
      pending={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onConfirm={() => rotate.mutate({ params: { id } })}
    >
      <p>{t('Notifications with the previous secret are no longer accepted.')}</p>
    </ConfirmDialog>
  );
}

function DeleteDialog({ source: { id, name }, onClose }: SourceDialogProps) {
  const remove = useMutation({
    ...fleet.change('deleteSource', 'deployments'),
    onSuccess: () => {
      confirmChange(t('The source {name} is deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete the source {name}?', { name })}
      action={t('Delete')}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      <Notice kind="info">{t('All deployments and applications stay. They are no longer managed by files.')}</Notice>
    </ConfirmDialog>
  );
}
