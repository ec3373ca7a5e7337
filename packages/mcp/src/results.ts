import type { CallToolResult } from '@modelcontextprotocol/server';
import { Problem } from '@svc/http';

/**
 * The maximum number of characters of a result. A client writes longer results into a file or cuts
 * them, and some proxies reject lines of a megabyte.
 */
const MAX_CHARACTERS = 40_000;

/**
 * A structured result, and the same JSON as text: some clients show a model the one, some the
 * other.
 */
export function structuredResult(value: object): CallToolResult {
  const text = JSON.stringify(value);
  if (text.length > MAX_CHARACTERS) {
    throw new Problem(
      'payload_too_large',
      `The result has ${text.length} characters, and at most ${MAX_CHARACTERS} are allowed. Request less: a smaller limit, a filter, or no include.`,
    );
  }
  // It is an object.
  return { content: [{ type: 'text', text }], structuredContent: value as Record<string, unknown> };
}

export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** The last lines that fit in a result. */
export function lastLines(lines: readonly string[]): readonly string[] {
  let size = 0;
  const first = lines.findLastIndex((line) => {
    size += line.length + 1;
    return size > MAX_CHARACTERS;
  });
  return lines.slice(first + 1);
}

/** A rejection in the words of its problem: the code first, so that a model can distinguish it. */
export function errorResult(problem: Problem, requestId: string): CallToolResult {
  const { code, status, message, errors = [], headers } = problem;
  const lines = [
    `${code} (${status}): ${message}`,
    ...(errors.length > 1 ? errors.map((error) => `- ${error.path}: ${error.message}`) : []),
    ...(headers['Retry-After'] ? [`Retry in ${headers['Retry-After']} s.`] : []),
    ...(status >= 500 ? [`request_id: ${requestId}`] : []),
  ];
  return {
    content: [{ type: 'text', text: lines.join('\n').slice(0, MAX_CHARACTERS) }],
    isError: true,
    _meta: { 'svc/problem': problem.document(requestId) },
  };
}
