import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../request/context.ts';

export const listPublishers = route(hubEndpoints.listPublishers, async ({ database: { client } }) => ({
  publishers: await client.publisher.findMany({
    select: { slug: true, name: true, keyring: true, transitions: true },
    orderBy: { slug: 'asc' },
  }),
}));
