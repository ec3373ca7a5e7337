import { clusterPolicyReply } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { formatAmount } from '../placement/quantities.ts';
import { accountConditions, policiesOf } from './cluster-policies.ts';
import { identityColumns, identityRow, uniqueCondition } from './identity.ts';
import { condition, type Kind, presentCommon, presentConditions, resourceRow } from './kind.ts';

/** The column and row for which the credentials of a cluster are sealed. */
export const clusterCredentialsLocation = (row: string) => ({ table: 'clusters', column: 'sealed', row });

/** `allows_expansion` is null if the last check was made by a version that does not read it. */
export const storageClasses = z.array(
  z.object({ name: z.string(), is_default: z.boolean(), allows_expansion: z.boolean().nullable().default(null) }),
);

const clusterRow = resourceRow.extend({
  ...identityRow.shape,
  server: z.string(),
  ca_certificate: z.string().nullable(),
  auth_kind: z.enum(['token', 'client_certificate']),
  namespace: z.string(),
  network_types: z.array(z.string()),
  public_service_type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
  default_storage_class: z.string().nullable(),
  gpu_resource_name: z.string(),
  ...clusterPolicyReply,
  reachability: z.enum(['unknown', 'online', 'unreachable']),
  unreachable_reason: z.string(),
  last_seen_at: z.date().nullable(),
  kubernetes_version: z.string().nullable(),
  capacity: z.object({ cpu: z.string(), memory: z.string(), gpu_count: z.int() }).nullable(),
  cpu_millis: z.bigint().nullable(),
  memory_bytes: z.bigint().nullable(),
  gpu_count: z.int().nullable(),
  conditions: z.array(condition),
  storage_classes: storageClasses,
  credentials_expire_at: z.date().nullable(),
  allocated_cpu: z.bigint(),
  allocated_memory: z.bigint(),
  allocated_gpus: z.int(),
});
export type ClusterRow = z.output<typeof clusterRow>;

/**
 * What is allocated on a cluster, in all namespaces in which it is registered, so that its capacity
 * is counted once.
 */
const allocatedSum = (column: 'cpu_millis' | 'memory_bytes' | 'gpu_count', type: 'bigint' | 'int'): Prisma.Sql =>
  Prisma.sql`(SELECT coalesce(sum(d.${Prisma.raw(column)}), 0)::${Prisma.raw(type)} FROM deployments d
      WHERE d.cluster_id = ANY (ARRAY(SELECT o.id FROM clusters o WHERE o.id = r.id OR o.identity = r.identity)))`;

export const clusters: Kind<ClusterRow> = {
  table: 'clusters',
  row: clusterRow,
  columns: Prisma.sql`r.server, r.ca_certificate, r.auth_kind::text, r.namespace, r.network_types, r.public_service_type::text, r.default_storage_class,
    r.gpu_resource_name, r.elastic, r.object_labels, r.object_annotations, r.pod_label_keys, r.service_account, r.allow_service_account_tokens,
    r.pull_secrets, r.priority_class, r.cluster_domain, r.uses_limit_range, r.fleet_account, r.reachability::text, r.unreachable_reason, r.last_seen_at, r.kubernetes_version, r.capacity, r.cpu_millis, r.memory_bytes,
    r.gpu_count, r.conditions, r.storage_classes, r.credentials_expire_at, ${identityColumns('clusters', Prisma.sql`r.identity`)},
    ${allocatedSum('cpu_millis', 'bigint')} AS allocated_cpu, ${allocatedSum('memory_bytes', 'bigint')} AS allocated_memory,
    ${allocatedSum('gpu_count', 'int')} AS allocated_gpus`,
};

const DAY_MS = 86_400_000;
/** How long before their end expiring credentials are reported. */
const NOTICE_MS = 14 * DAY_MS;

/** Why credentials must be replaced: they have expired, or will within 14 days; undefined otherwise. */
export function expiryWarning(expireAt: Date | null, now = Date.now()): string | undefined {
  if (expireAt === null || expireAt.getTime() - now > NOTICE_MS) return undefined;
  const verb = expireAt.getTime() > now ? 'expire' : 'expired';
  return `The credentials of the fleet ${verb} at ${expireAt.toISOString()}. Send a PUT with a new auth.`;
}

/** The condition of a cluster whose credentials have a known end. */
function credentialsConditions({ credentials_expire_at, last_seen_at, created_at }: ClusterRow) {
  if (credentials_expire_at === null) return [];
  const warning = expiryWarning(credentials_expire_at);
  const common = { type: 'CredentialsValid', at: last_seen_at ?? created_at };
  if (warning === undefined) return [{ ...common, status: 'True', reason: 'Valid', message: '' }];
  const reason = credentials_expire_at.getTime() > Date.now() ? 'ExpireSoon' : 'Expired';
  return [{ ...common, status: 'False', reason, message: warning }];
}

/** The representation of a cluster in the API. */
export const presentCluster = (row: ClusterRow) => ({
  ...presentCommon(row),
  server: row.server,
  ca_certificate: row.ca_certificate,
  auth_kind: row.auth_kind,
  namespace: row.namespace,
  network_types: row.network_types,
  public_service_type: row.public_service_type,
  default_storage_class: row.default_storage_class,
  gpu_resource_name: row.gpu_resource_name,
  ...policiesOf(row),
  fleet_account: row.fleet_account,
  reachability: row.reachability,
  message: row.unreachable_reason,
  last_seen_at: row.last_seen_at,
  kubernetes_version: row.kubernetes_version,
  credentials_expire_at: row.credentials_expire_at,
  identity: row.identity,
  capacity: row.capacity && { ...row.capacity },
  allocatable:
    row.cpu_millis === null || row.memory_bytes === null
      ? null
      : formatAmount({ cpu_millis: row.cpu_millis, memory_bytes: row.memory_bytes, gpu_count: row.gpu_count ?? 0 }),
  allocated: formatAmount({
    cpu_millis: row.allocated_cpu,
    memory_bytes: row.allocated_memory,
    gpu_count: row.allocated_gpus,
  }),
  conditions: [
    ...presentConditions(row.conditions),
    { ...uniqueCondition('cluster', row), at: row.last_seen_at ?? row.created_at },
    ...accountConditions(row).map((found) => ({ ...found, at: row.last_seen_at ?? row.created_at })),
    ...credentialsConditions(row),
  ],
  storage_classes: [...row.storage_classes],
});
