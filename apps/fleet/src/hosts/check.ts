import { fleetEndpoints } from '@svc/contract/fleet';
import { refuseUnrecordable } from '../audit/gate.ts';
import { route } from '../context.ts';
import { readRow } from '../resources/rows.ts';
import { refuseNode } from './nodes.ts';
import { hosts, presentHost } from './rows.ts';

/** Asks now; what it says is in the answer, also that it is away. */
export const checkHost = route(fleetEndpoints.checkHost, async (context, { params }) => {
  const { database, machines, recording } = context;
  await refuseNode(database.client, params.id);
  const { id } = await readRow(database.client, hosts, params.id);
  recording.isKept = true;
  await refuseUnrecordable(database);
  const host = await database.client.host.findUniqueOrThrow({ where: { id } });
  await machines.checkHost(host);
  return { host: presentHost(await readRow(database.client, hosts, id)) };
});
