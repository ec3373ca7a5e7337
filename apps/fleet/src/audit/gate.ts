import type { BearerCredential } from '@svc/auth';
import { holdResponse, notRecorded } from '@svc/http';
import type { Request, RequestHandler } from 'express';
import { findToken } from '../auth/mcp-tokens.ts';
import type { Database } from '../database/client.ts';
import { createEntryWriter } from './entries.ts';
import { Recording } from './recording.ts';

declare global {
  namespace Express {
    /** The values that the audit gate provides to the handlers of the request. */
    interface Locals {
      credential: BearerCredential;
      recording: Recording;
    }
  }
}

/**
 * Runs before routing and parsing. A request with a stored token, active or not, has exactly one audit entry,
 * regardless of its path, method and body, and its response is sent after the entry is committed. While entries cannot
 * be written, the response is 503. A request that is rejected because it has two credentials is recorded for the first
 * token that is stored.
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
    holdResponse(res, async ({ status }) => {
      const entry = recording.isRequired && !recording.isWritten ? recording.entry(status) : undefined;
      if (!entry) return;
      await writer.write(entry).catch((cause: unknown) => {
        if (status !== 503) throw cause; // a 503 already asks the caller to retry
      });
    });
    next();
  };
}

/**
 * Checks that audit entries can be written, by writing an entry and rolling it back. It is called before operations
 * that change something outside a transaction, because an operation that cannot be recorded must not run. @throws 503
 */
export async function requireWritableAuditLog({ client }: Database): Promise<void> {
  try {
    await client.$executeRaw`
      DO $$ BEGIN
        INSERT INTO audit_entries (id, actor, method, path, status, request_id)
        VALUES (gen_random_uuid(), '', '', '', 0, '');
        RAISE EXCEPTION USING ERRCODE = 'AU000';
      EXCEPTION WHEN SQLSTATE 'AU000' THEN NULL;
      END $$`;
  } catch (cause) {
    throw notRecorded(cause);
  }
}
