import { fleetEndpoints } from '@svc/contract/fleet';
import { z } from 'zod';
import { startDeploymentWorld } from './deployments/world.ts';

const { aCluster, aHost, deployed, admin } = await startDeploymentWorld();

const lists = Object.values(fleetEndpoints)
  .filter(({ query }) => query instanceof z.ZodObject && 'page' in query.shape)
  .map(({ path }) => path);

test.each(lists)('a page of %s beyond the end is an empty list, also a page that overflows a bigint', async (path) => {
  const host = await aHost();
  const deployment = await deployed();
  const { body: created } = await admin.post('/api/v1/tokens', { name: 'a token', role: 'viewer' });
  const spec = { parts: [{ name: 'web', image_name: 'team/web' }] };
  const { body: made } = await admin.post('/api/v1/applications', { name: `shop-${lists.indexOf(path)}`, spec });
  const receiver = { url: 'https://receiver.example.test/', events: ['deployment.failed'] };
  const aWebhook = () => admin.post('/api/v1/webhooks', { name: 'receiver', ...receiver });
  const ids = {
    webhooks: path.startsWith('/api/v1/webhooks') ? (await aWebhook()).body.webhook.id : '',
    applications: made.application.id,
    hosts: host.id,
    clusters: (await aCluster()).id,
    workloads: deployment.workload_id,
    tokens: created.token.id,
  };
  const [, kind = ''] = /^\/api\/v1\/(\w+)\/:id/.exec(path) ?? [];
  const at = path.replace(':id', { ...ids, deployments: deployment.id }[kind] ?? '');
  const read = async (query: string) => {
    const { status, body } = await admin.get(`${at}?${query}`);
    expect({ query, status }).toEqual({ query, status: 200 });
    const { pagination, ...lists } = body;
    return { pagination, rows: Object.values(lists).flat() };
  };
  for (const page of [2, 1_000_000, 2 ** 31, 2 ** 53 - 1]) {
    const { pagination, rows } = await read(`page=${page}&limit=100`);
    expect({ page: pagination.page, rows }).toEqual({ page, rows: [] });
  }
  for (const page of ['0', '9007199254740992', '9'.repeat(30)]) {
    const { status, body } = await admin.get(`${at}?page=${page}`);
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: [{ path: 'page', message: 'must be an integer from 1 to 9007199254740991' }],
    });
  }
});
