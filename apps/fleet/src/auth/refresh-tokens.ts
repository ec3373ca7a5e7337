import type { Database } from '../database/client.ts';
import { translated } from '../database/translated.ts';
import type { Prisma } from '../generated/prisma/client.ts';

interface Row {
  readonly id: string;
  readonly fingerprint: string;
  readonly used: boolean;
  /** Used less than ten seconds ago, and no successor of it has been used. */
  readonly retried: boolean;
}

/**
 * Exchanges a refresh token for its successor, by their hashes. A repeat within ten seconds, before a successor was used,
 * is a lost answer and gets a successor too; any other second use ends the session.
 * @returns the session, or undefined when the token is not good
 */
export async function rotateRefreshToken(
  { client }: Database,
  hash: string,
  successor: string,
): Promise<{ readonly id: string; readonly fingerprint: string } | undefined> {
  return translated(() =>
    client.$transaction(async (transaction) => {
      const row = await lockSession(transaction, hash);
      if (!row) return undefined;
      if (row.used && !row.retried) {
        await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${row.id}::uuid`;
        return undefined;
      }
      await transaction.$executeRaw`
        UPDATE refresh_tokens SET used_at = coalesce(used_at, now()) WHERE token_hash = ${hash}`;
      await transaction.$executeRaw`
        DELETE FROM refresh_tokens AS sibling USING refresh_tokens AS used
        WHERE used.token_hash = ${hash} AND sibling.parent_hash = used.parent_hash AND sibling.used_at IS NULL`;
      await transaction.$executeRaw`
        INSERT INTO refresh_tokens (token_hash, session_id, parent_hash) VALUES (${successor}, ${row.id}::uuid, ${hash})`;
      return { id: row.id, fingerprint: row.fingerprint };
    }),
  );
}

/** Finds a token's session and locks it: two uses of one token come one after the other. */
async function lockSession(transaction: Prisma.TransactionClient, hash: string): Promise<Row | undefined> {
  await transaction.$queryRaw`
    SELECT FROM sessions WHERE id = (SELECT session_id FROM refresh_tokens WHERE token_hash = ${hash}) FOR UPDATE`;
  const [row] = await transaction.$queryRaw<Row[]>`
    SELECT s.id, s.fingerprint, t.used_at IS NOT NULL AS used,
           coalesce(t.used_at > now() - interval '10 seconds', false) AND NOT EXISTS (
             SELECT FROM refresh_tokens n WHERE n.parent_hash = t.token_hash AND n.used_at IS NOT NULL) AS retried
    FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id
    WHERE t.token_hash = ${hash} AND s.ended_at IS NULL AND s.expires_at > now()`;
  return row;
}
