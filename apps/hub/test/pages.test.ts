import { hubEndpoints } from '@svc/contract/hub';
import { z } from 'zod';
import { startWorld } from './world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const template = await world.aTemplate();
const { body: created } = await (await world.aUser('superadmin')).post('/api/v1/admin/applications', {
  name: 'Shown',
  category_id: template.category_id,
  is_public: true,
  parts: [{ name: 'web', image_name: 'library/server' }],
});
const { application } = created;
const { body: receiver } = await (await world.aUser('superadmin')).post('/api/v1/admin/webhooks', {
  ...{ name: 'receiver', url: 'https://hooks.example.test/', events: ['access.requested'] },
});

const lists = Object.values(hubEndpoints)
  .filter(({ query }) => query instanceof z.ZodObject && 'page' in query.shape)
  .map(({ path }) => {
    if (path.includes('/webhooks/')) return path.replace(':id', receiver.webhook.id);
    const { slug, id } = path.includes('/applications/') ? application : template;
    return path.replace(':slug', slug).replace(':id', id);
  });

test.each(lists)('a page of %s beyond the end is an empty list, also a page that overflows a bigint', async (path) => {
  const caller = await world.aUser('superadmin');
  const { id: org_id } = await world.anOrganization();
  await world.database.client.user.updateMany({ data: { org_id, org_role: 'org_admin' } });
  const read = async (query: string) => {
    const { status, body } = await caller.get(`${path}?${query}`);
    expect({ query, status }).toEqual({ query, status: 200 });
    const { pagination, ...lists } = body;
    return { pagination, rows: Object.values(lists).flat() };
  };
  for (const page of [2, 1_000_000, 2 ** 31, 2 ** 53 - 1]) {
    const { pagination, rows } = await read(`page=${page}&limit=100`);
    expect({ page: pagination.page, rows }).toEqual({ page, rows: [] });
  }
  for (const page of ['0', '9007199254740992', '9'.repeat(30)]) {
    const { status, body } = await caller.get(`${path}?page=${page}`);
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: [{ path: 'page', message: 'must be an integer from 1 to 9007199254740991' }],
    });
  }
});
