import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

/** A refresh token that is to be exchanged; tokens by their hashes. */
export interface Rotation {
  readonly hash: string;
  readonly successor: string;
  /** Of the temporary admin, as they are now; null where there is none. */
  readonly fingerprint: string | null;
}

interface Row {
  readonly id: string;
  /** Two parties hold tokens of this session: one of them stole it. */
  readonly shared: boolean;
}

/**
 * Exchanges a refresh token for its successor. A repeat within ten seconds, before a successor was used, is a lost answer
 * and gets a successor too; any other second use, of the token or of two of its successors, ends the session.
 * @returns the session's id, or undefined when the token is not good
 */
export async function rotateRefreshToken({ client }: Database, rotation: Rotation): Promise<string | undefined> {
  const { hash, successor } = rotation;
  return client.$transaction(async (transaction) => {
    const row = await lockSession(transaction, rotation);
    if (!row) return undefined;
    if (row.shared) {
      await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${row.id}::uuid`;
      return undefined;
    }
    await transaction.$executeRaw`
        UPDATE refresh_tokens SET used_at = coalesce(used_at, now()) WHERE token_hash = ${hash}`;
    await transaction.$executeRaw`
        INSERT INTO refresh_tokens (token_hash, session_id, parent_hash) VALUES (${successor}, ${row.id}::uuid, ${hash})`;
    return row.id;
  });
}

/** Finds a token's session and locks it: two uses of one token come one after the other. */
async function lockSession(
  transaction: Prisma.TransactionClient,
  { hash, fingerprint }: Rotation,
): Promise<Row | undefined> {
  await transaction.$queryRaw`
    SELECT FROM sessions WHERE id = (SELECT session_id FROM refresh_tokens WHERE token_hash = ${hash}) FOR UPDATE`;
  const [row] = await transaction.$queryRaw<Row[]>`
    SELECT s.id,
           t.used_at <= now() - interval '10 seconds' IS TRUE
           OR t.used_at IS NOT NULL AND EXISTS (
             SELECT FROM refresh_tokens n WHERE n.parent_hash = t.token_hash AND n.used_at IS NOT NULL)
           OR EXISTS (
             SELECT FROM refresh_tokens n
             WHERE n.parent_hash = t.parent_hash AND n.token_hash <> t.token_hash AND n.used_at IS NOT NULL) AS shared
    FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id
    WHERE t.token_hash = ${hash} AND s.ended_at IS NULL AND s.expires_at > now()
      AND (s.user_id IS NOT NULL OR s.fingerprint = ${fingerprint})`;
  return row;
}
