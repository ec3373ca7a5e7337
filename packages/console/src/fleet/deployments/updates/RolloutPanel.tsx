import { useQuery } from '@tanstack/react-query';
import { rich, t } from '../../../shared/texts/texts.ts';
import { Countdown } from '../../../shared/ui/display/Countdown.tsx';
import { type Fact, Facts } from '../../../shared/ui/display/Facts.tsx';
import { formatCount, wordsOfCode } from '../../../shared/ui/display/format.ts';
import { looks, Status, type StatusLook } from '../../../shared/ui/display/Status.tsx';
import { Time } from '../../../shared/ui/display/Time.tsx';
import { Panel } from '../../../shared/ui/shell/PageHeader.tsx';
import { type Deployment, fleet } from '../../api.ts';
import { RolloutDecision } from './RolloutDecision.tsx';

type Rollout = NonNullable<Deployment['rollout']>;

/** `succeeded` is not shown. */
const rolloutLooks: Readonly<Record<Exclude<Rollout['state'], 'succeeded'>, StatusLook>> = {
  progressing: looks.moving(t('In progress')),
  returning: looks.warning(t('Failed, returns')),
  held: looks.warning(t('Held')),
  failed: looks.bad(t('Failed')),
  rolled_back: looks.warning(t('Returned')),
};

/** How a change replaces the instances, why it is held, and whether the fleet has returned to what ran before. */
export function RolloutPanel({ deployment }: { readonly deployment: Deployment }) {
  // A replica of version 0.2 states none.
  const rollout: Rollout | null | undefined = deployment.rollout;
  if (!rollout || rollout.state === 'succeeded' || isFirst(rollout)) return null;
  return (
    <Panel title={t('Rollout')} actions={<Status {...rolloutLooks[rollout.state]} />}>
      <div className="stack">
        {rollout.state === 'rolled_back' ? (
          <Returned deployment={deployment} rollout={rollout} />
        ) : (
          <Progress deployment={deployment} rollout={rollout} />
        )}
      </div>
    </Panel>
  );
}

/** The phase describes the start of a new deployment. */
const isFirst = ({ state, generation }: Rollout): boolean => state === 'progressing' && generation === 1;

function Progress({ deployment, rollout }: { readonly deployment: Deployment; readonly rollout: Rollout }) {
  const { instances, message } = deployment;
  const { state, updated, ready, deadline_at, extra, good_generation, generation } = rollout;
  const old = instances.filter(({ current }) => !current);
  const facts: readonly Fact[] = [
    [t('New instances'), t('{count}, of which {ready} are ready', { count: formatCount(updated), ready })],
    [
      t('Old instances'),
      t('{count}, of which {ready} are ready', {
        count: formatCount(old.length),
        ready: old.filter((each) => each.ready).length,
      }),
    ],
    ...(deadline_at ? [[t('Fails if not complete'), <Countdown key="deadline" to={deadline_at} />] as const] : []),
    ...(extra ? [[t('Until its end'), t('one instance more than the replicas')] as const] : []),
    [
      t('Generation'),
      good_generation === null || good_generation === generation
        ? generation
        : t('{generation}, the last good one is {good}', { generation, good: good_generation }),
    ],
  ];
  return (
    <>
      {rollout.message && !message.startsWith(rollout.message) && <p>{rollout.message}</p>}
      <Facts facts={facts} />
      {(state === 'progressing' || state === 'held') && <Decision deployment={deployment} rollout={rollout} />}
    </>
  );
}

/** What a person can decide about a rollout that has not ended. */
function Decision({ deployment, rollout }: { readonly deployment: Deployment; readonly rollout: Rollout }) {
  const { state, good_generation, generation, failed_generation } = rollout;
  const noReturn =
    failed_generation !== null || good_generation === null || good_generation === generation
      ? t('There is no earlier version that is known to be good.')
      : undefined;
  return (
    <RolloutDecision
      kind="deployment"
      of={deployment}
      generation={good_generation}
      canResume={state === 'held'}
      noReturn={noReturn}
    />
  );
}

/** The generations that a page of the history contains. */
const RECENT = 100;

/** That the fleet has restored the last good generation, because a newer one has failed. */
function Returned({ deployment, rollout }: { readonly deployment: Deployment; readonly rollout: Rollout }) {
  const { id } = deployment;
  const { failed_generation, good_generation } = rollout;
  const { data } = useQuery(fleet.read('listDeploymentRevisions', { params: { id }, query: { limit: RECENT } }));
  const failed = data?.revisions.find(({ generation }) => generation === failed_generation);
  return (
    <>
      <p>
        {failed?.outcome_at
          ? rich('Generation {generation} failed {time} with {reason}. The configuration before it runs again.', {
              generation: failed.generation,
              time: <Time at={failed.outcome_at} />,
              reason: wordsOfCode(failed.outcome_reason ?? 'Failed'),
            })
          : t('Generation {generation} failed. The configuration before it runs again.', {
              generation: failed_generation ?? good_generation ?? rollout.generation,
            })}
      </p>
      <p className="muted small">{t('The fleet does not try it again by itself.')}</p>
    </>
  );
}
