/** A kind of object, with its API version and resource. */
export interface KindOf {
  readonly kind: string;
  /** `v1`, `apps/v1`, … */
  readonly apiVersion: string;
  readonly resource: string;
  readonly isNamespaced: boolean;
}

const kinds: readonly KindOf[] = [
  { kind: 'Namespace', apiVersion: 'v1', resource: 'namespaces', isNamespaced: false },
  { kind: 'Node', apiVersion: 'v1', resource: 'nodes', isNamespaced: false },
  { kind: 'Pod', apiVersion: 'v1', resource: 'pods', isNamespaced: true },
  { kind: 'Service', apiVersion: 'v1', resource: 'services', isNamespaced: true },
  { kind: 'Secret', apiVersion: 'v1', resource: 'secrets', isNamespaced: true },
  { kind: 'PersistentVolumeClaim', apiVersion: 'v1', resource: 'persistentvolumeclaims', isNamespaced: true },
  { kind: 'ResourceQuota', apiVersion: 'v1', resource: 'resourcequotas', isNamespaced: true },
  { kind: 'LimitRange', apiVersion: 'v1', resource: 'limitranges', isNamespaced: true },
  { kind: 'Event', apiVersion: 'v1', resource: 'events', isNamespaced: true },
  { kind: 'Deployment', apiVersion: 'apps/v1', resource: 'deployments', isNamespaced: true },
  { kind: 'ReplicaSet', apiVersion: 'apps/v1', resource: 'replicasets', isNamespaced: true },
  { kind: 'Job', apiVersion: 'batch/v1', resource: 'jobs', isNamespaced: true },
  {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    resource: 'horizontalpodautoscalers',
    isNamespaced: true,
  },
  { kind: 'NetworkPolicy', apiVersion: 'networking.k8s.io/v1', resource: 'networkpolicies', isNamespaced: true },
  { kind: 'PodDisruptionBudget', apiVersion: 'policy/v1', resource: 'poddisruptionbudgets', isNamespaced: true },
  { kind: 'StorageClass', apiVersion: 'storage.k8s.io/v1', resource: 'storageclasses', isNamespaced: false },
];

/** The kinds that are answered and not stored. */
const reviews: readonly KindOf[] = [
  {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    resource: 'selfsubjectaccessreviews',
    isNamespaced: false,
  },
  {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    resource: 'selfsubjectreviews',
    isNamespaced: false,
  },
];

/** The kind with the API version and the resource of a path. */
export const kindAt = (apiVersion: string, resource: string): KindOf | undefined =>
  [...kinds, ...reviews].find((kind) => kind.apiVersion === apiVersion && kind.resource === resource);

/** @throws Error for an unknown resource */
export function kindOf(resource: string): KindOf {
  const found = kinds.find((kind) => kind.resource === resource);
  if (!found) throw new Error(`unknown resource ${resource}`);
  return found;
}

/** The resource with its group as in messages, such as `deployments.apps`. */
export const qualified = ({ resource, apiVersion }: KindOf): string => {
  const [group, version] = apiVersion.split('/');
  return version === undefined ? resource : `${resource}.${group}`;
};
