import type { fleetEndpoints } from '@svc/contract/fleet';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Save, ShieldCheck } from 'lucide-react';
import type { FormEvent } from 'react';
import type { CallInput } from '../../shared/api/client.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { SelectField } from '../../shared/ui/controls/Field.tsx';
import { useEdits } from '../../shared/ui/controls/form.ts';
import { formatCount, wordsOfCode } from '../../shared/ui/display/format.ts';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { Publishers } from './Publishers.tsx';

type Policy = FleetOutput<'getTrustPolicy'>;
type PolicyInput = NonNullable<CallInput<(typeof fleetEndpoints)['setTrustPolicy']>['body']>;
type Plan = FleetOutput<'planTrust'>;

export function TrustSettings() {
  const policy = useQuery(fleet.read('getTrustPolicy'));
  if (policy.error && !policy.data) return <ErrorView error={policy.error} retry={policy.refetch} />;
  if (!policy.data) return <Loading text={t('Loading the settings…')} />;
  return (
    <div className="stack">
      <PolicyForm policy={policy.data} />
      <Publishers />
    </div>
  );
}

const modes = [
  { value: 'off', label: t('Verify nothing') },
  { value: 'warn', label: t('Show what is not trusted') },
  { value: 'require', label: t('Refuse what is not trusted') },
];
const digests = [
  { value: 'no', label: t('By tag or by digest') },
  { value: 'yes', label: t('Only by digest') },
];
const byHand = [
  { value: 'allow', label: t('Operators and administrators') },
  { value: 'admin', label: t('Administrators') },
  { value: 'refuse', label: t('Nobody') },
];
const overriding = [
  { value: 'any', label: t('Operators and administrators') },
  { value: 'admin', label: t('Administrators') },
  { value: 'none', label: t('Nobody') },
];

function PolicyForm({ policy }: { readonly policy: Policy }) {
  const form = useEdits({
    mode: policy.mode,
    require_digest: policy.require_digest ? 'yes' : 'no',
    by_hand: policy.by_hand,
    overrides: policy.overrides,
  });
  const { mode, require_digest, by_hand, overrides } = form.values;
  // The fields offer only values of the API, and keep a value of a later version, which the fleet then refuses.
  const body = {
    mode,
    require_digest: require_digest === 'yes',
    by_hand,
    overrides,
    targets: policy.targets,
    exceptions: policy.exceptions,
  } as PolicyInput;
  const plan = useMutation(fleet.change('planTrust'));
  const save = useMutation({
    ...fleet.change('setTrustPolicy', 'catalog'),
    onSuccess: (reply) => {
      fleet.queries.setQueryData(fleet.read('getTrustPolicy').queryKey, reply);
      form.discard();
      confirmChange(t('The settings of trust are saved'));
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ body });
  };
  const isPlanned = JSON.stringify(plan.variables?.body) === JSON.stringify(body);
  return (
    <div className="split">
      <form className="panel" onSubmit={onSubmit}>
        <div className="form-section">
          <SelectField {...form.bind('mode')} label={t('Signatures of templates')} options={modes} />
          <SelectField
            {...form.bind('require_digest')}
            label={t('How templates name their images')}
            options={digests}
          />
          <SelectField
            {...form.bind('by_hand')}
            label={t('Who deploys workloads without a template')}
            options={byHand}
          />
          <SelectField
            {...form.bind('overrides')}
            label={t('Who changes the program of a template')}
            options={overriding}
          />
          <FormError error={save.error ?? plan.error} shown={[]} />
          <div className="actions">
            <Button type="submit" tone="primary" icon={Save} pending={save.isPending}>
              {t('Save')}
            </Button>
            <Button icon={ShieldCheck} pending={plan.isPending} onClick={() => plan.mutate({ body })}>
              {t('Dry run')}
            </Button>
          </div>
        </div>
      </form>
      <Panel title={t('Dry run')}>
        {plan.data && isPlanned ? (
          <Planned plan={plan.data} />
        ) : (
          <p className="muted">
            {t('A dry run shows what these settings would refuse. Nothing is stored, and what runs is never stopped.')}
          </p>
        )}
      </Panel>
    </div>
  );
}

/** What a policy would refuse, in words. */
function Planned({ plan: { templates, applications, deployments, reasons, refusals } }: { readonly plan: Plan }) {
  const nothing = templates.refused + applications.refused + deployments.refused === 0;
  return (
    <div className="stack-small">
      <Notice kind={nothing ? 'good' : 'warning'} title={t('What would be refused')}>
        <p>
          {t(
            '{templates} of {allTemplates} templates, {applications} of {allApplications} applications, and {deployments} of {allDeployments} deployments would be refused.',
            {
              templates: formatCount(templates.refused),
              allTemplates: formatCount(templates.total),
              applications: formatCount(applications.refused),
              allApplications: formatCount(applications.total),
              deployments: formatCount(deployments.refused),
              allDeployments: formatCount(deployments.total),
            },
          )}
        </p>
      </Notice>
      {reasons.map((each) => (
        <p key={each.reason} className="small">
          {t('{reason}: {templates} templates, {applications} applications, {deployments} deployments', {
            reason: wordsOfCode(each.reason),
            templates: formatCount(each.templates),
            applications: formatCount(each.applications),
            deployments: formatCount(each.deployments),
          })}
        </p>
      ))}
      {refusals.length > 0 && (
        <details>
          <summary>{t('The first ones')}</summary>
          <ul className="stack-small small">
            {refusals.map(({ kind, name, message }) => (
              <li key={`${kind} ${name}`}>
                <bdi className="strong">{name}</bdi> {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
