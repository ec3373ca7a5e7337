import { holdAnswer, pathOf, requestIdOf } from '@svc/http';
import type { Request, RequestHandler } from 'express';
import { findToken, type KnownToken } from '../auth/tokens.ts';
import type { Database } from '../database/client.ts';

const known = new WeakMap<Request, KnownToken>();

/** The MCP token that the gate found a request to bear. */
export const tokenOf = (req: Request): KnownToken | undefined => known.get(req);

const MCP_TOKEN = /^Bearer +(svcm_[0-9A-Za-z]+)$/i;

/**
 * Stands before routing and parsing: a request whose token names a row, good or not, has exactly one audit entry,
 * whatever its path, method or body, and its answer leaves when the entry is committed. While entries can't be written
 * it is answered 503.
 */
export function createAuditGate(database: Database): RequestHandler {
  return async (req, res, next) => {
    const token = await firstKnown(database, bearersOf(req));
    if (!token) return next();
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

async function firstKnown(database: Database, tokens: readonly string[]): Promise<KnownToken | undefined> {
  for (const token of tokens) {
    const row = await findToken(database, token);
    if (row) return row;
  }
  return undefined;
}
