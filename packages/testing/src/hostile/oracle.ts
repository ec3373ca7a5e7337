import { problemDocument, problems } from '@svc/contract';
import { conformityTo } from '../api/conformity.ts';
import type { WireResponse } from './wire.ts';
import type { HostileRequest } from './written.ts';

/** The statuses with which Node's HTTP parser responds by itself, without a body. */
const PARSER_REFUSALS: readonly number[] = [400, 413, 431];

/** Validates responses to hostile requests. @returns a check that throws for an invalid response */
export function oracleOf(document: object): (request: HostileRequest, response: WireResponse | undefined) => void {
  const conform = conformityTo(document);
  return (request, response) => {
    if (!response) {
      if (request.unreadable) return;
      throw new Error('the connection ended without a response');
    }
    const { status, headers } = response;
    const text = response.body.toString('utf8');
    if (status >= 500) throw new Error(`${status}: ${text}`);
    if (request.unreadable && PARSER_REFUSALS.includes(status) && text === '' && !headers['x-request-id']) return;
    if (request.headOnly) return;
    if (status >= 400) requireProblem(response, text);
    if (request.unreadable) return; // the target is unknown, because the request is malformed
    if (request.elsewhere && status >= 400) return;
    const type = headers['content-type'] ?? '';
    const body = /[/+]json\b/.test(type) ? JSON.parse(text) : text;
    conform({ method: request.method, path: pathOf(request.target), status, type, body, headers });
  };
}

const pathOf = (target: string) => target.split(/[?#]/, 1)[0] ?? target;

function requireProblem({ status, headers }: WireResponse, text: string): void {
  const type = headers['content-type'] ?? 'no Content-Type';
  if (!type.startsWith('application/problem+json')) throw new Error(`${status} with ${type}: ${text}`);
  const { code, status: documentStatus, request_id } = problemDocument.parse(JSON.parse(text));
  if (problems[code].status !== status || documentStatus !== status)
    throw new Error(`status ${status} does not match ${text}`);
  if (request_id !== headers['x-request-id']) throw new Error(`X-Request-Id does not match ${text}`);
}
