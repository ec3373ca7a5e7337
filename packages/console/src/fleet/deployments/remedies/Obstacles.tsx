import { useMutation } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { rich, t } from '../../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../../shared/ui/controls/Button.tsx';
import { focusField } from '../../../shared/ui/controls/form.ts';
import { formatList } from '../../../shared/ui/display/format.ts';
import { fleet, type Plan, useBlocked } from '../../api.ts';
import { workloadField } from './field-links.ts';

type Candidate = Plan['placement']['candidates'][number];
type Obstacle = Candidate['obstacles'][number];
type Remedy = Obstacle['remedies'][number];

/** What the page beside the plan can change. */
export interface Correctable {
  /** The members of the request for which the page has fields. */
  readonly fields: readonly string[];
  /** The workload of the request; undefined if it is created from a template. */
  readonly workloadId?: string;
}

const obstacleWords: Readonly<Record<Obstacle['code'], string>> = {
  same_engine: t('Registered twice'),
  not_checked: t('Not checked'),
  unreachable: t('Unreachable'),
  capacity_unknown: t('Capacity not known'),
  network_type_missing: t('Network missing'),
  cpu_insufficient: t('Not enough CPU'),
  memory_insufficient: t('Not enough memory'),
  gpu_insufficient: t('Not enough GPUs'),
  engine_too_old: t('Engine too old'),
  scheduling_disabled: t('Scheduling disabled'),
  label_missing: t('Label missing'),
  taint_not_tolerated: t('Taint not tolerated'),
  no_suitable_node: t('No suitable node'),
  nodes_too_small: t('Nodes too small'),
  elastic_limit: t('Limit of new nodes'),
  volume_bound_elsewhere: t('Volume elsewhere'),
  volume_in_use: t('Volume in use'),
  address_not_reached: t('Address out of reach'),
  token_not_allowed: t('Token not allowed'),
  scaled_in_cluster: t('Needs a cluster'),
  permission_missing: t('Permission missing'),
  unknown_target: t('Unknown target'),
};

/** The reasons against a candidate, each with what removes it. */
export const Obstacles = ({
  candidate,
  correctable,
}: {
  readonly candidate: Candidate;
  readonly correctable: Correctable;
}) => (
  <ul className="stack-small">
    {candidate.obstacles.map(({ code, message, remedies }) => (
      <li key={message} className="stack-small">
        <span>
          <span className="strong">{obstacleWords[code]}</span>{' '}
          <span className="muted">{t('{name}: {message}', { name: candidate.name, message })}</span>
        </span>
        <span className="row">
          {remedies.map((remedy) => (
            <RemedyAction
              key={remedy.object + remedy.field}
              remedy={remedy}
              candidate={candidate}
              correctable={correctable}
            />
          ))}
        </span>
      </li>
    ))}
  </ul>
);

interface RemedyProps<R extends Remedy = Remedy> {
  readonly remedy: R;
  readonly candidate: Candidate;
  readonly correctable: Correctable;
}

type RemedyOf<O extends Remedy['object']> = Extract<Remedy, { object: O }>;

function RemedyAction({ remedy, candidate, correctable }: RemedyProps): ReactNode {
  const { kind, id, name } = candidate;
  switch (remedy.object) {
    case 'target':
      return remedy.field === 'check' ? (
        <CheckTarget candidate={candidate} />
      ) : (
        <EditTarget remedy={remedy} candidate={candidate} />
      );
    case 'request':
      return <InForm words={requestWords(remedy)} path={pathOf(remedy)} correctable={correctable} />;
    case 'workload':
      return <EditWorkload remedy={remedy} candidate={candidate} correctable={correctable} />;
    case 'deployments':
      return (
        <ButtonLink size="small" href={href('/deployments', undefined, { [`${kind}_id`]: id })}>
          {t('Stop a deployment on {name}', { name })}
        </ButtonLink>
      );
  }
}

/** The path of the field: of a volume, and otherwise of the member. */
const pathOf = ({ field, values: [value] }: RemedyOf<'request'>) =>
  field === 'volumes' && value !== undefined ? `volumes.${value}` : field;

function requestWords({ field, values: [value = ''] }: RemedyOf<'request'>): string {
  if (field === 'replicas') return t('Reduce the replicas to {value}', { value });
  if (field === 'autoscaling' && value !== '') return t('Let autoscaling have at most {value} replicas', { value });
  if (field === 'autoscaling') return t('Switch autoscaling off');
  if (field === 'scaled_by') return t('Let the fleet set the number of replicas');
  if (field === 'volumes') return t('Choose another volume for {value}', { value });
  return value === '' ? t('Choose another target') : t('Choose {value} as the target', { value });
}

