import { useMutation, useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../shared/routing/search.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { Diff } from '../../shared/ui/display/Diff.tsx';
import { wordsOfCode } from '../../shared/ui/display/format.ts';
import { textOf } from '../../shared/ui/display/object-text.ts';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Pager } from '../../shared/ui/lists/Table.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Deployment, type FleetOutput, fleet, useBlocked } from '../api.ts';

type Revision = FleetOutput<'listDeploymentRevisions'>['revisions'][number];

type Restored = Pick<Revision, 'revision' | 'replicas' | 'env' | 'desired_state'>;

/** What a rollback restores of a generation. */
const restoredOf = ({ revision, replicas, env, desired_state }: Restored) =>
  textOf({ revision, replicas, env, desired_state });

/** What a generation specified, without what identifies it. */
const contentOf = ({ revision, replicas, autoscaling, scaled_by, env, desired_state }: Revision) =>
  textOf({ revision, replicas, ...(autoscaling && { autoscaling }), scaled_by, env, desired_state });

/** Whether a generation runs the same as the present one, apart from whether it is stopped. */
export const isSameConfiguration = (one: Revision, other: Deployment): boolean =>
  restoredOf({ ...one, desired_state: other.desired_state }) === restoredOf(other);

/** The generations of a deployment, each with its difference from the previous one. */
export function Revisions({ deployment }: { readonly deployment: Deployment }) {
  const { page, set } = useFilters();
  const { id } = deployment;
  const { data, error, refetch } = useQuery(fleet.read('listDeploymentRevisions', { params: { id }, query: { page } }));
  const [restored, setRestored] = useState<Revision>();
  const blocked = useBlocked();
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the history…')} />;
  return (
    <div className="stack">
      {data.revisions.map((revision, index) => {
        const before = data.revisions[index + 1];
        const isCurrent = revision.generation === deployment.generation;
        return (
          <Panel
            key={revision.generation}
            flush
            title={t('Generation {generation}: {operation}', {
              generation: revision.generation,
              operation: wordsOfCode(revision.operation),
            })}
            actions={
              isCurrent ? (
                <span className="tag">{t('current')}</span>
              ) : (
                <Button
                  size="small"
                  icon={History}
                  blocked={blocked('rollbackDeployment')}
                  aria-haspopup="dialog"
                  onClick={() => setRestored(revision)}
                >
                  {t('Roll back to this')}
                </Button>
              )
            }
          >
            <p className="muted small body">
              {rich('{time} by {name}', { time: <Time at={revision.created_at} />, name: revision.created_by })}
            </p>
            {/* What is before the last generation of a page is on the next page. */}
            {(before || revision.generation === 1) && (
              <Diff
                label={t('Changes of generation {generation}', { generation: revision.generation })}
                before={before ? contentOf(before) : ''}
                after={contentOf(revision)}
              />
            )}
          </Panel>
        );
      })}
      <Pager pagination={data.pagination} onPage={(next) => set({ page: next })} />
      {restored && (
        <RollbackDialog deployment={deployment} revision={restored} onClose={() => setRestored(undefined)} />
      )}
    </div>
  );
}

export function RollbackDialog({
  deployment,
  revision,
  onClose,
}: {
  readonly deployment: Deployment;
  readonly revision: Revision;
  readonly onClose: () => void;
}) {
  const { id, name, version } = deployment;
  const rollback = useMutation({
    ...fleet.change('rollbackDeployment'),
    onSuccess: () => {
      confirmChange(t('{name} is rolled back to generation {generation}', { name, generation: revision.generation }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Roll {name} back to generation {generation}?', { name, generation: revision.generation })}
      action={t('Roll back')}
      pending={rollback.isPending}
      error={rollback.error}
      onClose={onClose}
      onConfirm={() => rollback.mutate({ params: { id }, body: { generation: revision.generation }, ifMatch: version })}
    >
      <p>
        {t('A new generation restores the revision, the variables and the number of replicas. Volumes do not change.')}
      </p>
      <Diff label={t('What changes')} before={restoredOf(deployment)} after={restoredOf(revision)} />
    </ConfirmDialog>
  );
}
