import type { BearerCredential } from '@svc/auth';
import { closeConnectionOf, holdResponse, notRecorded } from '@svc/http';
import type { Request, RequestHandler } from 'express';
import type { Database } from '../database/client.ts';
import { findToken } from '../identity/mcp-tokens.ts';
import { createEntryWriter } from './entries.ts';
import { type Due, Recording } from './recording.ts';
import { createRejections, type RejectionLimits } from './rejections.ts';

declare global {
  namespace Express {
    /** The values that the audit gate provides to the handlers of the request. */
    interface Locals {
      credential: BearerCredential;
      recording: Recording;
      /** The rate limit applies to the request whatever its path, because it has an entry. */
      isLimited: boolean;
      /**
       * Writes the entries of the operations that the request has performed so far, before a part
       * of a response is sent. The other entries are written before the response begins.
       */
      writeParts: () => Promise<void>;
    }
  }
}

export interface AuditGateOptions {
  readonly database: Database;
  readonly readCredential: (req: Request) => BearerCredential;
  /** The limits of production apply unless given. */
  readonly rejectionLimits?: RejectionLimits | undefined;
}

/**
 * Runs before routing and parsing. A request with a stored token, active or not, has exactly one
 * audit entry, regardless of its path, method and body, and its response is sent after the entry is
 * committed. While entries cannot be written, the response is 503. A request to the MCP endpoint
 * has further entries, one for each operation that it performs. A request that is rejected because
 * it has two credentials is recorded for the first token that is stored. The rejections of
 * rate-limited requests wait for each other. If too many wait, the connection is closed: the
 * request is not processed, is not answered and has no entry.
 */
export function createAuditGate({ database, readCredential, rejectionLimits }: AuditGateOptions): RequestHandler {
  const writer = createEntryWriter(database);
  const rejections = createRejections(rejectionLimits);
  return async (req, res, next) => {
    const credential = readCredential(req);
    const token = await findToken(database, credential.candidates);
    const recording = Recording.ofRequest(req, res, token);
    const write = async (due: readonly Due[]) => {
      if (due.length === 0) return;
      await writer.write(due.map(({ entry }) => entry));
      for (const { of } of due) of.isWritten = true;
    };
    Object.assign(res.locals, {
      credential,
      recording,
      isLimited: token !== undefined,
      writeParts: () => write(recording.dueParts()),
    });
    holdResponse(res, async (answer) => {
      const status = answer.problemStatus ?? answer.status;
      const rejected = status === 429 ? token : undefined;
      if (rejected && rejections.isFull(rejected.id)) return closeConnectionOf(res, 'rate_limited');
      const turn = rejected && rejections.wait(rejected.id);
      await write([...recording.due(status), ...recording.dueParts()]).catch((cause: unknown) => {
        if (status !== 503) throw cause; // a 503 already asks the caller to retry
      });
      await turn;
      if (rejected && rejections.isLast(req.socket)) res.setHeader('Connection', 'close');
    });
    next();
  };
}

/**
 * Checks that audit entries can be written, by writing an entry and rolling it back. It is called
 * before operations that change something outside a transaction, because an operation that cannot
 * be recorded must not run. @throws 503
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
