import { t } from '../../../shared/texts/texts.ts';
import { CheckField, TextAreaField, TextField } from '../../../shared/ui/controls/Field.tsx';
import type { Form } from '../../../shared/ui/controls/form.ts';
import { pairsOf, textOfPairs, wordsOf } from '../../../shared/ui/controls/pairs.ts';
import type { Fact } from '../../../shared/ui/display/Facts.tsx';
import type { Cluster } from '../../api.ts';

/** The input of an admin for what applies to all objects and pods of the fleet in a cluster. */
export interface PoliciesDraft {
  readonly object_labels: string;
  readonly object_annotations: string;
  readonly pod_label_keys: string;
  readonly service_account: string;
  readonly allow_service_account_tokens: boolean;
  readonly pull_secrets: string;
  readonly priority_class: string;
  readonly cluster_domain: string;
  readonly uses_limit_range: boolean;
}

export const draftOfPolicies = (cluster: Cluster): PoliciesDraft => ({
  object_labels: textOfPairs(cluster.object_labels),
  object_annotations: textOfPairs(cluster.object_annotations),
  pod_label_keys: cluster.pod_label_keys.join(' '),
  service_account: cluster.service_account ?? '',
  allow_service_account_tokens: cluster.allow_service_account_tokens,
  pull_secrets: cluster.pull_secrets.join(' '),
  priority_class: cluster.priority_class ?? '',
  cluster_domain: cluster.cluster_domain,
  uses_limit_range: cluster.uses_limit_range,
});

/** The members of a request. */
export const bodyOfPolicies = (draft: PoliciesDraft) => ({
  object_labels: pairsOf(draft.object_labels),
  object_annotations: pairsOf(draft.object_annotations),
  pod_label_keys: wordsOf(draft.pod_label_keys),
  service_account: draft.service_account.trim() || null,
  allow_service_account_tokens: draft.allow_service_account_tokens,
  pull_secrets: wordsOf(draft.pull_secrets),
  priority_class: draft.priority_class.trim() || null,
  cluster_domain: draft.cluster_domain.trim(),
  uses_limit_range: draft.uses_limit_range,
});

/** The members for which the fields show messages. */
export const policyFields = [
  'object_labels',
  'object_annotations',
  'pod_label_keys',
  'service_account',
  'pull_secrets',
  'priority_class',
  'cluster_domain',
] as const;

/** That of a cluster for which nobody sets another one. */
const USUAL_DOMAIN = 'cluster.local';

/** The policies of a cluster that an admin has set. */
export function policyFacts(cluster: Cluster): readonly Fact[] {
  const { service_account, pull_secrets, priority_class, pod_label_keys, object_labels, object_annotations } = cluster;
  const facts: readonly (readonly [string, string])[] = [
    [t('Account of pods'), service_account ?? ''],
    [t('Tokens for pods'), cluster.allow_service_account_tokens ? t('if the workload requests one') : ''],
    [t('Existing pull secrets'), pull_secrets.join(', ')],
    [t('Priority class'), priority_class ?? ''],
    [t('Domain of the cluster'), cluster.cluster_domain === USUAL_DOMAIN ? '' : cluster.cluster_domain],
    [t('Labels on pods'), pod_label_keys.join(', ')],
    [t('Labels of objects'), textOfPairs(object_labels, ', ')],
    [t('Annotations of objects'), textOfPairs(object_annotations, ', ')],
    [t('Memory without a request'), cluster.uses_limit_range ? t('limited by the cluster') : ''],
  ];
  return facts.filter(([, text]) => text !== '');
}

/** The fields for what only an admin sets. */
export function PolicyFields({
  form,
  error,
}: {
  readonly form: Form<PoliciesDraft>;
  /** The error of the last request. */
  readonly error: unknown;
}) {
  const errorAt = form.errorsOf(error);
  const bind = <K extends keyof PoliciesDraft>(name: K) => ({ ...form.bind(name), error: errorAt(name) });
  const box = (name: 'allow_service_account_tokens' | 'uses_limit_range') => {
    const { value: checked, ...bound } = form.bind(name);
    return { ...bound, checked };
  };
  return (
    <details>
      <summary className="strong">{t('Policies for pods and objects')}</summary>
      <div className="form optional">
        <p className="muted small">
          {t('Pods that run already keep their settings until a change or a restart replaces them.')}
        </p>
        <div className="fields">
          <TextField
            {...bind('service_account')}
            label={t('Account of pods')}
            hint={t('A ServiceAccount other than that of the fleet. Empty: the default of the namespace.')}
            mono
          />
          <TextField {...bind('priority_class')} label={t('Priority class')} hint={t('Empty: none.')} mono />
          <TextField
            {...bind('cluster_domain')}
            label={t('Domain of the cluster')}
            hint={t('The domain of the names of Services, usually cluster.local.')}
            mono
          />
          <TextField
            {...bind('pull_secrets')}
            label={t('Existing pull secrets')}
            hint={t('Names of Secrets in the namespace, separated by spaces.')}
            mono
          />
          <TextField
            {...bind('pod_label_keys')}
            label={t('Labels on pods')}
            hint={t('Keys of the labels of deployments that pods have, separated by spaces.')}
            mono
          />
        </div>
        <TextAreaField
          {...bind('object_labels')}
          label={t('Labels of objects')}
          hint={t('One per line: key=value.')}
          rows={2}
        />
        <TextAreaField
          {...bind('object_annotations')}
          label={t('Annotations of objects')}
          hint={t('One per line: key=value.')}
          rows={2}
        />
        <CheckField
          {...box('allow_service_account_tokens')}
          label={t('Allow tokens for pods')}
          hint={t(
            'Workloads can then request a token of the account, with which they can do what the account permits.',
          )}
        />
        <CheckField
          {...box('uses_limit_range')}
          label={t('The cluster limits memory')}
          hint={t('Pods whose workload states no memory get the limit of a LimitRange instead of that of the fleet.')}
        />
      </div>
    </details>
  );
}
