import { CircleX } from 'lucide-react';
import { Link } from 'wouter';
import type { FieldMessage } from '../../../shared/api/problem.ts';
import { rich, t } from '../../../shared/texts/texts.ts';
import { formatList } from '../../../shared/ui/display/format.ts';
import { textOf } from '../../../shared/ui/display/object-text.ts';
import { ErrorView } from '../../../shared/ui/feedback/states.tsx';
import { placeOf } from '../../deployments/form/member-labels.ts';
import { fixes, VerdictLine } from '../../deployments/PlanPanel.tsx';
import type { ConvertedSpec } from './application-spec.ts';
import { placeInSpec } from './place-in-spec.ts';
import type { ApplicationPlan } from './useApplicationPlan.ts';

/** The outcome of a new application before it is created: its target, what is rejected, and what each part runs. */
export function ApplicationPlanPanel({
  plan,
  targetName,
  spec,
  problems,
  error,
  isInvalid,
  isStale,
}: {
  readonly plan: ApplicationPlan | undefined;
  readonly targetName: string | undefined;
  /** The specification that the plan has examined. */
  readonly spec: ConvertedSpec;
  /** What is wrong with members without a field, so that no plan is possible. */
  readonly problems: readonly FieldMessage[];
  readonly error: unknown;
  readonly isInvalid: boolean;
  readonly isStale: boolean;
}) {
  const shown = isInvalid ? undefined : plan;
  const hasError = error !== null && error !== undefined;
  const refusals =
    shown?.refusals ?? problems.map((problem) => ({ ...problem, ...placeInSpec(problem.path, spec), code: '' }));
  return (
    <section className="panel" aria-label={t('Plan')} aria-busy={isStale}>
      <header>
        <h2>{t('Plan')}</h2>
        <span className="muted small">{t('nothing is created yet')}</span>
      </header>
      <div className={isStale ? 'dim' : undefined}>
        <VerdictLine plan={shown} isInvalid={isInvalid} hasError={hasError} target={targetName} />
        {hasError && (
          <div className="body">
            <ErrorView error={error} />
          </div>
        )}
        {refusals.length > 0 && <Refusals refusals={refusals} />}
        {shown && <Parts parts={shown.parts} />}
        {shown && shown.generated.length > 0 && (
          <p className="candidate small">{t('The fleet generates {names}.', { names: formatList(shown.generated) })}</p>
        )}
        {shown?.ok && shown.placement.rejected.length > 0 && <Rejected rejected={shown.placement.rejected} />}
      </div>
    </section>
  );
}

interface Refusal extends FieldMessage {
  readonly part?: string | null | undefined;
  readonly code: string;
}

const Refusals = ({ refusals }: { readonly refusals: readonly Refusal[] }) => (
  <ul className="item-list">
    {refusals.map(({ part, code, path, message }) => {
      const { label, name } = placeOf(path);
      return (
        <li key={`${part} ${path} ${message}`} className="stack-small">
          <span>
            {part && <span className="tag">{part}</span>} <span className="strong">{label}</span>{' '}
            {name !== '' && <code>{name}</code>} {message}
          </span>
          {code === 'no_placement' ? (
            <span className="muted small">
              {rich('Correct what is missing, or <link>add a host</link>.', {
                link: (words) => <Link href="/hosts/new">{words}</Link>,
              })}
            </span>
          ) : (
            fixes[code] && <span className="muted small">{fixes[code]}</span>
          )}
        </li>
      );
    })}
  </ul>
);

const Parts = ({ parts }: { readonly parts: ApplicationPlan['parts'] }) => (
  <ul className="item-list" aria-label={t('Parts')}>
    {parts.map(({ name, deployment_name, image, manifest }) => (
      <li key={name} className="stack-small">
        <span className="row">
          <span className="strong">{name}</span>
          <span className="muted small">{t('as the deployment {name}', { name: deployment_name })}</span>
        </span>
        <span className="muted small mono">{image}</span>
        {manifest.length > 0 && (
          <details>
            <summary className="small">{t('Manifest for the engine')}</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
            <pre className="code" tabIndex={0}>
              {textOf(manifest)}
            </pre>
          </details>
        )}
      </li>
    ))}
  </ul>
);

/** The targets that the fleet has not chosen. */
const Rejected = ({ rejected }: { readonly rejected: ApplicationPlan['placement']['rejected'] }) => (
  <ul className="item-list">
    {rejected.map(({ id, name, reason }) => (
      <li key={id} className="stack-small">
        <span className="row">
          <CircleX size={15} aria-hidden className="text-bad" />
          <span className="strong">{name}</span>
          <span className="text-bad small">{t('not suitable')}</span>
        </span>
        <span className="small">{reason}</span>
      </li>
    ))}
  </ul>
);
