import { holdAnswer, unavailable } from '@svc/http';
import type { Request, RequestHandler } from 'express';
import type { Database } from '../database/client.ts';
import { findToken } from '../tokens/lookup.ts';
import { Recording } from './recording.ts';
import { createEntryWriter } from './writer.ts';

const recordings = new WeakMap<Request, Recording>();

/** What the log is to say of a request. The gate has made one for each. */
export function recordingOf(req: Request): Recording {
  const recording = recordings.get(req);
  if (!recording) throw new Error('a request came around the gate');
  return recording;
}

const MCP_TOKEN = /^Bearer +(svcm_[0-9A-Za-z]+)$/i;

/**
 * Stands before routing and parsing: a request whose token names a row, good or not, has exactly one audit entry,
 * whatever its path, method or body, and its answer leaves when the entry is committed. While entries can't be written
 * it is answered 503.
 */
export function createAuditGate(database: Database): RequestHandler {
  const writer = createEntryWriter(database);
  return async (req, res, next) => {
    const token = await findToken(database, bearersOf(req));
    const recording = new Recording(req, res, token);
    recordings.set(req, recording);
    holdAnswer(res, async ({ status }) => {
      const entry = recording.isKept && !recording.isWritten ? recording.entry(status) : undefined;
      if (!entry) return;
      await writer.write(entry).catch((cause: unknown) => {
        if (status !== 503) throw cause; // else it says "not now" already
      });
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

/**
 * For what changes something outside a transaction: writes an entry and takes it back, since what can't be recorded now
 * must not be done. @throws 503
 */
export async function refuseUnrecordable({ client }: Database): Promise<void> {
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
