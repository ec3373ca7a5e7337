import { CircleCheck, CircleX, Clock, LoaderCircle, MapPin } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ChangelogEntries } from '../../shared/catalog/ChangelogEntries.tsx';
import { rich, t } from '../../shared/texts/texts.ts';
import { Diff } from '../../shared/ui/display/Diff.tsx';
import { formatList } from '../../shared/ui/display/format.ts';
import { textOf } from '../../shared/ui/display/object-text.ts';
import { ErrorView } from '../../shared/ui/feedback/states.tsx';
import { AdviceNotice } from '../advice/Advice.tsx';
import { TrustNotice } from '../advice/TrustNotice.tsx';
import type { Plan } from '../api.ts';
import { placeOf, wordsOfMember } from './form/member-labels.ts';
import { type Correctable, Obstacles } from './remedies/Obstacles.tsx';
import { Bindings, NewSecret, SecretUses } from './SecretUses.tsx';
import { ChangeReview } from './updates/ChangeReview.tsx';

/** What can be done about a refusal, by code. */
export const fixes: Readonly<Record<string, ReactNode>> = {
  no_placement: rich('See below what makes each target suitable, or <link>add a host</link>.', {
    link: (words) => <Link href="/hosts/new">{words}</Link>,
  }),
  unknown_secret: t('Create the secret in place, or choose another one.'),
  unknown_volume: t('Choose another volume, or create a new one.'),
  template_blocked: t('Use another template.'),
  template_flawed: t('Read the advisory, then acknowledge it in the form.'),
  template_untrusted: t('The reason states who must act.'),
  by_hand_refused: t('Deploy a template instead.'),
  override_refused: t('Use the values of the template.'),
  tier_too_low: t('The organization of this fleet needs a higher tier at the hub.'),
  invalid_env: t('Enter a value in the form.'),
  name_taken: t('Choose another name.'),
};

/**
 * The outcome of a request before it is sent: where it would run and why, what is rejected, and
 * what the engine receives.
 */
export function PlanPanel({
  plan,
  error,
  isInvalid,
  isStale,
  correctable,
}: {
  readonly plan: Plan | undefined;
  readonly error: unknown;
  readonly correctable: Correctable;
  /** The fields have errors, so that no plan is possible. */
  readonly isInvalid: boolean;
  /** The plan is of an earlier input. */
  readonly isStale: boolean;
}) {
  const shown = isInvalid ? undefined : plan;
  return (
    <section className="panel" aria-label={t('Plan')} aria-busy={isStale}>
      <header>
        <h2>{t('Plan')}</h2>
        <span className="muted small">{t('nothing is created yet')}</span>
      </header>
      <div className={isStale ? 'dim' : undefined}>
        <Verdict plan={shown} isInvalid={isInvalid} hasError={error !== null && error !== undefined} />
        {error !== null && error !== undefined && (
          <div className="body">
            <ErrorView error={error} />
          </div>
        )}
        {shown && shown.refusals.length > 0 && <Refusals refusals={shown.refusals} />}
        {shown?.advice && (
          <div className="candidate">
            <AdviceNotice advice={shown.advice} />
          </div>
        )}
        {shown && <TrustNotice trust={shown.trust} />}
        {shown?.changelog && <PublisherChanges changelog={shown.changelog} />}
        {shown && <ChangeReview plan={shown} />}
        {shown && shown.template_changes.length > 0 && <TemplateChanges changes={shown.template_changes} />}
        {shown && <Candidates plan={shown} correctable={correctable} />}
        {shown && shown.dry_run.length > 0 && <DryRun results={shown.dry_run} />}
        {shown && shown.changes.length > 0 && <Changes changes={shown.changes} />}
        {shown?.service_account && <Account account={shown.service_account} />}
        {shown?.registry_credentials && (
          <p className="candidate small muted">
            {rich('The image is pulled with the secret {secret} from {server}.', {
              secret: <code>{shown.registry_credentials.secret}</code>,
              server: shown.registry_credentials.server,
            })}
            {shown.registry_credentials.is_new && <NewSecret />}
          </p>
        )}
        {shown && shown.secrets.length > 0 && (
          <div className="candidate small">
            <span className="strong">{t('Variables from secrets')}</span>
            <SecretUses secrets={shown.secrets} />
          </div>
        )}
        {shown && shown.bindings.length > 0 && (
          <div className="candidate small">
            <span className="strong">{t('Values from other deployments')}</span>
            <Bindings bindings={shown.bindings} />
          </div>
        )}
        {shown && (shown.host_ports ?? []).length > 0 && (
          <div className="candidate small">
            <span className="strong">{t('Ports of the host')}</span>
            <ul className="item-list">
              {shown.host_ports.map(({ container_port, protocol, host_port, addresses }) => (
                <li key={`${container_port}/${protocol}`}>
                  {rich('{port} at {addresses}', {
                    port: <code>{`${container_port}/${protocol.toLowerCase()}`}</code>,
                    addresses: <code>{addresses.map((address) => `${address}:${host_port}`).join(', ')}</code>,
                  })}
                </li>
              ))}
            </ul>
          </div>
        )}
        {shown && shown.manifest.length > 0 && (
          <details className="candidate">
            <summary className="strong">{t('Manifest for the engine')}</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
            <pre className="code" tabIndex={0}>
              {textOf(shown.manifest)}
            </pre>
          </details>
        )}
      </div>
    </section>
  );
}

