import type { fleetEndpoints } from '@svc/contract/fleet';
import { useQuery } from '@tanstack/react-query';
import type { CallInput } from '../../shared/api/client.ts';
import { fieldErrorsOf } from '../../shared/api/problem.ts';
import { useSettled } from '../../shared/ui/controls/useSettled.ts';
import { fleet } from '../api.ts';

export type PlanBody = NonNullable<CallInput<(typeof fleetEndpoints)['planDeployment']>['body']>;

/** The members of the request, without what it runs, for which a form shows errors beside a field. */
export const planFields: readonly string[] = [
  'name',
  'target',
  'replicas',
  'autoscaling',
  'scaled_by',
  'env',
  'host_ports',
  'volumes',
  'updates',
];

const PAUSE_MS = 300;
/** Other deployments and targets change, so a plan is repeated. */
const REPEAT_MS = 10_000;

/** Delete after 0.2: these members. A replica of version 0.2 does not state them. */
const NOT_STATED = {
  changelog: null,
  template_changes: [],
  values: [],
  new_variables: [],
  data: [],
  held: null,
  trust: {
    state: 'off',
    publisher: null,
    publisher_name: null,
    key: null,
    serial: null,
    ignored: [],
    reason: null,
    message: '',
    content: null,
  },
  template: null,
  rollout: { extra_instances: 0, reason: '' },
  outage: { expected: false, total: false, reason: '', addresses: [], seconds: null },
} as const;

interface Planned<T> {
  readonly body: object;
  readonly repeats: boolean;
  /** Requests the plan. `settled` is the body as JSON. */
  readonly request: (settled: string, signal: AbortSignal) => Promise<T>;
}

/** The plan of a request of any kind, shortly after the user pauses. */
export function usePlanOf<T>(kind: string, { body, repeats, request }: Planned<T>) {
  const text = JSON.stringify(body);
  const settled = useSettled(text, PAUSE_MS);
  const plan = useQuery({
    queryKey: ['plan', kind, settled],
    queryFn: ({ signal }) => request(settled, signal),
    placeholderData: (previous) => previous,
    refetchInterval: repeats && REPEAT_MS,
    refetchOnWindowFocus: repeats,
    refetchOnReconnect: repeats,
    gcTime: 0, // each input has its own plan
    retry: false,
  });
  const fieldErrors = fieldErrorsOf(plan.error);
  return {
    data: plan.data,
    /** A problem that is not about a field. */
    error: fieldErrors.length > 0 ? null : plan.error,
    fieldErrors,
    isInvalid: fieldErrors.length > 0,
    isStale: text !== settled || plan.isPlaceholderData,
    settled,
    refetch: plan.refetch,
  };
}

/** The plan of a deployment. `repeats`: whether it is made again while nothing is entered. */
export function usePlan(body: PlanBody, { repeats = true }: { readonly repeats?: boolean } = {}) {
  const { settled, ...plan } = usePlanOf('deployment', {
    body,
    repeats,
    request: (text, signal) => fleet.call('planDeployment', { body: { ...JSON.parse(text), dry_run: false }, signal }),
  });
  const isOnCluster = plan.data?.ok === true && plan.data.placement.target?.cluster_id != null;
  /** What the cluster says. It takes up to five seconds, so that the plan is shown before. */
  const advice = useQuery({
    queryKey: ['plan', 'dry-run', settled],
    queryFn: async ({ signal }) => {
      const { dry_run } = await fleet.call('planDeployment', { body: JSON.parse(settled), signal });
      return dry_run;
    },
    enabled: isOnCluster && !plan.isStale,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  return {
    ...plan,
    data: plan.data && {
      ...NOT_STATED,
      ...plan.data,
      dry_run: isOnCluster ? (advice.data ?? []) : [],
    },
  };
}
