import { holdAnswer, pathOf, requestIdOf, unavailable } from '@svc/http';
import type { Request, RequestHandler } from 'express';
import { findToken, type KnownToken } from '../auth/tokens.ts';
import type { Database } from '../database/client.ts';

const known = new WeakMap<Request, KnownToken>();

/** The MCP token that the gate found a request to bear. */
export const tokenOf = (req: Request): KnownToken | undefined => known.get(req);

const READING_METHODS = ['GET', 'HEAD', 'OPTIONS'];

const MCP_TOKEN = /^Bearer +(svcm_[0-9A-Za-z]+)$/i;

/**
 * Stands before routing and parsing: a request whose token names a row, good or not, has exactly one audit entry,
 * whatever its path, method or body, and its answer leaves when the entry is committed. While entries can't be written
 * it is answered 503.
 */
export function createAuditGate(database: Database): RequestHandler {
  return async (req, res, next) => {
    const token = await findToken(database, bearersOf(req));
    if (!token) return next();
    if (!READING_METHODS.includes(req.method)) await refuseUnrecordable(database);
    known.set(req, token);
    const path = pathOf(req.originalUrl);
    holdAnswer(res, async ({ status }, { aborted }) => {
      const actor = `token:${token.name}`;
      const entry = {
        token_id: token.id,
        actor,
        method: req.method,
        path,
        status,
        aborted,
        request_id: requestIdOf(res),
      };
      await database.client.auditEntry.create({ data: entry });
    });
    next();
  };
}

/** Every Authorization header counts here, also in a request that is refused for having two. */
function bearersOf({ rawHeaders }: Request): string[] {
  return rawHeaders.flatMap((name, index) => {
    if (index % 2 === 1 || name.toLowerCase() !== 'authorization') return [];
    const token = MCP_TOKEN.exec(rawHeaders[index + 1] ?? '')?.[1];
    return token === undefined ? [] : [token];
  });
}

/** Writes an entry and takes it back: what can't be recorded now must not be done. */
async function refuseUnrecordable({ client }: Database): Promise<void> {
  try {
    await client.$executeRaw`
      DO $$ BEGIN
        INSERT INTO audit_entries (id, actor, method, path, status, request_id)
        VALUES (gen_random_uuid(), '', '', '', 0, '');
        RAISE EXCEPTION USING ERRCODE = 'AU000';
      EXCEPTION WHEN SQLSTATE 'AU000' THEN NULL;
      END $$`;
  } catch (cause) {
    throw unavailable('The request could not be recorded, so it was not carried out.', cause);
  }
}
