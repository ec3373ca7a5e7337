export type { McpCaller, OperationRequest } from './caller.ts';
export { CALL_LIMITS, type CallLimits } from './limits.ts';
export { MCP_PATH, type McpOptions, mountMcp } from './mount.ts';
export type { Ask } from './operations.ts';
export type { McpPrompt } from './prompts.ts';
export { lastLines } from './results.ts';
export { createServerFactory } from './server.ts';
export type { AnyMcpService, McpService } from './service.ts';
export type { ReportProgress, ToolContext, ToolHandlers } from './tools.ts';