function Verdict({
  plan,
  isInvalid,
  hasError,
}: {
  readonly plan: Plan | undefined;
  readonly isInvalid: boolean;
  readonly hasError: boolean;
}) {
  return (
    <VerdictLine
      plan={plan}
      isInvalid={isInvalid}
      hasError={hasError}
      target={plan && chosenOf(plan.placement)?.name}
    />
  );
}

/** The outcome of a plan in one line. `target` is the name of the chosen target. */
export function VerdictLine(shown: {
  readonly plan: (Pick<Plan, 'ok'> & { readonly refusals: readonly unknown[] }) | undefined;
  readonly isInvalid: boolean;
  readonly hasError: boolean;
  readonly target: string | undefined;
}) {
  const [tone, Icon, words] = verdictOf(shown);
  return (
    <div className={`verdict tone-${tone}`} role="status">
      <Icon size={18} aria-hidden className={Icon === LoaderCircle ? 'spin' : undefined} />
      <span>{words}</span>
    </div>
  );
}

function verdictOf({ plan, isInvalid, hasError, target }: Parameters<typeof VerdictLine>[0]) {
  if (isInvalid) return ['bad', CircleX, t('Correct the marked fields to see the plan.')] as const;
  if (hasError) return ['bad', CircleX, t('The plan is not available.')] as const;
  if (!plan) return ['idle', LoaderCircle, t('Planning…')] as const;
  const { ok, refusals } = plan;
  if (!ok)
    return [
      'bad',
      CircleX,
      t(
        '{count, plural, one {# reason to correct before this can be deployed} other {# reasons to correct before this can be deployed}}',
        { count: refusals.length },
      ),
    ] as const;
  if (target !== undefined) return ['good', CircleCheck, t('Runs on {name}', { name: target })] as const;
  return ['busy', Clock, t('Stored without a target: it does not run yet')] as const;
}

const chosenOf = ({ target, candidates }: Plan['placement']) =>
  target === null ? undefined : candidates.find(({ id }) => id === (target.host_id ?? target.cluster_id));

const Refusals = ({ refusals }: { readonly refusals: Plan['refusals'] }) => (
  <ul className="item-list">
    {refusals.map(({ code, path, message }) => {
      const { label, name } = placeOf(path);
      return (
        <li key={path + message} className="stack-small">
          <span>
            <span className="strong">{label}</span> {name !== '' && <code>{name}</code>} {message}
          </span>
          {fixes[code] && <span className="muted small">{fixes[code]}</span>}
        </li>
      );
    })}
  </ul>
);

function Candidates({ plan: { placement }, correctable }: { readonly plan: Plan; readonly correctable: Correctable }) {
  const chosen = chosenOf(placement);
  if (placement.candidates.length === 0) {
    return (
      <p className="candidate">
        {rich('No host or cluster is registered. <host>Add a host</host> or <cluster>add a cluster</cluster>.', {
          host: (words) => <Link href="/hosts/new">{words}</Link>,
          cluster: (words) => <Link href="/clusters/new">{words}</Link>,
        })}
      </p>
    );
  }
  const ranked = [...placement.candidates].sort((one, other) => rank(one, chosen) - rank(other, chosen));
  return (
    <div>
      {ranked.map((candidate) => {
        const { id, name, kind, fits, reasons } = candidate;
        const isChosen = candidate === chosen;
        const Icon = isChosen ? MapPin : fits ? CircleCheck : CircleX;
        return (
          <div key={id} className="candidate">
            <span className="row">
              <Icon size={15} aria-hidden className={fits ? 'text-good' : 'text-bad'} />
              <span className="strong">{name}</span>
              <span className="muted small">{kind}</span>
              <span className={fits ? 'text-good small' : 'text-bad small'}>
                {isChosen ? t('chosen') : fits ? t('suitable') : t('not suitable')}
              </span>
            </span>
            {fits ? (
              <ul>
                {reasons.map((reason) => (
                  <li key={reason}>{reason}</li>
                ))}
              </ul>
            ) : (
              <Obstacles candidate={candidate} correctable={correctable} />
            )}
          </div>
        );
      })}
      <Omitted omitted={placement.omitted} />
    </div>
  );
}

