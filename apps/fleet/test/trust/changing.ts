import { randomUUID } from 'node:crypto';
import type { World } from '../world.ts';
import { aSigner, keyringOf } from './signed.ts';

/** Requests that change who is trusted, each with a publisher of its own. */
export const changingTrust = (world: World) => {
  const { client } = world.database;
  const aPublisher = async ({ hasKeyring = false } = {}) => {
    const root = await aSigner();
    const slug = `publisher-${randomUUID().slice(0, 8)}`;
    const keyring = await keyringOf(root, { publisher: slug });
    await client.trustPublisher.create({
      data: {
        slug,
        name: slug,
        root: { ...root.key },
        images: ['*'],
        slugs: ['*'],
        secrets: [],
        created_by: 'test',
        ...(hasKeyring && { keyring, expires_at: new Date() }),
      },
    });
    return { slug, keyring, path: `/api/v1/settings/publishers/${slug}` };
  };
  return {
    setTrustPolicy: async () => ({ body: { mode: 'off' } }),
    planTrust: async () => ({ body: { mode: 'require' } }),
    trustPublisher: async () => ({
      body: { slug: `publisher-${randomUUID().slice(0, 8)}`, name: 'x', root: (await aSigner()).key, images: ['*'] },
    }),
    updateTrustedPublisher: async () => ({ path: (await aPublisher()).path, body: { name: 'another name' } }),
    distrustPublisher: async () => ({ path: (await aPublisher()).path }),
    importKeyring: async () => {
      const { path, keyring } = await aPublisher();
      return { path: `${path}/keyring`, body: { keyring } };
    },
    extendKeyring: async () => ({
      path: `${(await aPublisher({ hasKeyring: true })).path}/extension`,
      body: { reason: 'x' },
    }),
    assignSlug: async () => ({
      path: `/api/v1/settings/trust/slugs/tool-${randomUUID().slice(0, 8)}`,
      body: { publisher: (await aPublisher()).slug },
    }),
  };
};
