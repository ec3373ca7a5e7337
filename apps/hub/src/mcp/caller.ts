import type { Endpoint } from '@svc/contract';
import { perform, type Route } from '@svc/http';
import { isAdmittedBy, type McpCaller, routeTo } from '@svc/mcp';
import type { RequestContext } from '../api/context.ts';

interface CallerOptions {
  readonly routes: readonly Route<RequestContext>[];
  readonly key: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** @throws 401, 403 unless the policy admits the caller to the endpoint */
  readonly admit: (endpoint: Endpoint) => void;
  /** The context of all operations of a request. */
  readonly context: RequestContext;
}

/** Performs the operations of a caller. The hub records only changes of administrators, so that it has no entries for them. */
export const createCaller = ({ routes, key, requestId, signal, admit, context }: CallerOptions): McpCaller => ({
  ...{ key, requestId, signal, admit },
  isAdmitted: isAdmittedBy(admit),
  perform: async (endpoint, request) => {
    admit(endpoint);
    return perform(routeTo(routes, endpoint), context, request);
  },
  useTool: () => undefined,
  writeRecords: async () => undefined,
});
