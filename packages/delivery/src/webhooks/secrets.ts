import type { Sealer } from '@svc/database';
import { z } from 'zod';

/** The signing secrets of a webhook. They are sealed together. */
const signingSecrets = z.object({
  current: z.string(),
  /** That before the last rotation. */
  previous: z.string().nullable(),
});
type SigningSecrets = z.output<typeof signingSecrets>;

const locationOf = (id: string) => ({ table: 'webhooks', column: 'sealed', row: id });

export const sealSecrets = async (sealer: Sealer, id: string, secrets: SigningSecrets) => ({
  sealed: await sealer.seal(locationOf(id), JSON.stringify(secrets)),
  key_id: sealer.kid,
});

export const openSecrets = async (sealer: Sealer, { id, sealed }: { readonly id: string; readonly sealed: string }) =>
  signingSecrets.parse(JSON.parse(await sealer.open(locationOf(id), sealed)));
