import { createHash } from 'node:crypto';
import { invalid, Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Principal } from '../identity/principal.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The stored form of a request with an idempotency key. It is valid for one day. */
export interface IdempotentRequest {
  readonly key_hash: string;
  readonly request_hash: string;
}

interface KeyedRequest {
  readonly principal: Principal;
  /** The value of `Idempotency-Key`, not validated. */
  readonly idempotencyKey: string | undefined;
}

/**
 * Reads `Idempotency-Key`. The scope of a key is its caller. @throws 400 unless it has 1 to 255
 * visible ASCII characters
 */
export function readIdempotencyKey(
  { principal, idempotencyKey }: KeyedRequest,
  body: object,
): IdempotentRequest | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (!KEY.test(idempotencyKey)) {
    throw invalid([{ path: 'Idempotency-Key', message: 'must have 1 to 255 visible ASCII characters' }]);
  }
  return { key_hash: hash([callerOf(principal), idempotencyKey]), request_hash: hash(body) };
}

const callerOf = (principal: Principal) => ('id' in principal ? principal.id : principal.kind);

const hash = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** The column with the id of what a request created. */
type CreatedId = 'deployment_id' | 'application_id';

/**
 * The id of what the first request with this key created. @throws 422 if the key was used for another
 * request
 */
export async function findCreated(
  transaction: Prisma.TransactionClient,
  { key_hash, request_hash }: IdempotentRequest,
  id: CreatedId,
): Promise<string | undefined> {
  const [previous] = await transaction.$queryRaw<
    ({ request_hash: string } & Readonly<Record<CreatedId, string | null>>)[]
  >`
    SELECT request_hash, deployment_id, application_id FROM idempotency_keys
    WHERE key_hash = ${key_hash} AND created_at > now() - interval '1 day'`;
  if (previous && (previous.request_hash !== request_hash || previous[id] === null)) {
    throw new Problem(
      'idempotency_key_reused',
      'This Idempotency-Key was used for a different request. Use another key.',
    );
  }
  return previous?.[id] ?? undefined;
}

export const rememberRequest = (
  transaction: Prisma.TransactionClient,
  { key_hash, request_hash }: IdempotentRequest,
  { deployment_id = null, application_id = null }: { readonly [Id in CreatedId]?: string | null },
) => transaction.$executeRaw`
  INSERT INTO idempotency_keys (key_hash, request_hash, deployment_id, application_id)
  VALUES (${key_hash}, ${request_hash}, ${deployment_id}::uuid, ${application_id}::uuid)
  ON CONFLICT (key_hash) DO UPDATE SET request_hash = excluded.request_hash, deployment_id = excluded.deployment_id,
    application_id = excluded.application_id, created_at = now()`;
