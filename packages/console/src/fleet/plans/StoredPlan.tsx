import { useMutation, useQuery } from '@tanstack/react-query';
import { Ban, Check, FileCheck } from 'lucide-react';
import { memo, useState } from 'react';
import { Link } from 'wouter';
import { isUnavailable } from '../../shared/api/problem.ts';
import { href } from '../../shared/routing/href.ts';
import type { PageProps } from '../../shared/routing/page.tsx';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { type Fact, Facts } from '../../shared/ui/display/Facts.tsx';
import { formatCount } from '../../shared/ui/display/format.ts';
import { Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { PageError, PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet, useBlocked } from '../api.ts';
import { forgetsValues } from '../deployments/GeneratedValues.tsx';
import { OutageWords, Values } from '../deployments/updates/ChangeReview.tsx';
import { nameOfPlan, type PlannedChange, type PlanWithChanges, planLooks, wordsOfSummary } from './plan-looks.ts';

type Generated = FleetOutput<'applyPlan'>['generated'];

const groups = [
  { what: 'delete', title: t('Will be deleted') },
  { what: 'change', title: t('Will be changed') },
  { what: 'create', title: t('Will be created') },
  { what: 'release', title: t('Will no longer be managed') },
] as const satisfies readonly { readonly what: PlannedChange['action']; readonly title: string }[];

/** A plan of files: what it changes, what is lost, and the reasons against it. It is applied exactly as the page shows it. */
export default function StoredPlan({ params }: PageProps<'/plans/:id'>) {
  const { data, error, refetch } = useQuery(fleet.read('getPlan', { params }));
  if (isUnavailable({ data, error })) return <PageError error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the plan…')} />;
  const { plan } = data;
  return (
    <>
      <PageHeader
        crumbs={[{ label: t('Plans'), href: '/plans' }]}
        title={nameOfPlan(plan)}
        beside={<Status {...planLooks[plan.state]} />}
        about={rich('Made {time} by {name}', { time: <Time at={plan.created_at} />, name: plan.created_by })}
        actions={
          plan.state === 'needs_approval' ? (
            <ReviewButtons plan={plan} />
          ) : (
            plan.state === 'ready' && <ApplyButton plan={plan} />
          )
        }
      />
      {error && <ErrorView error={error} retry={refetch} />}
      <div className="split">
        <div className="stack">
          <Warnings plan={plan} />
          {groups.map(({ what, title }) => (
            <Group key={what} title={title} changes={plan.changes.filter(({ action }) => action === what)} />
          ))}
        </div>
        <Panel title={t('Details')}>
          <Facts facts={factsOf(plan)} />
        </Panel>
      </div>
    </>
  );
}

const factsOf = (plan: PlanWithChanges): readonly Fact[] => [
  [t('Set'), plan.set],
  ...(plan.commit ? [[t('Commit'), <code key="commit">{plan.commit.slice(0, 12)}</code>] as const] : []),
  [t('Changes'), wordsOfSummary(plan)],
  [t('Unchanged'), formatCount(plan.summary.unchanged)],
  [t('Interrupted'), formatCount(plan.summary.interrupted)],
  ...((plan.state === 'ready' || plan.state === 'needs_approval') && plan.expires_at
    ? [[t('Expires'), <Time key="expires" at={plan.expires_at} />] as const]
    : []),
  ...(plan.applied_at ? [[t('Applied'), <Time key="applied" at={plan.applied_at} />] as const] : []),
  ...(plan.applied_by ? [[t('Applied by'), plan.applied_by] as const] : []),
  ...(plan.review
    ? [[plan.review.decision === 'approved' ? t('Approved by') : t('Rejected by'), plan.review.by] as const]
    : []),
  ...(plan.review?.reason ? [[t('Reason'), plan.review.reason] as const] : []),
];

/** The reasons against a plan, the data that it deletes, and what no file describes. */
const Warnings = ({ plan: { refusals, losses, summary, left_out: leftOut } }: { readonly plan: PlanWithChanges }) => (
  <>
    {refusals.length > 0 && (
      <Notice kind="warning" title={t('The plan is refused')}>
        <ul>
          {refusals.map(({ file, line, name, path, message }) => (
            <li key={`${file}:${line} ${path} ${message}`}>
              <Place file={file} line={line} /> <bdi>{`${name}: ${path} ${message}`}</bdi>
            </li>
          ))}
        </ul>
      </Notice>
    )}
    {losses.length > 0 && (
      <Notice kind="warning" title={t('The data of these volumes is lost')}>
        <ul>
          {losses.map(({ deployment, volume, size }) => (
            <li key={volume}>
              <code>{volume}</code> <bdi>{t('{size}, of {name}', { size, name: deployment })}</bdi>
            </li>
          ))}
        </ul>
      </Notice>
    )}
    {summary.kept > 0 && (
      <Notice kind="info">
        {t(
          '{count, plural, one {# object was changed by hand, and stays so.} other {# objects were changed by hand, and stay so.}}',
          {
            count: summary.kept,
          },
        )}
      </Notice>
    )}
    {leftOut.length > 0 && (
      <Notice kind="info" title={t('No file describes these objects of the set')}>
        <p>{leftOut.map(({ name }) => name).join(', ')}</p>
      </Notice>
    )}
  </>
);

/** The place of a document. */
const Place = ({
  file,
  line,
  className,
}: {
  readonly file: string;
  readonly line: number;
  readonly className?: string;
}) => (
  <code {...(className && { className })}>
    <bdi>{file}</bdi>
    {`:${line}`}
  </code>
);

const Group = memo(function Group({
  title,
  changes,
}: {
  readonly title: string;
  readonly changes: readonly PlannedChange[];
}) {
  if (changes.length === 0) return null;
  return (
    <Panel title={t('{name} ({count})', { name: title, count: formatCount(changes.length) })} flush>
      <ul className="item-list" aria-label={title}>
        {changes.map((change) => (
          <Change key={`${change.kind} ${change.name}`} change={change} />
        ))}
      </ul>
    </Panel>
  );
});

function Change({
  change: { id, kind, name, file, line, cause, target, values, outage, action },
}: {
  readonly change: PlannedChange;
}) {
  return (
    <li className="stack-small">
      <span className="spread">
        {id === null ? (
          <span className="strong">{name}</span>
        ) : (
          <Link
            href={kind === 'application' ? href('/applications/:id', { id }) : href('/deployments/:id', { id })}
            className="cell-link"
          >
            {name}
          </Link>
        )}
        <Place file={file} line={line} className="muted small" />
      </span>
      {cause === 'drift' && <span className="muted small">{t('It was changed since the file was applied.')}</span>}
      {target && (
        <span className="muted small">
          {t('On {name}: {reasons}', { name: target.name, reasons: target.reasons.join('; ') })}
        </span>
      )}
      {action === 'change' && <OutageWords outage={outage} />}
      {values.length > 0 && (
        <details>
          <summary aria-label={t('What changes in {name}', { name })}>{t('What changes')}</summary>
          <Values values={values} />
        </details>
      )}
    </li>
  );
}

/** A person reviews what a program, an agent or another person has planned. */
function ReviewButtons({ plan: { id, digest } }: { readonly plan: PlanWithChanges }) {
  const [isRejecting, setRejecting] = useState(false);
  const [reason, setReason] = useState('');
  const blocked = useBlocked();
  const approve = useMutation({
    ...fleet.change('approvePlan'),
    onSuccess: () => confirmChange(t('The plan is approved')),
  });
  const reject = useMutation({
    ...fleet.change('rejectPlan'),
    onSuccess: () => {
      confirmChange(t('The plan is rejected'));
      setRejecting(false);
    },
  });
  const close = () => setRejecting(false);
  return (
    <>
      <Button
        tone="primary"
        icon={Check}
        blocked={blocked('approvePlan')}
        pending={approve.isPending}
        onClick={() => approve.mutate({ params: { id }, body: { digest } })}
      >
        {t('Approve')}
      </Button>
      <Button icon={Ban} blocked={blocked('rejectPlan')} aria-haspopup="dialog" onClick={() => setRejecting(true)}>
        {t('Reject…')}
      </Button>
      {approve.error && <FormError error={approve.error} shown={[]} />}
      {isRejecting && (
        <FormDialog
          title={t('Reject this plan?')}
          action={t('Reject')}
          pending={reject.isPending}
          error={reject.error}
          shown={['reason']}
          onClose={close}
          onSubmit={() => reject.mutate({ params: { id }, body: { digest, reason } })}
        >
          <TextField label={t('Reason')} hint={t('For whoever made the plan')} value={reason} onChange={setReason} />
        </FormDialog>
      )}
    </>
  );
}

function ApplyButton({ plan }: { readonly plan: PlanWithChanges }) {
  const { id, digest, losses } = plan;
  const [isAsking, setAsking] = useState(false);
  const [generated, setGenerated] = useState<Generated>([]);
  const blocked = useBlocked()('applyPlan');
  const apply = useMutation({
    ...fleet.change('applyPlan', 'deployments', 'workloads'),
    ...forgetsValues,
    onSuccess: (reply) => {
      confirmChange(t('The plan is applied'));
      setAsking(false);
      setGenerated(reply.generated);
    },
  });
  return (
    <>
      <Button
        tone={losses.length > 0 ? 'danger' : 'primary'}
        icon={FileCheck}
        blocked={blocked}
        aria-haspopup="dialog"
        onClick={() => setAsking(true)}
      >
        {t('Apply')}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t('Apply exactly this plan?')}
          action={t('Apply')}
          pending={apply.isPending}
          error={apply.error}
          onClose={() => setAsking(false)}
          onConfirm={() => apply.mutate({ params: { id }, body: { digest } })}
        >
          <p>{wordsOfSummary(plan)}</p>
          {losses.length > 0 && (
            <p>
              {t('{count, plural, one {The data of # volume is lost.} other {The data of # volumes is lost.}}', {
                count: losses.length,
              })}
            </p>
          )}
        </ConfirmDialog>
      )}
      {generated.length > 0 && (
        <ShownOnceDialog
          title={t('Copy the generated values now')}
          note={t('They are shown once after they are generated')}
          about={t('If you need them again, choose Reveal on the page of the deployment. Each use is recorded.')}
          done={t('I have copied them')}
          onClose={() => setGenerated([])}
        >
          {generated.map(({ deployment, name, value }) => (
            <CopyLine
              key={`${deployment} ${name}`}
              label={`${deployment} ${name}`}
              text={value}
              action={t('Copy the value of {name}', { name })}
            />
          ))}
        </ShownOnceDialog>
      )}
    </>
  );
}
