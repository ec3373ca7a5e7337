import { createHmac, randomBytes } from 'node:crypto';
import type { Sealer } from '@svc/database';
import { isSecret } from '@svc/http';
import { z } from 'zod';

/** The secrets of a source. They are sealed together. */
const sourceSecrets = z.object({
  /** The token that reads the repository; null: the repository is public. */
  token: z.string().nullable(),
  /** The secret of the notifications that the server of the repository sends. */
  hook: z.string(),
});
type SourceSecrets = z.output<typeof sourceSecrets>;

const locationOf = (id: string) => ({ table: 'sources', column: 'sealed', row: id });

export const sealSourceSecrets = async (sealer: Sealer, id: string, secrets: SourceSecrets) => ({
  sealed: await sealer.seal(locationOf(id), JSON.stringify(secrets)),
  key_id: sealer.kid,
  has_token: secrets.token !== null,
});

/** @returns undefined if they cannot be decrypted, such as after the encryption keys were lost */
export async function openSourceSecrets(
  sealer: Sealer,
  { id, sealed }: { readonly id: string; readonly sealed: string },
): Promise<SourceSecrets | undefined> {
  const text = await sealer.open(locationOf(id), sealed).catch(() => undefined);
  return text === undefined ? undefined : sourceSecrets.parse(JSON.parse(text));
}

export const newHookSecret = () => randomBytes(32).toString('base64url');

/** What a server sends to prove that it knows the secret of notifications. */
export interface HookProof {
  /** `X-Hub-Signature-256` of GitHub, Gitea and Forgejo: `sha256=` and the HMAC-SHA-256 of the body as hexadecimal digits. */
  readonly signature: string | undefined;
  /** `X-Gitlab-Token`: the secret itself. */
  readonly token: string | undefined;
}

/** Whether a notification is from a server that knows the secret. */
export function isNotified(secret: string, body: Uint8Array, { signature, token }: HookProof): boolean {
  if (signature !== undefined)
    return isSecret(signature, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  return token !== undefined && isSecret(token, secret);
}
