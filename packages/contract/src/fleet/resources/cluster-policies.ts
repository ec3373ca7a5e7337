import { z } from 'zod';
import { record, text } from '../../shared/wire.ts';
import { labelKey, labelValue } from '../../template/fields.ts';
import { elastic, newElastic } from './elastic.ts';

const MAX_ENTRIES = 32;
const MAX_ANNOTATION = 1024;

/** The name of an object of Kubernetes. */
const objectName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be the name of an object in Kubernetes, such as fleet-pods');

/** The longest one with which the names of Services in a namespace of 63 characters have at most 253. */
const MAX_DOMAIN = 100;
const clusterDomain = text(MAX_DOMAIN).regex(
  /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/,
  'must be a DNS name in lower case, such as cluster.local',
);

/** A key that Kubernetes accepts, and that neither the fleet nor controllers use to find objects and pods. */
const freeKey = labelKey
  .regex(
    /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*\/)?[^/]+$/,
    'must have a DNS name before the slash',
  )
  .regex(
    /^(?!fleet\/|app\.kubernetes\.io\/|batch\.kubernetes\.io\/|(?:pod-template-hash|controller-uid|job-name)$)/,
    'must not be a key of the fleet, of app.kubernetes.io/, or of a controller of Kubernetes',
  );

/** What only an admin sets for a cluster. It applies to everything that the fleet runs there. */
export const clusterPolicies = {
  object_labels: record(freeKey, labelValue, MAX_ENTRIES).meta({
    description: 'Labels of all objects and pods of the fleet. They replace labels of a deployment with the same keys',
  }),
  object_annotations: record(freeKey, text(MAX_ANNOTATION), MAX_ENTRIES).meta({
    description: 'Annotations of all objects and pods of the fleet',
  }),
  pod_label_keys: z
    .array(freeKey)
    .max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`)
    .transform((keys) => [...new Set(keys)])
    .meta({
      description:
        'The labels of a deployment that its pods have. All other labels of a deployment are only on its objects, because Services and NetworkPolicies select pods by their labels',
    }),
  service_account: objectName.nullable().meta({
    description:
      'The ServiceAccount of the pods, which must not be that of the fleet; null: the default of the namespace',
  }),
  allow_service_account_tokens: z.boolean().meta({
    description:
      'Whether workloads with `service_account_token` can run here. Their pods receive a token of the account',
  }),
  pull_secrets: z
    .array(objectName)
    .max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`)
    .transform((names) => [...new Set(names)])
    .meta({ description: 'Existing Secrets of the namespace with which the nodes pull the images of all pods' }),
  priority_class: objectName.nullable().meta({ description: 'The PriorityClass of the pods; null: none' }),
  cluster_domain: clusterDomain.meta({
    description:
      'The domain of the names of Services, as the kubelets of the cluster have it. Parts of an application find each other in it',
  }),
  uses_limit_range: z.boolean().meta({
    description:
      'true: pods whose workload states no memory have no limit of the fleet, so that a LimitRange of the namespace applies',
  }),
  elastic: newElastic.nullable().meta({
    description:
      'Limits of a cluster that adds nodes when pods need them: what fits an empty node is then feasible. null: the cluster has the nodes that exist',
  }),
};

/** The value of each policy of a cluster that sets none. */
export const clusterPolicyDefaults = {
  object_labels: {},
  object_annotations: {},
  pod_label_keys: [],
  service_account: null,
  allow_service_account_tokens: false,
  pull_secrets: [],
  priority_class: null,
  cluster_domain: 'cluster.local',
  uses_limit_range: false,
  elastic: null,
};

type Policy = keyof typeof clusterPolicies;

/** The names of the policies of a cluster. */
// Object.keys returns string[].
export const clusterPolicyNames = Object.keys(clusterPolicies) as readonly Policy[];

/** The policies of a cluster in responses. */
export const clusterPolicyReply = {
  object_labels: z.record(z.string(), z.string()),
  object_annotations: z.record(z.string(), z.string()),
  pod_label_keys: z.array(z.string()),
  service_account: z.string().nullable(),
  allow_service_account_tokens: z.boolean(),
  pull_secrets: z.array(z.string()),
  priority_class: z.string().nullable(),
  cluster_domain: z.string(),
  uses_limit_range: z.boolean(),
  elastic: elastic.nullable(),
  fleet_account: z.string().nullable().meta({
    description: 'The user as which the cluster knows the fleet, as of the last check; null: not known',
  }),
};
