import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { wordsOf } from '../../../shared/api/problem.ts';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { CheckField } from '../../../shared/ui/controls/Field.tsx';
import { ConfirmDialog, Dialog } from '../../../shared/ui/dialogs/Dialog.tsx';
import { looks, Status } from '../../../shared/ui/display/Status.tsx';
import { ErrorView, Loading } from '../../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../../shared/ui/feedback/toast.tsx';
import { type BulkAction, type Foreseen, foresee, inTurn, perform, type SelectedDeployment } from './bulk-plan.ts';

interface Words {
  readonly one: (name: string) => string;
  readonly many: (count: number) => string;
  readonly done: string;
  readonly oneDone: (name: string) => string;
}

const words: Readonly<Record<BulkAction, Words>> = {
  start: {
    one: (name) => t('Start {name}', { name }),
    many: (count) => t('{count, plural, one {Start # deployment} other {Start # deployments}}', { count }),
    done: t('Starting'),
    oneDone: (name) => t('{name} is starting', { name }),
  },
  stop: {
    one: (name) => t('Stop {name}', { name }),
    many: (count) => t('{count, plural, one {Stop # deployment} other {Stop # deployments}}', { count }),
    done: t('Stopping'),
    oneDone: (name) => t('{name} is stopping', { name }),
  },
  restart: {
    one: (name) => t('Restart {name}', { name }),
    many: (count) => t('{count, plural, one {Restart # deployment} other {Restart # deployments}}', { count }),
    done: t('Restarting'),
    oneDone: (name) => t('{name} is restarting', { name }),
  },
  delete: {
    one: (name) => t('Delete {name}', { name }),
    many: (count) => t('{count, plural, one {Delete # deployment} other {Delete # deployments}}', { count }),
    done: t('Deleting'),
    oneDone: (name) => t('{name} is being deleted', { name }),
  },
};

interface Outcome {
  readonly deployment: SelectedDeployment;
  /** What is wrong, if the action failed. */
  readonly problem?: string;
}

/** Performs an action on deployments: the plan for each, one confirmation, and the results, unless it is one success. */
export default function BulkDialog({
  action,
  deployments,
  onDone,
  onClose,
}: {
  readonly action: BulkAction;
  readonly deployments: readonly SelectedDeployment[];
  /** Is called with the deployments for which the action succeeded. */
  readonly onDone?: (changed: readonly SelectedDeployment[]) => void;
  readonly onClose: () => void;
}) {
  // What the plan is for stays the same, also if the objects change meanwhile.
  const [planned] = useState(deployments);
  const [keepsWorkload, setKeepsWorkload] = useState(false);
  const plan = useQuery({
    queryKey: ['bulk', action, planned.map(({ id, version }) => `${id}/${version}`)],
    queryFn: () => inTurn(planned, (deployment) => foresee(action, deployment)),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [only] = planned;
  const isOne = planned.length === 1 && only !== undefined;
  const run = useMutation({
    mutationFn: (chosen: readonly SelectedDeployment[]) =>
      inTurn(chosen, async (deployment): Promise<Outcome> => {
        try {
          await perform(action, deployment, { keepsWorkload });
          return { deployment };
        } catch (error) {
          const { sentence, detail = sentence } = wordsOf(error);
          return { deployment, problem: detail };
        }
      }),
    meta: { tags: ['deployments', 'workloads', 'storage'] },
    onSuccess: (outcomes) => {
      const changed = outcomes.filter(({ problem }) => problem === undefined).map(({ deployment }) => deployment);
      if (isOne && changed.length === 1) {
        confirmChange(words[action].oneDone(only.name));
        onClose();
      }
      onDone?.(changed);
    },
  });
  const chosen = plan.data?.filter(({ blocked }) => blocked === undefined).map(({ deployment }) => deployment) ?? [];
  const workloads = plan.data?.filter(({ workload }) => workload !== undefined).length ?? 0;
  const title = isOne ? words[action].one(only.name) : words[action].many(plan.data ? chosen.length : planned.length);
  if (run.data) {
    return (
      <Dialog title={title} onClose={onClose}>
        <ul className="item-list" aria-label={t('Results')}>
          {run.data.map(({ deployment: { id, name }, problem }) => (
            <li key={id} className="stack-small">
              <span className="spread">
                <strong>{name}</strong>
                <Status {...(problem === undefined ? looks.good(words[action].done) : looks.bad(t('Failed')))} />
              </span>
              {problem !== undefined && <span className="muted small">{problem}</span>}
            </li>
          ))}
        </ul>
        <div className="dialog-actions">
          <Button tone="primary" onClick={onClose}>
            {t('Close')}
          </Button>
        </div>
      </Dialog>
    );
  }
  if (!plan.data || chosen.length === 0) {
    return (
      <Dialog title={title} onClose={onClose}>
        {plan.error ? (
          <ErrorView error={plan.error} retry={plan.refetch} />
        ) : (
          !plan.data && <Loading text={t('Planning…')} />
        )}
        {plan.data && <Foresights foreseen={plan.data} keepsWorkload={keepsWorkload} />}
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      title={`${title}?`}
      action={title}
      {...(action === 'delete' ? { name: isOne ? only.name : String(chosen.length) } : {})}
      pending={run.isPending}
      error={run.error}
      onClose={() => {
        if (!run.isPending) onClose();
      }}
      onConfirm={() => run.mutate(chosen)}
    >
      <Foresights foreseen={plan.data} keepsWorkload={keepsWorkload} />
      {workloads > 0 && (
        <CheckField
          label={t('{workloads, plural, one {Keep the workload} other {Keep the workloads}}', { workloads })}
          checked={keepsWorkload}
          onChange={setKeepsWorkload}
        />
      )}
    </ConfirmDialog>
  );
}

const Foresights = ({
  foreseen,
  keepsWorkload,
}: {
  readonly foreseen: readonly Foreseen[];
  readonly keepsWorkload: boolean;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  <ul className="item-list bulk-plan" aria-label={t('What will happen')} tabIndex={0}>
    {foreseen.map(({ deployment: { id, name }, effects, workload, blocked }) => (
      <li key={id} className="stack-small">
        <span className="spread">
          <strong>{name}</strong>
          {blocked !== undefined && <Status {...looks.off(t('Not changed'))} />}
        </span>
        {[...(blocked === undefined ? effects : [blocked]), ...textOfWorkload(workload, keepsWorkload)].map((text) => (
          <span key={text} className="muted small">
            {text}
          </span>
        ))}
      </li>
    ))}
  </ul>
);

const textOfWorkload = (name: string | undefined, isKept: boolean): readonly string[] =>
  name === undefined
    ? []
    : [isKept ? t('The workload {name} remains.', { name }) : t('The workload {name} is deleted.', { name })];
