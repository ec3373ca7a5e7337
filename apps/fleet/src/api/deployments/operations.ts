import { fleetEndpoints } from '@svc/contract/fleet';
import { deployments, presentDeployment } from '../../deployments/rows.ts';
import { removeDeployment } from '../../deployments/store.ts';
import { lockRow, nextVersion, readRow, refuseRename } from '../../resources/kind.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import { changeRoute } from '../change.ts';
import { changeDeployment, generationToRestore } from './changes.ts';
import { DUE_NOW, recordGeneration } from './generations.ts';

export const updateDeployment = changeRoute(fleetEndpoints.updateDeployment, (context, { params, body }) =>
  changeDeployment(context, params.id, (before) => {
    refuseRename(body, before);
    const { labels, revision, replicas, env, volumes, desired_state: desiredState, take_over: takeOver } = body;
    const message = takeOver ? 'updated, taking over fields of other field managers' : 'updated';
    return { operation: 'update', message, labels, revision, replicas, env, volumes, desiredState, takeOver };
  }),
);

export const startDeployment = changeRoute(fleetEndpoints.startDeployment, (context, { params }) =>
  changeDeployment(context, params.id, () => ({
    operation: 'start',
    message: 'start requested',
    desiredState: 'running',
  })),
);

export const stopDeployment = changeRoute(fleetEndpoints.stopDeployment, (context, { params }) =>
  changeDeployment(context, params.id, () => ({
    operation: 'stop',
    message: 'stop requested',
    desiredState: 'stopped',
  })),
);

/** A restart also starts a stopped deployment. */
export const restartDeployment = changeRoute(fleetEndpoints.restartDeployment, (context, { params }) =>
  changeDeployment(context, params.id, () => ({
    operation: 'restart',
    message: 'restart requested',
    desiredState: 'running',
    restart: true,
  })),
);

export const scaleDeployment = changeRoute(fleetEndpoints.scaleDeployment, (context, { params, body }) =>
  changeDeployment(context, params.id, ({ replicas }) => ({
    operation: 'scale',
    message: `replicas changed from ${replicas} to ${body.replicas}`,
    replicas: body.replicas,
  })),
);

export const rollbackDeployment = changeRoute(fleetEndpoints.rollbackDeployment, (context, { params, body }) =>
  changeDeployment(context, params.id, async (before) => {
    const { generation, revision, replicas, env } = await generationToRestore(
      context.transaction,
      before,
      body.generation,
    );
    const message = `rolled back to generation ${generation}`;
    return { operation: 'rollback', message, revision, replicas, env, isRollback: true };
  }),
);

/**
 * Deletes a deployment with the volumes that were created for it, unless their reclaim policy is retain. The rows are deleted at
 * once if no engine has received the deployment, otherwise after the engine has removed its objects.
 */
export const deleteDeployment = changeRoute(fleetEndpoints.deleteDeployment, async (context, { params }) => {
  const { transaction, ifMatch } = context;
  await acquirePlacementLock(transaction);
  const row = await lockRow(transaction, deployments, { id: params.id, ifMatch });
  if (row.sent_to_engine) {
    const data = {
      deleting: true,
      desired_state: 'stopped' as const,
      phase: 'deleting',
      reason: null,
      message: '',
      ...DUE_NOW,
    };
    if (!row.deleting) {
      await transaction.deployment.update({
        where: { id: row.id },
        data: { ...data, generation: { increment: 1 }, ...nextVersion() },
      });
      await recordGeneration(context, { id: row.id, operation: 'delete', message: 'deletion requested' });
    }
    return { deployment: presentDeployment(await readRow(transaction, deployments, row.id)) };
  }
  await removeDeployment(transaction, row.id);
  return { deployment: presentDeployment({ ...row, phase: 'deleting' }) };
});
