import { paginationOf } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { etagOfVersion, Tagged } from '@svc/http';
import { route } from '../context.ts';
import { rowsOf } from '../paging.ts';
import { listRows, readRow } from '../resources/rows.ts';
import { presentManifest } from './manifest.ts';
import { deployments, presentDeployment } from './rows.ts';

export const listDeployments = route(fleetEndpoints.listDeployments, async ({ database }, { query }) => {
  const { rows, pagination } = await listRows(database.client, deployments, query);
  return { deployments: rows.map(presentDeployment), pagination };
});

export const getDeployment = route(fleetEndpoints.getDeployment, async ({ database }, { params }) => {
  const row = await readRow(database.client, deployments, params.id);
  const deployment = presentDeployment(row);
  return new Tagged({ deployment }, etagOfVersion(deployment.version, deployment));
});

export const getDeploymentManifest = route(fleetEndpoints.getDeploymentManifest, ({ database }, { params }) =>
  database.client.$transaction(async (transaction) => {
    const row = await readRow(transaction, deployments, params.id);
    return { manifest: await presentManifest(transaction, row) };
  }),
);

export const listDeploymentEvents = route(
  fleetEndpoints.listDeploymentEvents,
  async ({ database: { client } }, { params, query }) => {
    const { id } = await readRow(client, deployments, params.id);
    const where = { deployment_id: id };
    const [events, total] = await client.$transaction([
      client.deploymentEvent.findMany({ where, orderBy: [{ at: 'desc' }, { id: 'desc' }], ...rowsOf(query) }),
      client.deploymentEvent.count({ where }),
    ]);
    return { events, pagination: paginationOf(query, total) };
  },
);

export const listDeploymentRevisions = route(
  fleetEndpoints.listDeploymentRevisions,
  async ({ database: { client } }, { params, query }) => {
    const { id } = await readRow(client, deployments, params.id);
    const where = { deployment_id: id };
    const [rows, total] = await client.$transaction([
      client.deploymentRevision.findMany({ where, orderBy: { generation: 'desc' }, ...rowsOf(query) }),
      client.deploymentRevision.count({ where }),
    ]);
    const revisions = rows.map(({ env, ...row }) => ({ ...row, env: env as Record<string, string> })); // as it was stored
    return { revisions, pagination: paginationOf(query, total) };
  },
);
