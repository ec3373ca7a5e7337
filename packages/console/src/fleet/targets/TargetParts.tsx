import { useMutation, useQuery } from '@tanstack/react-query';
import { PackageOpen, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { codeOf } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { CheckField } from '../../shared/ui/controls/Field.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { lazyDialog } from '../../shared/ui/dialogs/lazy-dialog.tsx';
import { formatCount, wordsOfCode } from '../../shared/ui/display/format.ts';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Cluster, type FleetOutput, fleet, type Host, useBlocked } from '../api.ts';
import { conditionLook, phaseLook } from '../looks.ts';

const AdoptOrphanDialog = lazyDialog(() => import('./AdoptOrphanDialog.tsx'));

type Kind = 'host' | 'cluster';
type Orphan = FleetOutput<'listHostOrphans'>['orphans'][number];

const SHOWN = 50;
const MAX_ORPHANS = 100;

/** The deployments on a target. */
export function TargetDeployments({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const filter = kind === 'host' ? { host_id: id } : { cluster_id: id };
  const { data, error, refetch } = useQuery(
    fleet.read('listDeployments', { query: { ...filter, limit: SHOWN, sort: '-problem' } }),
  );
  return (
    <Panel
      title={t('Deployments')}
      flush
      actions={
        data && data.pagination.total > SHOWN ? (
          <Link href={href('/deployments', undefined, filter)}>
            {t('All {count}', { count: formatCount(data.pagination.total) })}
          </Link>
        ) : undefined
      }
    >
      {error && <ErrorView error={error} retry={refetch} />}
      {!data && !error && <Loading text={t('Loading the deployments…')} />}
      {data?.deployments.length === 0 && <p className="body muted">{t('Nothing runs here.')}</p>}
      <ul className="item-list">
        {data?.deployments.map((deployment) => (
          <li key={deployment.id} className="spread">
            <Link href={href('/deployments/:id', { id: deployment.id })} className="cell-link">
              {deployment.name}
            </Link>
            <Status {...phaseLook(deployment)} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export const Conditions = ({ conditions }: { readonly conditions: Cluster['conditions'] }) => (
  <Panel title={t('Checks')} flush>
    {conditions.length === 0 && <p className="body muted">{t('No check has finished yet.')}</p>}
    <ul className="item-list">
      {conditions.map((condition) => (
        <li key={condition.type} className="stack-small">
          <span className="spread">
            <Status {...conditionLook(condition)} />
            <span className="muted small">
              <Time at={condition.at} />
            </span>
          </span>
          {condition.message && <span className="muted small">{condition.message}</span>}
        </li>
      ))}
    </ul>
  </Panel>
);

export function TargetEvents({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const input = { params: { id }, query: { limit: SHOWN } };
  const host = useQuery({ ...fleet.read('listHostEvents', input), enabled: kind === 'host' });
  const cluster = useQuery({ ...fleet.read('listClusterEvents', input), enabled: kind === 'cluster' });
  const { data, error, refetch } = kind === 'host' ? host : cluster;
  return (
    <Panel title={t('Events')}>
      {error && <ErrorView error={error} retry={refetch} />}
      {data?.events.length === 0 && <p className="muted">{t('No problem has happened.')}</p>}
      <ol className="timeline">
        {data?.events.map((event) => (
          <li key={event.id}>
            <span className="row">
              <span className={event.severity === 'warning' ? 'strong text-bad' : 'strong'}>
                {wordsOfCode(event.reason)}
              </span>
              <span className="muted small">
                {event.resolved_at ? (
                  rich('{time}, resolved', { time: <Time at={event.at} /> })
                ) : (
                  <Time at={event.at} />
                )}
              </span>
            </span>
            <p className="muted">{event.message}</p>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Objects of a fleet on the engine that this fleet does not know. */
export function Orphans({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const input = { params: { id }, query: { limit: MAX_ORPHANS } };
  const host = useQuery({ ...fleet.read('listHostOrphans', input), enabled: kind === 'host' });
  const cluster = useQuery({ ...fleet.read('listClusterOrphans', input), enabled: kind === 'cluster' });
  const { data, error, refetch } = kind === 'host' ? host : cluster;
  const [removed, setRemoved] = useState<Orphan>();
  const [adopted, setAdopted] = useState<Orphan>();
  const blocked = useBlocked();
  return (
    <Panel title={t('Orphans')} flush>
      {error && <ErrorView error={error} retry={refetch} />}
      {!data && !error && <Loading text={t('Loading the orphans…')} />}
      {data?.orphans.length === 0 && (
        <p className="body muted">
          {t('Everything with the labels of a fleet belongs to a deployment of this fleet.')}
        </p>
      )}
      {data && data.orphans.length > 0 && (
        <Table
          label={t('Orphans')}
          columns={[
            { label: t('Name') },
            { label: t('Objects') },
            { label: t('Found') },
            { label: t('Actions'), isHidden: true },
          ]}
        >
          {data.orphans.map((orphan) => (
            <tr key={orphan.id}>
              <th scope="row">
                {orphan.name}
                <span className="muted small truncate">{orphan.kind}</span>
              </th>
              <td className="muted small">
                {t('{count, plural, one {# object} other {# objects}}: {names}', {
                  count: orphan.object_count,
                  names: orphan.objects.slice(0, 3).join(', '),
                })}
              </td>
              <td className="muted">
                <Time at={orphan.found_at} />
              </td>
              <td className="end">
                {orphan.removing ? (
                  <Status {...looks.moving(t('Removing'))} />
                ) : (
                  <span className="row">
                    <Button
                      size="small"
                      icon={PackageOpen}
                      blocked={blocked('adoptHostOrphan')}
                      aria-haspopup="dialog"
                      onClick={() => setAdopted(orphan)}
                    >
                      {t('Adopt')}
                    </Button>
                    <Button
                      size="small"
                      tone="danger"
                      icon={Trash2}
                      blocked={blocked('removeHostOrphan')}
                      aria-haspopup="dialog"
                      onClick={() => setRemoved(orphan)}
                    >
                      {t('Remove')}
                    </Button>
                  </span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {data && data.pagination.total > MAX_ORPHANS && (
        <p className="body muted">
          {t('The first {shown} of {total}. Remove or adopt some to see the others.', {
            shown: formatCount(MAX_ORPHANS),
            total: formatCount(data.pagination.total),
          })}
        </p>
      )}
      {removed && <RemoveOrphanDialog kind={kind} id={id} orphan={removed} onClose={() => setRemoved(undefined)} />}
      {adopted && <AdoptOrphanDialog kind={kind} id={id} orphan={adopted} onClose={() => setAdopted(undefined)} />}
    </Panel>
  );
}

export interface OrphanDialogProps {
  readonly kind: Kind;
  readonly id: string;
  readonly orphan: Orphan;
  readonly onClose: () => void;
}

function RemoveOrphanDialog({ kind, id, orphan, onClose }: OrphanDialogProps) {
  const onSuccess = () => {
    confirmChange(t('{name} is being removed', { name: orphan.name }));
    onClose();
  };
  const host = useMutation({ ...fleet.change('removeHostOrphan'), onSuccess });
  const cluster = useMutation({ ...fleet.change('removeClusterOrphan'), onSuccess });
  const remove = kind === 'host' ? host : cluster;
  return (
    <ConfirmDialog
      title={t('Remove {name}?', { name: orphan.name })}
      action={t('Remove')}
      name={orphan.name}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id, orphan_id: orphan.id } })}
    >
      <p>
        {orphan.kind === 'volume'
          ? t('The volume is removed with its data. This cannot be undone.')
          : t(
              '{count, plural, one {# object is removed from the engine. Another fleet may still use it.} other {# objects are removed from the engine. Another fleet may still use them.}}',
              { count: orphan.object_count },
            )}
      </p>
    </ConfirmDialog>
  );
}

/** Removes a target from the fleet. The machine does not change. */
export function RemoveTargetDialog({
  kind,
  target: { id, name, version, reachability },
  onClose,
}: {
  readonly kind: Kind;
  readonly target: Pick<Host, 'id' | 'name' | 'version' | 'reachability'>;
  readonly onClose: () => void;
}) {
  const [abandons, setAbandons] = useState(false);
  const [, navigate] = useLocation();
  const onSuccess = () => {
    confirmChange(t('{name} is removed from the fleet', { name }));
    navigate(kind === 'host' ? '/hosts' : '/clusters');
  };
  const host = useMutation({ ...fleet.change('deleteHost', 'deployments', 'storage'), onSuccess });
  const cluster = useMutation({ ...fleet.change('deleteCluster', 'deployments', 'storage'), onSuccess });
  const remove = kind === 'host' ? host : cluster;
  return (
    <ConfirmDialog
      title={t('Remove {name} from the fleet?', { name })}
      action={t('Remove')}
      name={name}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id }, query: { abandon: abandons }, ifMatch: version })}
    >
      <p>
        {kind === 'host' ? t('The host itself does not change.') : t('The cluster itself does not change.')}{' '}
        {t('It can only be removed if no deployment and no volume is on it.')}{' '}
        {codeOf(remove.error) === 'in_use' && t('Delete what uses it first.')}
      </p>
      {reachability !== 'online' && (
        <CheckField
          label={t('It no longer exists: also delete the records of everything on it')}
          hint={t(
            'The fleet does not connect to it. What still runs there continues without the fleet, and the records of its volumes are lost.',
          )}
          checked={abandons}
          onChange={setAbandons}
        />
      )}
    </ConfirmDialog>
  );
}
