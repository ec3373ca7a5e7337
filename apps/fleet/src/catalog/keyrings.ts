import { CallError, parseFields } from '@svc/contract';
import type { Log } from '@svc/http';
import { Untrusted } from '@svc/trust';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { acceptNewer, lockPublishers } from '../trust/publishers.ts';
import type { CatalogSource } from './hub.ts';

interface Run {
  readonly database: Database;
  readonly hub: { readonly client: Pick<CatalogSource, 'listPublishers'> };
  readonly log: Log;
}

const published = z.object({ slug: z.string(), keyring: z.string(), transitions: z.array(z.string()).max(8) });

/**
 * Fetches the keyrings of the trusted publishers. The hub is not trusted with them: what the trusted root has not signed is
 * ignored. A hub of an earlier version has none.
 */
export async function fetchKeyrings({ database, hub, log }: Run): Promise<void> {
  const trusted = await database.client.trustPublisher.findMany({ select: { slug: true } });
  if (trusted.length === 0) return;
  const listed = await hub.client.listPublishers().catch((error: unknown) => {
    if (error instanceof CallError && error.failure.kind === 'refused' && error.failure.status === 404)
      return undefined;
    throw error;
  });
  for (const entry of listed?.publishers ?? []) {
    const parsed = parseFields(published, entry);
    if (!parsed.success || !trusted.some(({ slug }) => slug === parsed.data.slug)) continue;
    await store({ database, log }, parsed.data);
  }
}

async function store(
  { database, log }: Omit<Run, 'hub'>,
  { slug, ...chain }: z.output<typeof published>,
): Promise<void> {
  try {
    await database.client.$transaction(async (transaction) => {
      await lockPublishers(transaction);
      const row = await transaction.trustPublisher.findUnique({ where: { slug } });
      if (row) await acceptNewer(transaction, row, chain, new Date());
    });
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    log.warn({ publisher: slug, reason: error.message }, 'the keyring of a publisher was refused');
  }
}
