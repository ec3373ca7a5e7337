import type { ProblemCode } from '@svc/contract';
import { processMetrics } from '@svc/http';
import { Counter, Histogram } from 'prom-client';

const calls = new Counter({
  name: 'mcp_tool_calls_total',
  help: 'Number of calls of tools, by the code of their problem, ok, or confirmation if a user was asked first',
  labelNames: ['tool', 'code'] as const,
  registers: [processMetrics],
});

const durations = new Histogram({
  name: 'mcp_tool_call_duration_seconds',
  help: 'Time from the start to the end of calls of tools',
  labelNames: ['tool'] as const,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  registers: [processMetrics],
});

/** Counts a call of a declared tool, so that clients cannot add time series. */
export function countCall(tool: string, code: ProblemCode | 'ok' | 'confirmation', milliseconds: number): void {
  calls.inc({ tool, code });
  durations.observe({ tool }, milliseconds / 1000);
}
