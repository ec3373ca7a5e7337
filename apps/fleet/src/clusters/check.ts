import { fleetEndpoints } from '@svc/contract/fleet';
import { refuseUnrecordable } from '../audit/gate.ts';
import { route } from '../context.ts';
import { readRow } from '../resources/rows.ts';
import { clusters, presentCluster } from './rows.ts';

/** Asks now; what it says is in the answer, also that it is away. */
export const checkCluster = route(fleetEndpoints.checkCluster, async (context, { params }) => {
  const { database, machines, recording } = context;
  const { id } = await readRow(database.client, clusters, params.id);
  recording.isKept = true;
  await refuseUnrecordable(database);
  const cluster = await database.client.cluster.findUniqueOrThrow({ where: { id } });
  await machines.checkCluster(cluster);
  return { cluster: presentCluster(await readRow(database.client, clusters, id)) };
});