/** Moves the focus to a field of the form beside the plan. Without this field, it is only advice. */
const InForm = ({
  words,
  path,
  correctable: { fields },
}: {
  readonly words: string;
  readonly path: string;
  readonly correctable: Correctable;
}) =>
  fields.includes(path.split('.')[0] ?? path) ? (
    <Button size="small" onClick={() => focusField(path)}>
      {words}
    </Button>
  ) : (
    <Advice words={words} />
  );

/** A remedy that cannot be applied from this page, or not by the caller. */
const Advice = ({ words }: { readonly words: string }) => <span className="muted small">{words}</span>;

const workloadWords: Readonly<Record<RemedyOf<'workload'>['field'], string>> = {
  cpu_request: t('Request less CPU'),
  memory_request: t('Request less memory'),
  gpu_count: t('Request fewer GPUs'),
  vram_request: t('Request less GPU memory'),
  node_selector: t('Change the node selector'),
  tolerations: t('Tolerate the taint'),
  service_account_token: t('Request no token for the API of the cluster'),
};

/** A template is not changed here: another target has to be large enough for it. */
function EditWorkload({ remedy: { field }, correctable }: RemedyProps<RemedyOf<'workload'>>) {
  const { workloadId, fields } = correctable;
  const words = workloadWords[field];
  if (fields.includes(field)) return <InForm words={words} path={field} correctable={correctable} />;
  if (workloadId !== undefined) {
    return (
      <ButtonLink size="small" href={workloadField(workloadId, field)}>
        {words}
      </ButtonLink>
    );
  }
  return (
    <span className="muted small">
      {rich('The template requires this. Choose another target, or <link>add a host</link>.', {
        link: (label) => <Link href="/hosts/new">{label}</Link>,
      })}
    </span>
  );
}

type TargetField = Exclude<RemedyOf<'target'>['field'], 'check'>;

function targetWords(field: TargetField, values: readonly string[], name: string): string {
  const given = formatList(values);
  const words: Readonly<Record<TargetField, () => string>> = {
    network_types: () => t('Add {given} to {name}', { given, name }),
    labels: () => t('Add the label {given} to {name}', { given, name }),
    taints: () => t('Remove the taint {given} from {name}', { given, name }),
    schedulable: () => t('Enable scheduling on {name}', { name }),
    gpus: () => t('Declare the GPUs of {name}', { name }),
    endpoint: () => t('Correct the address of {name}', { name }),
    server: () => t('Correct the address of {name}', { name }),
    gpu_resource_name: () => t('Correct the GPU resource of {name}', { name }),
    allow_service_account_tokens: () => t('Allow tokens for pods on {name}', { name }),
    elastic: () => t('Raise the limits of new nodes of {name}', { name }),
  };
  return words[field]();
}

/** A link to the field of the target. */
function EditTarget({ remedy, candidate }: Omit<RemedyProps<RemedyOf<'target'>>, 'correctable'>) {
  const { kind, id, name } = candidate;
  const blocked = useBlocked()(kind === 'host' ? 'updateHost' : 'updateCluster');
  const { field, values } = remedy;
  if (field === 'check') return null;
  const words = targetWords(field, values, name);
  if (blocked !== undefined) return <Advice words={words} />;
  const edit = field === 'network_types' ? [field, ...values.slice(0, 1)].join('.') : field;
  const pattern = kind === 'host' ? '/hosts/:id' : '/clusters/:id';
  return (
    <ButtonLink size="small" href={href(pattern, { id }, { edit })}>
      {words}
    </ButtonLink>
  );
}

/** Checks the target at once, and then repeats the plan. */
function CheckTarget({ candidate: { kind, id, name } }: { readonly candidate: Candidate }) {
  const blocked = useBlocked()(kind === 'host' ? 'checkHost' : 'checkCluster');
  const onSettled = () => void fleet.queries.invalidateQueries({ queryKey: ['plan'] });
  const host = useMutation({ ...fleet.change('checkHost'), onSettled });
  const cluster = useMutation({ ...fleet.change('checkCluster'), onSettled });
  const check = kind === 'host' ? host : cluster;
  const words = t('Check {name}', { name });
  if (blocked !== undefined) return <Advice words={words} />;
  return (
    <Button size="small" icon={PlugZap} pending={check.isPending} onClick={() => check.mutate({ params: { id } })}>
      {words}
    </Button>
  );
}