/** How many candidates the service has left out, because the fleet is large. */
const Omitted = ({ omitted: { suitable, rejected } }: { readonly omitted: Plan['placement']['omitted'] }) =>
  suitable + rejected > 0 && (
    <p className="candidate muted small">
      {t(
        '{suitable, plural, one {# more target is suitable} other {# more targets are suitable}}, and {rejected, plural, one {# more is not} other {# more are not}}.',
        { suitable, rejected },
      )}
    </p>
  );

const rank = (candidate: Plan['placement']['candidates'][number], chosen: unknown) =>
  candidate === chosen ? 0 : candidate.fits ? 1 : 2;

/** The account of the pods. Without a token, it concerns only what the cluster does with the pods. */
const Account = ({
  account: { name, token, is_new_token },
}: {
  readonly account: NonNullable<Plan['service_account']>;
}) =>
  token ? (
    <p className="candidate small">
      {rich('The program receives a token of the account {name} for the API of the cluster.', {
        name: <code>{name}</code>,
      })}
      {is_new_token && <NewSecret />}
    </p>
  ) : (
    <p className="candidate small muted">
      {rich('Pods have the account {name} and no token of it.', { name: <code>{name}</code> })}
    </p>
  );

/** What the cluster says about the objects: what it refuses, and why it was not asked about others. */
function DryRun({ results }: { readonly results: Plan['dry_run'] }) {
  const refused = results.filter(({ result }) => result === 'refused');
  const reasons = new Set(results.flatMap(({ result, message }) => (result === 'not_checked' ? message : [])));
  const isAccepted = refused.length === 0 && reasons.size === 0;
  return (
    <div className="candidate">
      <span className="strong">{t('Dry run on the cluster')}</span>
      {isAccepted && <p className="muted small">{t('The cluster accepts all objects.')}</p>}
      <ul className="stack-small">
        {refused.map(({ object, message }) => (
          <li key={object + message}>
            <span className="text-bad">{t('refused')}</span> <code>{object}</code> {message}
          </li>
        ))}
        {[...reasons].map((reason) => (
          <li key={reason} className="muted">
            {t('not checked: {reason}', { reason })}
          </li>
        ))}
      </ul>
    </div>
  );
}

const Changes = ({ changes }: { readonly changes: Plan['changes'] }) => (
  <details className="candidate" open>
    <summary className="strong">
      {t('{count, plural, one {# object would change} other {# objects would change}}', { count: changes.length })}
    </summary>
    <ul>
      {changes.map(({ action, object, paths }) => (
        <li key={object}>
          <span className={action === 'delete' ? 'text-bad' : action === 'create' ? 'text-good' : 'text-busy'}>
            {action}
          </span>{' '}
          <code>{object}</code>
          {paths.length > 0 && <span> ({paths.join(', ')})</span>}
        </li>
      ))}
    </ul>
  </details>
);

/** What the publisher of the template says about the changes since the copy that runs. */
const PublisherChanges = ({
  changelog: { entries, complete },
}: {
  readonly changelog: NonNullable<Plan['changelog']>;
}) => (
  <div className="candidate stack-small">
    <span className="strong">{t('What the publisher says')}</span>
    <ChangelogEntries label={t('What the publisher says')} entries={entries} />
    {!complete && <p className="muted small">{t('There can be earlier changes, which this fleet does not know.')}</p>}
  </div>
);

/** What the template changes, and what stays because the workload sets it itself. */
const TemplateChanges = ({ changes }: { readonly changes: Plan['template_changes'] }) => {
  const partOf = (side: 'before' | 'after') =>
    textOf(Object.fromEntries(changes.filter(({ overridden }) => !overridden).map((one) => [one.member, one[side]])));
  const kept = changes.filter(({ overridden }) => overridden).map(({ member }) => wordsOfMember(member));
  return (
    <details className="candidate" open>
      <summary className="strong">{t('Changes of the template')}</summary>
      <Diff label={t('Changes of the template')} before={partOf('before')} after={partOf('after')} />
      {kept.length > 0 && (
        <p className="muted small">
          {t('The workload sets these itself, so that they stay: {members}.', {
            members: formatList(kept.map((word) => word ?? t('another member'))),
          })}
        </p>
      )}
    </details>
  );
};

export const PlanBeside = ({ form, plan }: { readonly form: ReactNode; readonly plan: ReactNode }) => (
  <div className="split">
    {form}
    <div className="split-sticky stack">{plan}</div>
  </div>
);
