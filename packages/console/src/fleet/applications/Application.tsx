import { useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlay, CircleStop, RotateCcw, Trash2, Undo2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { type Fact, Facts } from '../../shared/ui/display/Facts.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type Application, fleet, useBlocked } from '../api.ts';
import { OpenButton } from '../deployments/endpoints/Endpoints.tsx';
import { RevealButton } from '../deployments/RevealButton.tsx';
import { phaseLook } from '../looks.ts';
import { AsFile, wordsOfPlace } from '../plans/AsFile.tsx';
import { ApplicationPolicy } from './ApplicationPolicy.tsx';
import { UpdateDecision } from './UpdateDecision.tsx';
import { UpgradeNotice } from './UpgradeNotice.tsx';

/** The stream of changes does not contain applications. */
const REFRESH_MS = 2000;

/** An application: its parts with their state, and what can be done with the whole. */
export default function ApplicationPage({ params }: PageProps<'/applications/:id'>) {
  const { data, error, refetch } = useQuery({
    ...fleet.read('getApplication', { params }),
    refetchInterval: REFRESH_MS,
  });
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the application…')} />;
  const { application } = data;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Applications'), href: '/applications' }]}
        title={application.name}
        beside={<Status {...phaseLook(application)} />}
        about={rich('Created {time} by {name}', {
          time: <Time at={application.created_at} />,
          name: application.created_by,
        })}
        actions={
          <>
            <OpenButton of={{ ...application, endpoints: application.parts.flatMap(({ endpoints }) => endpoints) }} />
            <Actions application={application} />
          </>
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <div className="split">
        <div className="stack">
          {application.outcome === 'failed' && (
            <Notice kind="warning" title={t('The last update has failed')}>
              <p>{application.outcome_reason}</p>
            </Notice>
          )}
          <UpdateDecision application={application} />
          {application.failed_generation !== null && (
            <Notice kind="warning" title={t('The application has returned to an earlier state')}>
              <p>{t('Generation {number} has failed.', { number: formatCount(application.failed_generation) })}</p>
            </Notice>
          )}
          <UpgradeNotice update={application.update} />
          <Panel title={t('Parts')} flush>
            <ul className="item-list" aria-label={t('Parts')}>
              {application.parts.map((part) => (
                <Part key={part.deployment_id} part={part} />
              ))}
            </ul>
          </Panel>
          <AsFile of={application} />
        </div>
        <div className="stack">
          <Panel title={t('Details')}>
            <Facts facts={factsOf(application)} />
          </Panel>
          <ApplicationPolicy application={application} />
          {application.generated.length > 0 && (
            <Panel title={t('Generated values')} flush>
              <ul className="item-list" aria-label={t('Generated values')}>
                {application.generated.map((name) => (
                  <li key={name} className="spread">
                    <code>{name}</code>
                    <RevealButton kind="application" id={application.id} variable={name} />
                  </li>
                ))}
              </ul>
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}

function Part({ part }: { readonly part: Application['parts'][number] }) {
  const { deployment_id: id, name, image, message, endpoints } = part;
  return (
    <li className="stack-small">
      <span className="spread">
        <Link href={href('/deployments/:id', { id })} className="cell-link">
          {name}
        </Link>
        <Status {...phaseLook(part)} />
      </span>
      <span className="muted small mono">{image}</span>
      {message && <span className="muted small">{message}</span>}
      <Link
        href={href('/deployments/:id', { id }, { tab: 'log' })}
        className="small"
        aria-label={t('Log of {instance}', { instance: name })}
      >
        {t('Log')}
      </Link>
      {part.removed && <span className="muted small">{t('It is removed when the update has succeeded.')}</span>}
      {endpoints.map(({ address, container_port }) => (
        <span key={address} className="small mono">
          {address} ({container_port})
        </span>
      ))}
    </li>
  );
}

const factsOf = (application: Application): readonly Fact[] => [
  [t('Target'), application.target_name ?? t('None')],
  ...(application.managed_by ? [[t('Managed by'), wordsOfPlace(application.managed_by)] as const] : []),
  [t('Generation'), formatCount(application.generation)],
];

type Asking = 'stop' | 'rollback' | 'delete';

function Actions({ application: { id, name, desired_state, good_generation } }: { readonly application: Application }) {
  const [asking, setAsking] = useState<Asking>();
  const blocked = useBlocked();
  const [, navigate] = useLocation();
  const close = () => setAsking(undefined);
  const done = (message: string) => () => {
    confirmChange(message);
    close();
  };
  const start = useMutation({ ...fleet.change('startApplication'), onSuccess: done(t('The application starts')) });
  const restart = useMutation({
    ...fleet.change('restartApplication'),
    onSuccess: done(t('The application restarts')),
  });
  const stop = useMutation({ ...fleet.change('stopApplication'), onSuccess: done(t('The application stops')) });
  const rollback = useMutation({
    ...fleet.change('rollbackApplication'),
    onSuccess: done(t('The application returns to its last good state')),
  });
  const remove = useMutation({
    ...fleet.change('deleteApplication'),
    onSuccess: () => {
      confirmChange(t('The application is being deleted'));
      navigate('/applications');
    },
  });
  const params = { id };
  return (
    <>
      {desired_state === 'stopped' ? (
        <Button icon={CirclePlay} blocked={blocked('startApplication')} onClick={() => start.mutate({ params })}>
          {t('Start')}
        </Button>
      ) : (
        <>
          <Button icon={RotateCcw} blocked={blocked('restartApplication')} onClick={() => restart.mutate({ params })}>
            {t('Restart')}
          </Button>
          <Button icon={CircleStop} blocked={blocked('stopApplication')} onClick={() => setAsking('stop')}>
            {t('Stop')}
          </Button>
        </>
      )}
      {good_generation !== null && (
        <Button icon={Undo2} blocked={blocked('rollbackApplication')} onClick={() => setAsking('rollback')}>
          {t('Roll back')}
        </Button>
      )}
      <Button
        tone="danger"
        icon={Trash2}
        blocked={blocked('deleteApplication')}
        aria-haspopup="dialog"
        onClick={() => setAsking('delete')}
      >
        {t('Delete')}
      </Button>
      {asking === 'stop' && (
        <Ask
          title={t('Stop {name}?', { name })}
          action={t('Stop')}
          change={stop}
          onClose={close}
          onConfirm={() => stop.mutate({ params })}
        >
          {t('All parts stop, those first that need others. Their volumes stay.')}
        </Ask>
      )}
      {asking === 'rollback' && (
        <Ask
          title={t('Roll {name} back?', { name })}
          action={t('Roll back')}
          change={rollback}
          onClose={close}
          onConfirm={() => rollback.mutate({ params, body: {} })}
        >
          {t('All parts return to the last state in which they ran. The data in volumes stays as it is.')}
        </Ask>
      )}
      {asking === 'delete' && (
        <Ask
          title={t('Delete {name}?', { name })}
          action={t('Delete')}
          change={remove}
          onClose={close}
          onConfirm={() => remove.mutate({ params })}
        >
          {t('All parts are deleted, with the volumes that were created for them, unless a volume is to be kept.')}
        </Ask>
      )}
    </>
  );
}

interface AskProps {
  readonly title: string;
  readonly action: string;
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly children: ReactNode;
}

const Ask = ({ title, action, change: { isPending, error }, onClose, onConfirm, children }: AskProps) => (
  <ConfirmDialog
    title={title}
    action={action}
    pending={isPending}
    error={error}
    onClose={onClose}
    onConfirm={onConfirm}
  >
    <p>{children}</p>
  </ConfirmDialog>
);
