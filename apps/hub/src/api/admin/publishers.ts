import { hubEndpoints } from '@svc/contract/hub';
import { notFound } from '@svc/http';
import { inspectKeyring, readPublicKey } from '@svc/trust';
import { storePublisher } from '../../catalog/trust/publishers.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';

/** A publisher for administrators. What the hub stores was accepted before. */
async function presentPublisher(row: Prisma.PublisherGetPayload<object>) {
  const { keyring } = await inspectKeyring(row.keyring);
  const { kid } = await readPublicKey(row.root);
  const { slug, name, transitions, updated_at } = row;
  const expires_at = new Date(keyring.expires_at);
  return { slug, name, keyring: row.keyring, transitions, version: keyring.version, expires_at, root: kid, updated_at };
}

export const listAllPublishers = route(hubEndpoints.listAllPublishers, async ({ database: { client } }) => ({
  publishers: await Promise.all((await client.publisher.findMany({ orderBy: { slug: 'asc' } })).map(presentPublisher)),
}));

export const setPublisher = changeRoute(
  hubEndpoints.setPublisher,
  (_context, { params, body }) =>
    async (transaction) => {
      const { row } = await storePublisher(transaction, { ...params, ...body });
      return { id: null, reply: { publisher: await presentPublisher(row) } };
    },
);

export const deletePublisher = changeRoute(
  hubEndpoints.deletePublisher,
  (_context, { params: { slug } }) =>
    async ({ publisher }) => {
      const { count } = await publisher.deleteMany({ where: { slug } });
      if (count === 0) throw notFound();
      return { id: null, reply: undefined };
    },
);
