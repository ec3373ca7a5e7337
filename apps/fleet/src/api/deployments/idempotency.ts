import { createHash } from 'node:crypto';
import { invalid, Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Principal } from '../../principal.ts';
import type { RequestContext } from '../context.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** A request that its caller may send again within a day, as it is stored. */
export interface Repeatable {
  readonly key_hash: string;
  readonly request_hash: string;
}

/** What `Idempotency-Key` says of a request: one for each caller. @throws 400 for one that is empty, long or odd */
export function repeatableOf({ principal, idempotencyKey }: RequestContext, body: object): Repeatable | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (!KEY.test(idempotencyKey)) {
    throw invalid([{ path: 'Idempotency-Key', message: 'must have 1 to 255 visible ASCII characters' }]);
  }
  return { key_hash: hash([callerOf(principal), idempotencyKey]), request_hash: hash(body) };
}

const callerOf = (principal: Principal) => ('id' in principal ? principal.id : principal.kind);

const hash = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** The deployment that the request made the first time. @throws 422 where the key was used for another request */
export async function madeBefore(
  transaction: Prisma.TransactionClient,
  { key_hash, request_hash }: Repeatable,
): Promise<string | undefined> {
  const [known] = await transaction.$queryRaw<{ request_hash: string; deployment_id: string }[]>`
    SELECT request_hash, deployment_id FROM repeatable_requests
    WHERE key_hash = ${key_hash} AND created_at > now() - interval '1 day'`;
  if (known && known.request_hash !== request_hash) {
    throw new Problem(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request: choose another one.',
    );
  }
  return known?.deployment_id;
}

export const rememberMade = (
  transaction: Prisma.TransactionClient,
  { key_hash, request_hash }: Repeatable,
  deploymentId: string,
) => transaction.$executeRaw`
  INSERT INTO repeatable_requests (key_hash, request_hash, deployment_id) VALUES (${key_hash}, ${request_hash}, ${deploymentId}::uuid)
  ON CONFLICT (key_hash) DO UPDATE SET request_hash = excluded.request_hash, deployment_id = excluded.deployment_id, created_at = now()`;
