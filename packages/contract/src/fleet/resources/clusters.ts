import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyName, anyValue } from '../../shared/list-query.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, line, pagination, serviceUrl, text } from '../../shared/wire.ts';
import { dnsLabel, labelKey, list, word } from '../../template/fields.ts';
import { clusterPolicies, clusterPolicyDefaults, clusterPolicyReply } from './cluster-policies.ts';
import {
  acceptEngine,
  byId,
  capacity,
  changedMembers,
  condition,
  identity,
  newMembers,
  reachability,
  resourceMembers,
  resourceQuery,
  storageClass,
  targetDeletion,
} from './resource.ts';

const server = serviceUrl(['https']).meta({
  description: 'URL of the API server. A change also requires `auth`',
});

const pem = text(100_000).min(1);

const auth = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('token'), token: line(16_384).min(1) }),
    z.strictObject({ kind: z.literal('client_certificate'), certificate: pem, key: pem }),
  ])
  .meta({
    id: 'ClusterAuth',
    description: 'Credentials of the fleet for the API server. Responses never contain them.',
  });

const serviceType = z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']);

const fields = {
  server,
  ca_certificate: pem
    .nullable()
    .meta({ description: 'PEM; null: the certificate authorities of the operating system' }),
  auth,
  namespace: dnsLabel.meta({
    description: 'Namespace of all objects of this registration. A cluster can be registered once for each namespace',
  }),
  network_types: list(word),
  public_service_type: serviceType.meta({
    description: 'Type of the Services of workloads that require the network type `public`. All others are ClusterIP',
  }),
  default_storage_class: storageClass,
  gpu_resource_name: labelKey
    .regex(/\//, 'must be an extended resource such as nvidia.com/gpu')
    .meta({ description: 'Name of the extended resource for GPUs' }),
  ...clusterPolicies,
};

const credentialsExpireAt = timestamp.nullable().meta({
  description: 'When the token or the client certificate of the fleet expires; null: not known, or never',
});

export const cluster = z
  .object({
    ...resourceMembers,
    server: z.string(),
    ca_certificate: z.string().nullable(),
    auth_kind: z.enum(['token', 'client_certificate']),
    namespace: z.string(),
    network_types: z.array(z.string()),
    public_service_type: serviceType,
    default_storage_class: z.string().nullable(),
    gpu_resource_name: z.string(),
    ...clusterPolicyReply,
    reachability,
    message: z.string().meta({ description: 'Why the last check failed' }),
    last_seen_at: timestamp.nullable(),
    kubernetes_version: z.string().nullable(),
    credentials_expire_at: credentialsExpireAt,
    identity,
    capacity: capacity.nullable(),
    allocatable: capacity.nullable().meta({ description: 'null: not known yet' }),
    allocated: capacity.meta({
      description:
        'Resources that are allocated to deployments of this fleet on the cluster, in all namespaces in which it is registered',
    }),
    conditions: z
      .array(condition)
      .meta({ description: 'Results of the last check, such as missing permissions of the fleet' }),
    storage_classes: z.array(
      z.object({
        name: z.string(),
        is_default: z.boolean(),
        allows_expansion: z
          .boolean()
          .nullable()
          .meta({ description: 'Whether the size of its volumes can be increased; null: not known' }),
      }),
    ),
  })
  .meta({ id: 'Cluster' });

/** What the fleet found at an address before a cluster is registered there. */
const newClusterCheck = z
  .object({
    reachability: reachability.exclude(['unknown']),
    message: z.string().meta({ description: 'Why the cluster is unreachable, or refuses the credentials' }),
    kubernetes_version: z.string().nullable(),
    credentials_expire_at: credentialsExpireAt,
    node_count: z.int().nullable().meta({ description: 'null: not known' }),
    conditions: cluster.shape.conditions,
    registered_as: z
      .object({ id, name: z.string() })
      .nullable()
      .meta({ description: 'The same namespace of the same cluster under another name; null: none, or not known' }),
  })
  .meta({ id: 'NewClusterCheck' });

const observed = ignored(
  'auth_kind',
  'fleet_account',
  'reachability',
  'message',
  'last_seen_at',
  'kubernetes_version',
  'credentials_expire_at',
  'identity',
  'capacity',
  'allocatable',
  'allocated',
  'conditions',
  'storage_classes',
);

const newPolicies = {
  object_labels: fields.object_labels.default(clusterPolicyDefaults.object_labels),
  object_annotations: fields.object_annotations.default(clusterPolicyDefaults.object_annotations),
  pod_label_keys: fields.pod_label_keys.default(clusterPolicyDefaults.pod_label_keys),
  service_account: fields.service_account.default(clusterPolicyDefaults.service_account),
  allow_service_account_tokens: fields.allow_service_account_tokens.default(
    clusterPolicyDefaults.allow_service_account_tokens,
  ),
  pull_secrets: fields.pull_secrets.default(clusterPolicyDefaults.pull_secrets),
  priority_class: fields.priority_class.default(clusterPolicyDefaults.priority_class),
  cluster_domain: fields.cluster_domain.default(clusterPolicyDefaults.cluster_domain),
  uses_limit_range: fields.uses_limit_range.default(clusterPolicyDefaults.uses_limit_range),
  elastic: fields.elastic.default(clusterPolicyDefaults.elastic),
};

const changedPolicies = {
  object_labels: fields.object_labels.optional(),
  object_annotations: fields.object_annotations.optional(),
  pod_label_keys: fields.pod_label_keys.optional(),
  service_account: fields.service_account.optional(),
  allow_service_account_tokens: fields.allow_service_account_tokens.optional(),
  pull_secrets: fields.pull_secrets.optional(),
  priority_class: fields.priority_class.optional(),
  cluster_domain: fields.cluster_domain.optional(),
  uses_limit_range: fields.uses_limit_range.optional(),
  elastic: fields.elastic.optional(),
};

/** Kubernetes clusters. */
export const fleetClusterEndpoints = {
  listClusters: endpoint({
    operationId: 'listClusters',
    method: 'get',
    path: '/api/v1/clusters',
    access: 'resources-read',
    tag: 'clusters',
    summary: 'List the clusters',
    query: resourceQuery(
      {
        reachability: anyValue('reachability', reachability),
        network_type: anyName('A network of the cluster'),
      },
      'last_seen_at',
      'problem',
    ),
    reply: z.object({ clusters: z.array(cluster), pagination }),
  }),
  createCluster: endpoint({
    operationId: 'createCluster',
    method: 'post',
    path: '/api/v1/clusters',
    access: 'resources-write',
    tag: 'clusters',
    summary: 'Register a cluster; only an admin can register a loopback address, and set the policies of its pods',
    body: z.strictObject({
      ...newMembers,
      ...fields,
      ...newPolicies,
      ca_certificate: fields.ca_certificate.default(null),
      namespace: fields.namespace.default('fleet'),
      network_types: fields.network_types.default([]),
      public_service_type: fields.public_service_type.default('ClusterIP'),
      default_storage_class: fields.default_storage_class.default(null),
      gpu_resource_name: fields.gpu_resource_name.default('nvidia.com/gpu'),
      ...observed,
    }),
    bodyLimit: 512 * 1024,
    status: 201,
    reply: z.object({ cluster }),
    problems: ['name_taken', 'already_registered'],
  }),
  checkNewCluster: endpoint({
    operationId: 'checkNewCluster',
    method: 'post',
    path: '/api/v1/clusters/check',
    access: 'resources-write',
    tag: 'clusters',
    summary: 'Check a cluster before it is registered; nothing is stored',
    body: z.strictObject({
      server: fields.server,
      auth: fields.auth,
      ca_certificate: fields.ca_certificate.default(null),
      namespace: fields.namespace.default('fleet'),
      gpu_resource_name: fields.gpu_resource_name.default('nvidia.com/gpu'),
    }),
    bodyLimit: 512 * 1024,
    reply: z.object({ check: newClusterCheck }),
  }),
  getCluster: endpoint({
    operationId: 'getCluster',
    method: 'get',
    path: '/api/v1/clusters/:id',
    access: 'resources-read',
    tag: 'clusters',
    summary: 'Get a cluster',
    params: byId,
    reply: z.object({ cluster }),
    problems: ['not_found'],
  }),
  updateCluster: endpoint({
    operationId: 'updateCluster',
    method: 'put',
    path: '/api/v1/clusters/:id',
    access: 'resources-write',
    tag: 'clusters',
    summary:
      'Change a cluster; members that are left out do not change. Only an admin can change the policies of its pods',
    params: byId,
    headers: ['If-Match'],
    body: z.strictObject({
      ...changedMembers,
      server: fields.server.optional(),
      ca_certificate: fields.ca_certificate.optional(),
      auth: fields.auth.optional(),
      namespace: fields.namespace.optional(),
      network_types: fields.network_types.optional(),
      public_service_type: fields.public_service_type.optional(),
      default_storage_class: fields.default_storage_class.optional(),
      gpu_resource_name: fields.gpu_resource_name.optional(),
      ...changedPolicies,
      accept_engine: acceptEngine,
      ...observed,
    }),
    bodyLimit: 512 * 1024,
    reply: z.object({ cluster }),
    problems: ['not_found', 'in_use', 'already_registered', 'version_conflict'],
  }),
  checkCluster: endpoint({
    operationId: 'checkCluster',
    method: 'post',
    path: '/api/v1/clusters/:id/check',
    access: 'resources-write',
    tag: 'clusters',
    summary: 'Check a cluster now: reachability, version and capacity',
    params: byId,
    reply: z.object({ cluster }),
    problems: ['not_found'],
  }),
  deleteCluster: endpoint({
    operationId: 'deleteCluster',
    method: 'delete',
    path: '/api/v1/clusters/:id',
    access: 'resources-write',
    tag: 'clusters',
    summary: 'Remove a cluster without deployments; the cluster itself does not change',
    params: byId,
    query: targetDeletion,
    headers: ['If-Match'],
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'in_use', 'version_conflict'],
  }),
};
