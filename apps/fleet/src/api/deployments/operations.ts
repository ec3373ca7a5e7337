import { fleetEndpoints } from '@svc/contract/fleet';
import { deployments, presentDeployment } from '../../deployments/rows.ts';
import { removeDeployment } from '../../deployments/store.ts';
import { changedNow, holdRow, readRow, refuseRename } from '../../resources/kind.ts';
import { decideAlone } from '../../resources/placement-lock.ts';
import { change } from '../change.ts';
import { alter, formerGeneration } from './changes.ts';
import { NOW, recordGeneration } from './generations.ts';

export const updateDeployment = change(fleetEndpoints.updateDeployment, (context, { params, body }) =>
  alter(context, params.id, (before) => {
    refuseRename(body, before);
    const { labels, revision, replicas, env, volumes, desired_state: desired, take_over: takeOver } = body;
    const message = takeOver ? 'changed, taking over what others have set' : 'changed';
    return { operation: 'update', message, labels, revision, replicas, env, volumes, desired, takeOver };
  }),
);

export const startDeployment = change(fleetEndpoints.startDeployment, (context, { params }) =>
  alter(context, params.id, () => ({ operation: 'start', message: 'to run again', desired: 'running' })),
);

export const stopDeployment = change(fleetEndpoints.stopDeployment, (context, { params }) =>
  alter(context, params.id, () => ({ operation: 'stop', message: 'to be stopped', desired: 'stopped' })),
);

/** What is stopped begins to run. */
export const restartDeployment = change(fleetEndpoints.restartDeployment, (context, { params }) =>
  alter(context, params.id, () => ({ operation: 'restart', message: 'anew', desired: 'running', restart: true })),
);

export const scaleDeployment = change(fleetEndpoints.scaleDeployment, (context, { params, body }) =>
  alter(context, params.id, ({ replicas }) => ({
    operation: 'scale',
    message: `from ${replicas} to ${body.replicas}`,
    replicas: body.replicas,
  })),
);

export const rollbackDeployment = change(fleetEndpoints.rollbackDeployment, (context, { params, body }) =>
  alter(context, params.id, async (before) => {
    const { generation, revision, replicas, env } = await formerGeneration(
      context.transaction,
      before,
      body.generation,
    );
    const message = `to what generation ${generation} was`;
    return { operation: 'rollback', message, revision, replicas, env, isRollback: true };
  }),
);

/** With the volumes that were made for it and are not to be retained: at once, or when its engine has nothing of it any more. */
export const deleteDeployment = change(fleetEndpoints.deleteDeployment, async (context, { params }) => {
  const { transaction, seen } = context;
  await decideAlone(transaction);
  const row = await holdRow(transaction, deployments, { id: params.id, seen });
  if (row.touched) {
    const data = {
      deleting: true,
      desired_state: 'stopped' as const,
      phase: 'deleting',
      reason: null,
      message: '',
      ...NOW,
    };
    if (!row.deleting) {
      await transaction.deployment.update({
        where: { id: row.id },
        data: { ...data, generation: { increment: 1 }, ...changedNow() },
      });
      await recordGeneration(context, { id: row.id, operation: 'delete', message: 'to be ended' });
    }
    return { deployment: presentDeployment(await readRow(transaction, deployments, row.id)) };
  }
  await removeDeployment(transaction, row.id);
  return { deployment: presentDeployment({ ...row, phase: 'deleting' }) };
});
