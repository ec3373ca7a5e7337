import { closeConnectionOf, type Route, refuseLargeRead, requestIdOf } from '@svc/http';
import type { McpOptions } from '@svc/mcp';
import type { RequestContext } from '../api/request/context.ts';
import { accessTo, type SharedContextOf } from '../api/request/enter.ts';
import { refuseUnapproved } from '../identity/approvals.ts';
import type { Authentication } from '../identity/authentication.ts';
import { callerKey } from '../identity/principal.ts';
import { createCaller } from './caller.ts';

interface EnterOptions {
  readonly routes: readonly Route<RequestContext>[];
  readonly authentication: Authentication;
  readonly sharedContextOf: SharedContextOf;
}

/**
 * Authenticates requests to the MCP endpoint, and creates the contexts of the operations that they
 * perform.
 */
export const createEnterMcp =
  ({ routes, authentication, sharedContextOf }: EnterOptions): McpOptions['enter'] =>
  async (req, res, signal) => {
    const principal = await authentication.authenticate(req, res, 'mcp');
    const { recording, writeParts } = res.locals;
    recording.isRequired = true;
    authentication.admitTo('signed-in', principal);
    return createCaller({
      routes,
      key: callerKey(principal),
      requestId: requestIdOf(res),
      signal,
      recording,
      writeRecords: writeParts,
      admit: (endpoint) => {
        authentication.admitTo(accessTo(endpoint), principal);
        refuseUnapproved(endpoint, principal);
      },
      contextFor: (endpoint, { version, idempotencyKey, onState }, part) => {
        const endWithCredential = authentication.endingWithCredential(res, { access: accessTo(endpoint), principal });
        if (endpoint.stream !== undefined) endWithCredential(false);
        return {
          ...sharedContextOf(req, res, principal),
          recording: part,
          ifMatch: () => (current) => version === undefined || current === version,
          idempotencyKey,
          lastEventId: undefined,
          hookProof: { signature: undefined, token: undefined },
          connection: {
            endWithCredential: () => endWithCredential(true),
            onClose: (listener) => void (signal.aborted ? listener() : signal.addEventListener('abort', listener)),
            closeAsTooSlow: () => closeConnectionOf(res, 'too_slow'),
          },
          onState,
          refuseLargeRead,
          cookie: () => undefined,
        };
      },
    });
  };
