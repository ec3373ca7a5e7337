import { v7 as uuidv7 } from 'uuid';
import { authorOf } from '../../audit/recording.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { SecretRow } from '../../resources/secrets.ts';
import type { ChangeContext } from '../change.ts';

/** What somebody can ask of a deployment. */
export type Operation =
  | 'create'
  | 'update'
  | 'start'
  | 'stop'
  | 'restart'
  | 'scale'
  | 'rollback'
  | 'rotate-secret'
  | 'delete';

interface Asked {
  readonly id: string;
  readonly operation: Operation;
  /** For people. */
  readonly message: string;
}

type Author = Pick<ChangeContext, 'transaction' | 'principal'>;

/** Notes what the deployment is now as its generation, and who asked for it. */
export async function recordGeneration({ transaction, principal }: Author, asked: Asked): Promise<void> {
  const author = authorOf(principal);
  const { generation, revision, replicas, env, desired_state } = await transaction.deployment.findUniqueOrThrow({
    where: { id: asked.id },
  });
  const { id: deployment_id, operation } = asked;
  const was = { revision, replicas, env: env as object, desired_state };
  await transaction.deploymentRevision.create({
    data: { deployment_id, generation, operation, created_by: author, ...was },
  });
  await recordOperation({ transaction, principal }, { ...asked, generation });
}

/** Notes that somebody asked for something. */
async function recordOperation(
  { transaction, principal }: Author,
  { id, operation, message, generation }: Asked & { readonly generation: number },
): Promise<void> {
  const event = { id: uuidv7(), deployment_id: id, kind: 'operation' as const, generation, reason: operation, message };
  await transaction.deploymentEvent.create({ data: { ...event, actor: authorOf(principal) } });
}

/** What a new generation begins as: somebody is still to do it. */
export const PENDING = {
  phase: 'pending',
  reason: null,
  message: 'No engine of this fleet has taken it up yet.',
} as const satisfies Prisma.DeploymentUncheckedUpdateInput;

/**
 * Whoever keeps deployments as they are desired looks at it at once, and begins anew to count failures. What somebody else has
 * set is taken over for the generation that asked for it.
 */
export const NOW = {
  due_at: new Date(0),
  failures: 0,
  take_over: false,
} as const satisfies Prisma.DeploymentUncheckedUpdateInput;

/** A secret with new values is a new generation of what uses it; what is stopped gets them when it is started. */
export async function bumpUsersOfSecret(context: ChangeContext, { name, used_by }: SecretRow): Promise<void> {
  const { deployment } = context.transaction;
  for (const { kind, id } of used_by) {
    if (kind !== 'deployment') continue;
    await deployment.update({ where: { id }, data: { generation: { increment: 1 }, updated_at: new Date() } });
    await deployment.updateMany({ where: { id, desired_state: 'running' }, data: { ...PENDING, ...NOW } });
    await recordGeneration(context, { id, operation: 'rotate-secret', message: `the secret ${name} has new values` });
  }
}
