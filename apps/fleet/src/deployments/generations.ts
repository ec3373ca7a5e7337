import { v7 as uuidv7 } from 'uuid';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import type { Changer } from '../identity/principal.ts';
import type { SecretRow } from '../resources/secrets.ts';

/** The operations that create a generation of a deployment. */
export type Operation =
  | 'create'
  | 'adopt'
  | 'update'
  | 'upgrade'
  | 'start'
  | 'stop'
  | 'restart'
  | 'scale'
  | 'rollback'
  | 'rotate-secret'
  | 'delete';

/** The operation of an event that shows a generated value to a caller. It creates no generation. */
export const REVEAL = 'reveal';

interface OperationRecord {
  readonly id: string;
  readonly operation: Operation;
  /** The message of the event. */
  readonly message: string;
  /** Identifies what the generation runs. */
  readonly fingerprint?: string | undefined;
}

/** A transaction, and the principal that it is recorded for. */
export interface Author {
  readonly transaction: Prisma.TransactionClient;
  readonly principal: Changer;
}

/**
 * Records the current desired state of the deployment as a revision with its author, and the
 * operation as an event.
 */
export async function recordGeneration({ transaction, principal }: Author, record: OperationRecord): Promise<void> {
  const current = Prisma.sql`SELECT ${columnsOfGeneration} FROM deployments WHERE id = ${record.id}::uuid`;
  await transaction.$executeRaw`WITH deployment AS (${current}) ${generationRecord(principal, record.operation, [record])}`;
}

/** The columns of the common table expression `deployment` of `generationRecord`. */
export const columnsOfGeneration = Prisma.sql`id, generation, revision, replicas, autoscaling, scaled_by, env, host_ports, desired_state,
  requested_digest, defaults_version, default_memory_bytes, default_processes, pod_settings, restarted_at`;

/** The columns of a revision that a generation has from a row with `columnsOfGeneration`. */
export const REVISION_COLUMNS = Prisma.sql`revision, replicas, autoscaling, scaled_by, env, host_ports, desired_state, requested_digest, rendered`;

/** Their values. What its instances are rendered with is stored as one value, which a return restores. */
export const REVISION_VALUES = Prisma.sql`revision, replicas, autoscaling, scaled_by, env, host_ports, desired_state, requested_digest,
  jsonb_build_object('defaults_version', defaults_version, 'default_memory_bytes', default_memory_bytes::text,
    'default_processes', default_processes, 'pod_settings', pod_settings, 'restarted_at', restarted_at)`;

/**
 * The rest of a statement with the common table expression `deployment`: it records the desired
 * state of each of its rows as a revision with its author, and the operation as an event.
 */
export function generationRecord(
  principal: Changer,
  operation: Operation,
  records: readonly Omit<OperationRecord, 'operation'>[],
): Prisma.Sql {
  const author = authorOf(principal);
  const given = records.map(({ id, message, fingerprint }) => ({
    deployment_id: id,
    event_id: uuidv7(),
    message,
    fingerprint,
  }));
  return Prisma.sql`, given AS (
      SELECT deployment_id, event_id, message, fingerprint FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        AS g (deployment_id uuid, event_id uuid, message text, fingerprint text)),
    recorded AS (
      INSERT INTO deployment_revisions (deployment_id, generation, operation, ${REVISION_COLUMNS}, fingerprint, created_by)
      SELECT id, generation, ${operation}, ${REVISION_VALUES}, given.fingerprint, ${author}
      FROM deployment JOIN given ON given.deployment_id = deployment.id
      RETURNING deployment_id, generation)
    INSERT INTO deployment_events (id, deployment_id, kind, generation, reason, message, actor)
    SELECT given.event_id, recorded.deployment_id, 'operation'::"EventKind", recorded.generation, ${operation}, given.message, ${author}
    FROM recorded JOIN given ON given.deployment_id = recorded.deployment_id`;
}

/**
 * The observed state of a new generation that no worker has reconciled yet. `presentDeployment`
 * states what it waits for.
 */
export const PENDING = {
  phase: 'pending',
  reason: null,
  message: '',
} as const satisfies Prisma.DeploymentUncheckedUpdateInput;

/**
 * Makes a deployment due at once and resets its count of failures. Also resets `take_over`, which
 * is valid only for the generation that requested it.
 */
export const DUE_NOW = {
  due_at: new Date(0),
  failures: 0,
  take_over: false,
} as const satisfies Prisma.DeploymentUncheckedUpdateInput;

/**
 * Starts a new generation of the deployments that use a secret. Stopped deployments receive the new
 * values when they are started.
 */
export async function rotateSecretInDeployments(context: Author, { name, used_by }: SecretRow): Promise<void> {
  for (const { kind, id } of used_by) {
    if (kind === 'deployment')
      await restartForSecret(context, { id, message: `the values of the secret ${name} changed` });
  }
}

/** Starts a new generation of a deployment, because a secret value changed. */
export async function restartForSecret(
  context: Author,
  { id, message }: Pick<OperationRecord, 'id' | 'message'>,
): Promise<void> {
  const { deployment } = context.transaction;
  await deployment.update({ where: { id }, data: { generation: { increment: 1 }, updated_at: new Date() } });
  await deployment.updateMany({ where: { id, desired_state: 'running' }, data: { ...PENDING, ...DUE_NOW } });
  await recordGeneration(context, { id, operation: 'rotate-secret', message });
}
