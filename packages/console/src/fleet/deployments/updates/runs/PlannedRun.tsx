import { useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { Link } from 'wouter';
import { href } from '../../../../shared/routing/href.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { ErrorView, Loading } from '../../../../shared/ui/feedback/states.tsx';
import { Panel } from '../../../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet } from '../../../api.ts';
import { placeOf } from '../../form/member-labels.ts';
import { ChangeReview, OutageWords, VersionWords } from '../ChangeReview.tsx';
import { pageOfItem } from './run-looks.ts';

type Item = FleetOutput<'planUpdateRun'>['plan']['items'][number];

/** What a planned run updates, in its order, and what it leaves as it is. */
export const PlannedRun = memo(function PlannedRun({
  items,
  isStale,
}: {
  readonly items: readonly Item[];
  /** The plan is of an earlier input. */
  readonly isStale: boolean;
}) {
  const updated = items.filter(({ skipped }) => skipped === null);
  const others = items.filter(({ skipped }) => skipped !== null);
  const waves = updated.at(-1)?.wave ?? 0;
  const interrupted = updated.filter(({ outage }) => outage?.total).length;
  return (
    <div className={isStale ? 'stack dim' : 'stack'} aria-busy={isStale}>
      {updated.length > 0 && (
        <Panel title={t('Will be updated')} flush>
          <p className="body muted">
            {t(
              '{count, plural, one {# deployment} other {# deployments}} in {waves, plural, one {# step} other {# steps}}.',
              { count: updated.length, waves },
            )}{' '}
            {interrupted === 0
              ? t('None of them has an outage.')
              : t('{count, plural, one {# of them has an outage.} other {# of them have an outage.}}', {
                  count: interrupted,
                })}
          </p>
          <ul className="item-list" aria-label={t('Will be updated')}>
            {updated.map((item) => (
              <Planned key={pageOfItem(item).id} item={item} />
            ))}
          </ul>
        </Panel>
      )}
      {others.length > 0 && (
        <Panel title={t('Will not be updated')} flush>
          <ul className="item-list" aria-label={t('Will not be updated')}>
            {others.map((item) => (
              <Excluded key={pageOfItem(item).id} item={item} />
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
});

function Planned({ item }: { readonly item: Item }) {
  const { deployment_id: id, name, wave, template, outage } = item;
  return (
    <li className="stack-small">
      <span className="spread">
        <Link href={pageOfItem(item).page} className="cell-link">
          {name}
        </Link>
        <span className="muted small">{t('Step {number}', { number: wave ?? 0 })}</span>
      </span>
      {template && <VersionWords template={template} />}
      {outage && <OutageWords outage={outage} />}
      {id !== null && <Details id={id} name={name} />}
    </li>
  );
}

/** The changes of one deployment, which are read when the user opens them. */
function Details({ id, name }: { readonly id: string; readonly name: string }) {
  const [isUsed, setUsed] = useState(false);
  return (
    <details onToggle={() => setUsed(true)}>
      <summary aria-label={t('What changes in {name}', { name })}>{t('What changes')}</summary>
      {isUsed && <Changes id={id} />}
    </details>
  );
}

function Changes({ id }: { readonly id: string }) {
  const body = { deployment_id: id, upgrade: true, dry_run: false };
  const { data, error, refetch } = useQuery({
    queryKey: ['plan', JSON.stringify(body)],
    queryFn: ({ signal }) => fleet.call('planDeployment', { body, signal }),
    gcTime: 0,
    retry: false,
  });
  if (error) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Planning…')} />;
  return <ChangeReview plan={data} />;
}

/** Why a deployment stays as it is. What a person must decide has its own review. */
function Excluded({ item }: { readonly item: Item }) {
  const { deployment_id: id, name, skipped, refusals, template } = item;
  return (
    <li className="stack-small">
      <span className="spread">
        <Link href={pageOfItem(item).page} className="cell-link">
          {name}
        </Link>
        {template && id !== null && (
          <Link href={href('/deployments/:id/update', { id })} aria-label={t('Review update: {name}', { name })}>
            {t('Review update')}
          </Link>
        )}
      </span>
      {refusals.length === 0 && <span className="muted small">{skipped}</span>}
      {refusals.map(({ path, message }) => {
        const { label, name: member } = placeOf(path);
        return (
          <span key={path + message} className="muted small">
            <span className="strong">{label}</span> {member !== '' && <code>{member}</code>} {message}
          </span>
        );
      })}
    </li>
  );
}
