import type { V1Pod } from '@kubernetes/client-node';
import { z } from 'zod';
import type { KubernetesObject } from '../../../render/kubernetes.ts';
import { CONTAINER } from '../../../render/pod.ts';
import { parseJson } from '../../body.ts';
import type { ObservedCondition } from '../../observation.ts';
import { oneLine, truncate } from '../../redact.ts';
import type { KubernetesClient } from '../client.ts';
import { isScaler, isWorkload, type ObservedObjects, type ReconcileRun } from '../objects.ts';
import { podsOfTemplate } from '../status/rollout.ts';
import { lastWarning } from './events.ts';
import { imageOf } from './images.ts';

interface Context {
  readonly observed: ObservedObjects;
  /** The UID of a Service whose load balancer has no address. */
  readonly unbalanced: string | undefined;
  readonly redact: (text: string) => string;
}

/** What is to be known of a deployment beside its phase. */
export async function conditionsOf(run: ReconcileRun, context: Context): Promise<ObservedCondition[]> {
  return [
    ...imageCondition(run, context),
    ...autoscalerCondition(run, context),
    ...(await balancerCondition(run.client, context)),
  ];
}

/** The condition of a deployment whose pods run another image than the fleet has applied. */
function imageCondition({ desired }: ReconcileRun, { observed, redact }: Context): ObservedCondition[] {
  const workload = desired.manifest.objects.find(isWorkload);
  const wanted = workload && imageIn(workload);
  if (wanted === undefined) return [];
  const pods = currentPods(observed).filter(({ metadata }) => !metadata?.deletionTimestamp);
  const others = [...new Set(pods.flatMap((pod) => imageOf(pod) ?? []))].filter((image) => image !== wanted).sort();
  if (others.length === 0) return [];
  const images = others.map((image) => truncate(redact(oneLine(image)))).join(', ');
  const message = `The cluster runs ${images} instead of ${wanted}: a policy or an admission webhook of the cluster changes the image.`;
  return [{ type: 'ImageChangedByCluster', status: 'True', reason: 'Admission', message }];
}

function imageIn(object: KubernetesObject): string | undefined {
  if (object.kind !== 'Deployment' && object.kind !== 'Job') return undefined;
  return object.spec?.template.spec?.containers.find(({ name }) => name === CONTAINER)?.image;
}

/** The pods of the current template, or of a job. */
function currentPods({ deployments: [deployment], replicaSets, pods }: ObservedObjects): readonly V1Pod[] {
  return deployment ? podsOfTemplate(deployment, { replicaSets, pods }) : pods;
}

/** The annotation in which `autoscaling/v1` has what later versions have in the status. */
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';

const scalerConditions = z.array(
  z.object({
    type: z.string(),
    status: z.string(),
    reason: z.string().default(''),
    message: z.string().default(''),
  }),
);

/** The condition of an autoscaler that cannot work, such as without a metrics server. */
function autoscalerCondition({ found, desired }: ReconcileRun, { redact }: Context): ObservedCondition[] {
  if (!desired.manifest.objects.some(isScaler)) return [];
  const annotations = found.find(isScaler)?.metadata.annotations ?? {};
  const conditions = scalerConditions.safeParse(parseJson(annotations[CONDITIONS] ?? '')).data ?? [];
  const failed = conditions.find(
    ({ type, status }) => ['AbleToScale', 'ScalingActive'].includes(type) && status === 'False',
  );
  if (!failed) return [];
  const message = `The autoscaler keeps the present number of replicas: ${truncate(redact(oneLine(failed.message)))}`;
  return [{ type: 'AutoscalingActive', status: 'False', reason: truncate(redact(failed.reason)) || 'Failed', message }];
}

/** The condition of a published deployment whose load balancer has no address yet. */
async function balancerCondition(
  client: KubernetesClient,
  { unbalanced, redact }: Context,
): Promise<ObservedCondition[]> {
  if (unbalanced === undefined) return [];
  const warning = truncate(redact(await lastWarning(client, unbalanced)));
  const message = `The load balancer has no address yet.${warning && ` The cluster reported: ${warning}`}`;
  return [{ type: 'LoadBalancerReady', status: 'False', reason: 'NoAddress', message }];
}
