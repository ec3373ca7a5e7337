import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { rich, t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { Countdown } from '../../../shared/ui/display/Countdown.tsx';
import { Facts } from '../../../shared/ui/display/Facts.tsx';
import { formatCount, wordsOfCode } from '../../../shared/ui/display/format.ts';
import { Time } from '../../../shared/ui/display/Time.tsx';
import { Panel } from '../../../shared/ui/shell/PageHeader.tsx';
import { type Deployment, type FleetOutput, fleet, useBlocked } from '../../api.ts';
import { withoutEscapes } from '../Logs.tsx';
import { isSameConfiguration, RollbackDialog } from '../Revisions.tsx';

type CrashLoop = NonNullable<Deployment['crash_loop']>;
type Revision = FleetOutput<'listDeploymentRevisions'>['revisions'][number];

/** How a deployment fails again and again, and what changed before. */
export function CrashLoopPanel({ deployment, loop }: { readonly deployment: Deployment; readonly loop: CrashLoop }) {
  const { id } = deployment;
  return (
    <Panel title={t('Crash loop')}>
      <div className="stack">
        <Facts
          facts={[
            [t('Attempt'), formatCount(loop.attempt)],
            [t('Last exit code'), loop.exit_code ?? t('not known')],
            [t('Next try'), loop.next_try_at ? <Countdown key="next" to={loop.next_try_at} /> : t('an attempt runs')],
            [t('Since'), <Time key="since" at={loop.since} />],
            [
              t('Instance'),
              <code key="instance" className="small">
                {loop.instance}
              </code>,
            ],
          ]}
        />
        <LastChange deployment={deployment} since={loop.since} />
        <FailedAttempt id={id} loop={loop} />
      </div>
    </Panel>
  );
}

/** The last change before the failure, and the configuration before it. */
function LastChange({ deployment, since }: { readonly deployment: Deployment; readonly since: string }) {
  const { data } = useQuery(fleet.read('listDeploymentRevisions', { params: { id: deployment.id } }));
  const [restored, setRestored] = useState<Revision>();
  const blocked = useBlocked();
  const revisions = data?.revisions ?? [];
  const last = revisions.find(({ created_at }) => created_at <= since);
  const before = revisions.find(
    (revision) => revision.generation < deployment.generation && !isSameConfiguration(revision, deployment),
  );
  if (!last) return null;
  return (
    <div className="stack-small">
      <h3>{t('Last change before the failure')}</h3>
      <p>
        {rich('Generation {generation}: {operation}, {time} by {name}', {
          generation: last.generation,
          operation: wordsOfCode(last.operation),
          time: <Time at={last.created_at} />,
          name: last.created_by,
        })}
      </p>
      {before && (
        <div className="row">
          <Button
            icon={History}
            blocked={blocked('rollbackDeployment')}
            aria-haspopup="dialog"
            onClick={() => setRestored(before)}
          >
            {before.revision === deployment.revision
              ? t('Roll back to generation {generation}', { generation: before.generation })
              : t('Roll back to revision {revision}', { revision: before.revision })}
          </Button>
        </div>
      )}
      {restored && (
        <RollbackDialog deployment={deployment} revision={restored} onClose={() => setRestored(undefined)} />
      )}
    </div>
  );
}

const LINES = 20;

/** The last lines that the failed attempt wrote, if the engine still has them. */
function FailedAttempt({ id, loop }: { readonly id: string; readonly loop: CrashLoop }) {
  const { instance, attempt, failed_start_at: since } = loop;
  const { data, error } = useQuery({
    queryKey: ['the log of the failed attempt', id, instance, since ?? attempt],
    queryFn: async ({ signal }) => {
      const query = { instance, tail: LINES, previous: true, ...(since !== null && { since }) };
      const lines: string[] = [];
      for await (const line of fleet.lines('readDeploymentLogs', { params: { id }, query, signal })) lines.push(line);
      return lines.slice(-LINES).map(withoutEscapes);
    },
    retry: false,
  });
  return (
    <div className="stack-small">
      <div className="spread">
        <h3>{t('Last lines of the failed attempt')}</h3>
        <Link href={href('/deployments/:id', { id }, { tab: 'log' })}>{t('Whole log')}</Link>
      </div>
      {error ? (
        <p className="muted">{t('The engine has no log of this attempt any more.')}</p>
      ) : data?.length === 0 ? (
        <p className="muted">{t('The attempt wrote nothing.')}</p>
      ) : (
        data && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
          <pre className="code" tabIndex={0}>
            {data.join('\n')}
          </pre>
        )
      )}
    </div>
  );
}
