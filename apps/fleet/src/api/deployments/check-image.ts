import { fleetEndpoints } from '@svc/contract/fleet';
import { deployments, presentDeployment } from '../../deployments/rows.ts';
import { type ImageTag, requestImageCheck } from '../../deployments/updates/image.ts';
import { readRow } from '../../resources/kind.ts';
import { runAudited } from '../request/change.ts';
import { route } from '../request/context.ts';

/** Requests the check in a transaction, and waits for its end without one. A check that takes longer continues. */
export const checkDeploymentImage = route(fleetEndpoints.checkDeploymentImage, async (context, { params }) => {
  const { database, engineRuntime, defaultLimits } = context;
  let tag: ImageTag | undefined;
  await runAudited(context, fleetEndpoints.checkDeploymentImage, async (transaction) => {
    const row = await readRow(transaction, deployments, params.id);
    tag = await requestImageCheck(transaction, row);
    return { deployment: presentDeployment(row, defaultLimits) };
  });
  if (tag) await engineRuntime.awaitImageCheck(tag);
  return { deployment: presentDeployment(await readRow(database.client, deployments, params.id), defaultLimits) };
});
