import { trustPolicy } from '@svc/contract/fleet';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

export type TrustPolicy = z.output<typeof trustPolicy>;

type Client = Pick<Prisma.TransactionClient, 'trustPolicy'>;

/** The policy; the defaults if none was set: nothing is verified. */
export async function readPolicy({ trustPolicy: table }: Client): Promise<TrustPolicy> {
  const row = await table.findUnique({ where: { id: 1 } });
  return trustPolicy.parse(row?.policy ?? { mode: 'off', by_hand: 'allow', overrides: 'any', exceptions: [] });
}

/** @returns the policy as it is read later */
export async function writePolicy(
  { trustPolicy: table }: Client,
  given: z.input<typeof trustPolicy>,
): Promise<TrustPolicy> {
  const policy = trustPolicy.parse(given);
  const data = { policy, updated_at: new Date() };
  await table.upsert({ where: { id: 1 }, create: { id: 1, ...data }, update: data });
  return policy;
}
