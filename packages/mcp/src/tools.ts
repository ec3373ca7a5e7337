import {
  type CallToolResult,
  type InputRequiredResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { nearestName, type ProblemCode, type Tool } from '@svc/contract';
import { type Log, Problem, validateArguments } from '@svc/http';
import type { McpCaller } from './caller.ts';
import { ConfirmationRequired, type Confirmations, confirmWith, Declined } from './confirmation.ts';
import type { CallLimiter } from './limits.ts';
import { countCall } from './metrics.ts';
import { createAsk } from './operations.ts';
import { errorResult, structuredResult, textResult } from './results.ts';
import type { AnyMcpService } from './service.ts';
import type { ReportProgress } from './tool-handlers.ts';

/** The tools that a caller can use. They are listed in the order of their table. */
export function createToolList({ tools }: AnyMcpService): (caller: McpCaller) => ListedTool[] {
  let listed: readonly { readonly tool: Tool; readonly shown: ListedTool }[] | undefined;
  return (caller) => {
    listed ??= Object.entries(tools).map(([name, tool]) => ({ tool, shown: listedTool(name, tool) }));
    return listed.filter(({ tool }) => caller.isAdmitted(tool.calls[0])).map(({ shown }) => shown);
  };
}

const listedTool = (name: string, { title, description, inputSchema, outputSchema, hints }: Tool): ListedTool => ({
  name,
  title,
  description,
  inputSchema: inputSchema as ListedTool['inputSchema'], // derived from an object
  // Derived from an object, like the schema of the input.
  ...(outputSchema ? { outputSchema: outputSchema as NonNullable<ListedTool['outputSchema']> } : {}),
  annotations: { title, ...hints },
});

interface CallOptions {
  readonly service: AnyMcpService;
  readonly limiter: CallLimiter;
  readonly confirmations: Confirmations;
  readonly log: Log;
}

interface Call {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly caller: McpCaller;
  readonly context: ServerContext;
}

type Outcome = {
  readonly code: ProblemCode | 'ok' | 'confirmation';
  readonly result: CallToolResult | InputRequiredResult;
};

/**
 * Calls a tool. Each rejection of the call or of its operations is a result.
 * @throws -32602 for an unknown tool
 */
export async function callTool(options: CallOptions, call: Call): Promise<CallToolResult | InputRequiredResult> {
  const { service, limiter } = options;
  const { name, caller } = call;
  const tool = Object.hasOwn(service.tools, name) ? service.tools[name] : undefined;
  if (!tool) throw unknownTool(service, name);
  const started = performance.now();
  caller.useTool(name);
  const isWait = service.waitingTools.includes(name);
  const { code, result } = await limiter
    .run(caller.key, isWait, () => run(options, { ...call, tool }))
    .catch((error: unknown) => rejected(error, options, caller));
  countCall(name, code, performance.now() - started);
  return result;
}

function unknownTool({ tools }: AnyMcpService, name: string): ProtocolError {
  const nearest = nearestName(name, Object.keys(tools));
  const hint = nearest === undefined ? 'tools/list returns the known ones' : `did you mean ${nearest}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 64)}; ${hint}`);
}

async function run({ service, confirmations }: CallOptions, call: Call & { readonly tool: Tool }): Promise<Outcome> {
  const { tool, name, caller, context, given } = call;
  caller.admit(tool.operationOf?.(given) ?? tool.calls[0], given);
  const handle = service.handlers[name];
  if (!handle) throw new Error(`the tool ${name} has no handler`);
  // The table of handlers has one for these arguments.
  const valid = validateArguments(tool.arguments, given) as never;
  const value: unknown = await handle(valid, {
    ask: createAsk(caller),
    signal: caller.signal,
    progress: progressOf(context),
    confirm: confirmWith(confirmations, context, name),
  });
  // Results are objects.
  const result = tool.result ? structuredResult(tool.result.parse(value) as object) : textResult(String(value));
  return { code: 'ok', result };
}

function rejected(error: unknown, { log }: CallOptions, { requestId }: McpCaller): Outcome {
  if (error instanceof ConfirmationRequired) return { code: 'confirmation', result: error.result };
  if (error instanceof Declined)
    return { code: 'confirmation', result: { ...textResult(error.message), isError: true } };
  const problem = problemOf(error);
  if (problem.code === 'internal') log.error({ err: error, request_id: requestId }, 'a tool failed');
  return { code: problem.code, result: errorResult(problem, requestId) };
}

export const problemOf = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('internal', 'Internal error. The log contains the details for the request id.', { cause: error });

function progressOf({ mcpReq }: ServerContext): ReportProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = -1;
  return async (done, total, message) => {
    last = Math.max(done, last + 0.001); // it must increase with each notification
    const params = { progressToken, progress: last, total, message };
    await mcpReq.notify({ method: 'notifications/progress', params });
  };
}
