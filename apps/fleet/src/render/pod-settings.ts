import { isDeepStrictEqual } from 'node:util';
import { clusterPolicyDefaults, clusterPolicyReply, type WorkloadSpec } from '@svc/contract/fleet';
import { z } from 'zod';
import { PODS_HAVE_SETTINGS } from './defaults.ts';

/**
 * The settings of a cluster that its pods contain, as they were when the instances of a deployment
 * were replaced last. A change of them in the cluster replaces no pod.
 */
export const podSettings = z
  .object({
    ...clusterPolicyReply,
    /** Settings of earlier versions have none. */
    cluster_domain: clusterPolicyReply.cluster_domain.default(clusterPolicyDefaults.cluster_domain),
  })
  .omit({ elastic: true, fleet_account: true, uses_limit_range: true })
  .readonly();
export type PodSettings = z.output<typeof podSettings>;

/** The settings of a cluster whose admin has set none, and of pods of earlier versions. */
const NONE: PodSettings = podSettings.parse(clusterPolicyDefaults);

/** The members of a rendering that determine which settings its pods have. */
interface Settled {
  readonly defaults: number;
  readonly podSettings?: PodSettings | null | undefined;
}

/** The settings with which the pods of a deployment are rendered. */
export const settingsOf = ({ defaults, podSettings: stored }: Settled): PodSettings =>
  defaults >= PODS_HAVE_SETTINGS ? (stored ?? NONE) : NONE;

/** Whether new pods would have other settings than those that a deployment has. */
export const hasOtherSettings = (stored: PodSettings | null, current: PodSettings | null): boolean =>
  !isDeepStrictEqual(stored ?? NONE, current ?? NONE);

/** Whether the pods receive a token of their account. The admin of the cluster has allowed it. */
export const receivesToken = (spec: Pick<WorkloadSpec, 'service_account_token'>, settings: PodSettings): boolean =>
  spec.service_account_token && settings.allow_service_account_tokens;

/** The account with which pods run if nothing names another one. */
export const DEFAULT_ACCOUNT = 'default';

/** The beginning of the name of each user that is a ServiceAccount. */
export const OF_SERVICE_ACCOUNTS = 'system:serviceaccount:';

/** The user as which an API server knows the pods with an account. */
export const userOfAccount = (namespace: string, account: string): string =>
  `${OF_SERVICE_ACCOUNTS}${namespace}:${account}`;

type Texts = Readonly<Record<string, string>>;

const SUBDOMAIN = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;
/** The domains of Kubernetes itself. */
const OF_KUBERNETES = /(?:^|\.)(?:kubernetes|k8s)\.io$/;
/** The prefix of the keys by which the fleet finds its objects. */
const OF_FLEET = 'fleet';
/** The keys by which controllers find their pods. */
const OF_CONTROLLERS: readonly string[] = ['pod-template-hash', 'controller-uid', 'job-name'];

/** Whether the objects of a deployment can have a label of it. */
function isForObjects(key: string): boolean {
  const [prefix, name] = key.split('/');
  if (name === undefined) return !OF_CONTROLLERS.includes(key);
  return prefix !== undefined && prefix !== OF_FLEET && SUBDOMAIN.test(prefix) && !OF_KUBERNETES.test(prefix);
}

/**
 * The labels of a deployment or volume that its objects have: none with a key of the fleet or of
 * Kubernetes, or that Kubernetes would not accept.
 */
export const objectLabels = (labels: Texts = {}): Texts =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => isForObjects(key)));

interface Labelled extends Settled {
  readonly labels?: Texts | undefined;
}

/** The labels of pods without those by which the fleet finds them. */
export function podLabels({ labels, ...settled }: Labelled): Texts {
  const { pod_label_keys, object_labels } = settingsOf(settled);
  const own = Object.entries(objectLabels(labels)).filter(([key]) => pod_label_keys.includes(key));
  return { ...Object.fromEntries(own), ...object_labels };
}
