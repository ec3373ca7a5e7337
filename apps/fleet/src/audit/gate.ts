import type { BearerCredential } from '@svc/auth';
import { holdAnswer, unavailable } from '@svc/http';
import type { Request, RequestHandler } from 'express';
import { findToken } from '../auth/mcp-tokens.ts';
import type { Database } from '../database/client.ts';
import { createEntryWriter } from './entries.ts';
import { Recording } from './recording.ts';

declare global {
  namespace Express {
    /** What the audit gate leaves for the rest of the request. */
    interface Locals {
      credential: BearerCredential;
      recording: Recording;
    }
  }
}

/**
 * Runs before routing and parsing. A request whose token names a row, active or not, has exactly one audit entry, whatever
 * its path, method or body, and its answer leaves after the entry is committed. While entries can't be written, the answer
 * is 503. A request that is rejected for sending two credentials counts for the first token that is known.
 */
export function createAuditGate(
  database: Database,
  readCredential: (req: Request) => BearerCredential,
): RequestHandler {
  const writer = createEntryWriter(database);
  return async (req, res, next) => {
    const credential = readCredential(req);
    const recording = new Recording(req, res, await findToken(database, credential.candidates));
    Object.assign(res.locals, { credential, recording });
    holdAnswer(res, async ({ status }) => {
      const entry = recording.isKept && !recording.isWritten ? recording.entry(status) : undefined;
      if (!entry) return;
      await writer.write(entry).catch((cause: unknown) => {
        if (status !== 503) throw cause; // a 503 tells the caller to retry already
      });
    });
    next();
  };
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
