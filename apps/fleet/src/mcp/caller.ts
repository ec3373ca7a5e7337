import type { Endpoint } from '@svc/contract';
import { Problem, perform, type Route } from '@svc/http';
import { isAdmittedBy, type McpCaller, type OperationRequest, routeTo } from '@svc/mcp';
import type { RequestContext } from '../api/request/context.ts';
import type { Recording } from '../audit/recording.ts';

/** What a request to the MCP endpoint has in common with other requests of its caller. */
export interface CallerOptions {
  readonly routes: readonly Route<RequestContext>[];
  readonly key: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** The recording of the HTTP request. */
  readonly recording: Recording;
  readonly writeRecords: () => Promise<void>;
  /** @throws 403 unless the policy admits the caller to the endpoint */
  readonly admit: (endpoint: Endpoint) => void;
  /** The context of an operation with its own recording. */
  readonly contextFor: (endpoint: Endpoint, request: OperationRequest, recording: Recording) => RequestContext;
}

/**
 * Performs the operations of a caller. Each has an audit entry of its own, with the id of the
 * request.
 */
export function createCaller(options: CallerOptions): McpCaller {
  const { routes, recording, admit, contextFor } = options;
  const partFor = ({ method, path }: Endpoint, params: OperationRequest['params']) =>
    recording.part({ method: method.toUpperCase(), path: pathWith(path, params) });
  /** Records how an operation ends. */
  const recorded = async <T extends { readonly status: number }>(
    part: Recording,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      const done = await work();
      part.status = done.status;
      return done;
    } catch (error) {
      part.status = error instanceof Problem ? error.status : 500;
      throw error;
    }
  };
  return {
    key: options.key,
    requestId: options.requestId,
    signal: options.signal,
    isAdmitted: isAdmittedBy(admit),
    admit: (endpoint, given) => {
      try {
        admit(endpoint);
      } catch (error) {
        if (error instanceof Problem) partFor(endpoint, objectOf(given)).status = error.status;
        throw error;
      }
    },
    perform: (endpoint, request) => {
      const part = partFor(endpoint, request.params);
      return recorded(part, async () => {
        admit(endpoint);
        return perform(routeTo(routes, endpoint), contextFor(endpoint, request, part), request);
      });
    },
    useTool: (name) => {
      recording.tool = name;
    },
    writeRecords: options.writeRecords,
  };
}

/** The object of a call: an argument names it by its id, or a deployment also by its name. */
function objectOf({ id, deployment }: Readonly<Record<string, unknown>>): OperationRequest['params'] {
  const object = id ?? deployment;
  return typeof object === 'string' ? { id: object.toWellFormed() } : {};
}

/** The path of an endpoint with its parameters; those that are not given keep their names. */
const pathWith = (path: string, params: OperationRequest['params']) =>
  path.replace(/:(\w+)/g, (name, key: string) =>
    params[key] === undefined ? name : encodeURIComponent(String(params[key])),
  );
