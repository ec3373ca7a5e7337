import type { Endpoint } from '@svc/contract';
import { Problem, perform, type Route, refuseLargeRead, requestIdOf } from '@svc/http';
import { isAdmittedBy, MCP_PATH, type McpOptions, routeTo } from '@svc/mcp';
import type { RequestContext } from '../api/request/context.ts';
import { admitTo, type Entrance } from '../api/request/entrance.ts';
import { callerKey } from '../identity/principal.ts';

type Routes = readonly Route<RequestContext>[];

/**
 * Authenticates requests to the MCP endpoint, and performs the operations of their callers. The hub
 * records only changes of administrators, so that the operations have no entries in the audit log.
 */
export const createMcpEntrance =
  ({ authenticate }: Pick<Entrance, 'authenticate'>, routes: Routes): McpOptions['enter'] =>
  async (req, res, signal) => {
    const caller = await authenticate(req, res);
    const requestId = requestIdOf(res);
    const context: RequestContext = {
      ...caller,
      request: { id: requestId, method: req.method, path: MCP_PATH },
      requireConsole: () => {
        throw new Problem('wrong_origin', 'Only the console can have this session.');
      },
      keyHash: undefined,
      headOnly: false,
      hasEtag: () => false,
      ifMatch: () => () => true,
      refuseLargeRead,
    };
    const admit = (endpoint: Endpoint) => admitTo(endpoint, caller.principal);
    return {
      key: callerKey(caller.principal, caller.address),
      requestId,
      signal,
      admit,
      isAdmitted: isAdmittedBy(admit),
      perform: async (endpoint, request) => {
        admit(endpoint);
        return perform(routeTo(routes, endpoint), context, request);
      },
      useTool: () => undefined,
      writeRecords: async () => undefined,
    };
  };
