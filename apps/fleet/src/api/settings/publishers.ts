import { fleetEndpoints, MAX_TRUSTED_PUBLISHERS } from '@svc/contract/fleet';
import { notFound, Problem, pickDefined } from '@svc/http';
import { readPublicKey, Untrusted } from '@svc/trust';
import type { Prisma } from '../../generated/prisma/client.ts';
import { authorOf } from '../../identity/actor.ts';
import {
  acceptNewer,
  lockPublishers,
  type PublisherRow,
  readKeyring,
  readRoot,
  refusedKeyring,
} from '../../trust/publishers.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';

const EXTENSION_MS = 7 * 86_400_000;

async function presentPublisher({ root, keyring, ...row }: PublisherRow) {
  const known = keyring === null ? undefined : await readKeyring(keyring);
  return {
    ...row,
    root: (await readPublicKey(root)).kid,
    next_root: known?.next_root?.kid ?? null,
    keyring_version: known?.version ?? null,
  };
}

const replyWith = async (row: PublisherRow) => ({ publisher: await presentPublisher(row) });

export const listTrustedPublishers = route(fleetEndpoints.listTrustedPublishers, async ({ database: { client } }) => ({
  publishers: await Promise.all(
    (await client.trustPublisher.findMany({ orderBy: { slug: 'asc' } })).map(presentPublisher),
  ),
}));

export const trustPublisher = changeRoute(fleetEndpoints.trustPublisher, async (context, { body }) => {
  const { transaction, principal } = context;
  const root = await readRoot(body.root);
  await lockPublishers(transaction);
  const { slug } = body;
  if (await transaction.trustPublisher.findUnique({ where: { slug } })) {
    throw new Problem('slug_taken', `The fleet trusts the publisher ${slug} already. Change it instead.`);
  }
  if ((await transaction.trustPublisher.count()) >= MAX_TRUSTED_PUBLISHERS) {
    throw new Problem('too_many_publishers', `A fleet trusts at most ${MAX_TRUSTED_PUBLISHERS} publishers.`);
  }
  const data = { ...body, root: { ...root }, created_by: authorOf(principal) };
  return replyWith(await transaction.trustPublisher.create({ data }));
});

/** @throws 404 */
async function lockPublisher(transaction: Prisma.TransactionClient, slug: string): Promise<PublisherRow> {
  await lockPublishers(transaction);
  const row = await transaction.trustPublisher.findUnique({ where: { slug } });
  if (!row) throw notFound();
  return row;
}

export const updateTrustedPublisher = changeRoute(
  fleetEndpoints.updateTrustedPublisher,
  async ({ transaction }, { params: { slug }, body }) => {
    const before = await lockPublisher(transaction, slug);
    const changes = pickDefined(body, ['name', 'images', 'slugs', 'secrets']);
    const root = body.root === undefined ? undefined : await readRoot(body.root);
    const present = (await readPublicKey(before.root)).kid;
    const isOther = root !== undefined && root.kid !== present;
    if (isOther && body.replaces !== present) {
      throw new Problem(
        'root_changed',
        `The root key of ${slug} is ${present}, and the given one is ${root.kid}. To replace it, state the present one in replaces.`,
      );
    }
    // The keyring of another root says nothing about this one.
    const replaced = isOther
      ? { root: { ...root }, keyring: null, expires_at: null, extended_until: null, extension_reason: null }
      : {};
    const data = { ...changes, ...replaced, version: { increment: 1 } };
    return replyWith(await transaction.trustPublisher.update({ where: { slug }, data }));
  },
);

export const distrustPublisher = changeRoute(
  fleetEndpoints.distrustPublisher,
  async ({ transaction, recording }, { params: { slug } }) => {
    recording.objectName = (await lockPublisher(transaction, slug)).name;
    await transaction.trustPublisher.delete({ where: { slug } });
    return undefined;
  },
);

export const importKeyring = changeRoute(
  fleetEndpoints.importKeyring,
  async ({ transaction }, { params: { slug }, body }) => {
    const before = await lockPublisher(transaction, slug);
    try {
      return await replyWith(await acceptNewer(transaction, before, body, new Date()));
    } catch (error) {
      throw error instanceof Untrusted ? refusedKeyring(error) : error;
    }
  },
);

export const extendKeyring = changeRoute(
  fleetEndpoints.extendKeyring,
  async ({ transaction }, { params: { slug }, body }) => {
    const before = await lockPublisher(transaction, slug);
    if (before.extended_until !== null || before.expires_at === null) {
      throw new Problem(
        'already_extended',
        before.expires_at === null
          ? `The fleet has no keyring of ${slug} yet.`
          : `The keyring of ${slug} was extended already. The publisher must issue a new one.`,
      );
    }
    const extended_until = new Date(Math.max(Date.now(), before.expires_at.getTime()) + EXTENSION_MS);
    const data = { extended_until, extension_reason: body.reason, version: { increment: 1 } };
    return replyWith(await transaction.trustPublisher.update({ where: { slug }, data }));
  },
);
