import { problemDocument, problems } from '@svc/contract';
import { conformityTo } from '../conformity.ts';
import type { WireAnswer } from './wire.ts';
import type { HostileRequest } from './written.ts';

/** What Node's parser answers by itself, without a body. */
const PARSER_REFUSALS: readonly number[] = [400, 413, 431];

/** Holds the answer to a hostile request against what was promised. @returns a check that throws where it is broken */
export function oracleOf(document: object): (request: HostileRequest, answer: WireAnswer | undefined) => void {
  const conform = conformityTo(document);
  return (request, answer) => {
    if (!answer) {
      if (request.unreadable) return;
      throw new Error('the connection ended without an answer');
    }
    const { status, headers } = answer;
    const text = answer.body.toString('utf8');
    if (status >= 500) throw new Error(`${status}: ${text}`);
    if (request.unreadable && PARSER_REFUSALS.includes(status) && text === '' && !headers['x-request-id']) return;
    if (request.headOnly) return;
    if (status >= 400) requireProblem(answer, text);
    if (request.unreadable) return; // what its target is, only the parser knows
    if (request.elsewhere && status >= 400) return;
    const type = headers['content-type'] ?? '';
    const body = /[/+]json\b/.test(type) ? JSON.parse(text) : text;
    conform({ method: request.method, path: pathOf(request.target), status, type, body });
  };
}

const pathOf = (target: string) => target.split(/[?#]/, 1)[0] ?? target;

function requireProblem({ status, headers }: WireAnswer, text: string): void {
  const type = headers['content-type'] ?? 'no Content-Type';
  if (!type.startsWith('application/problem+json')) throw new Error(`${status} with ${type}: ${text}`);
  const { code, status: told, request_id } = problemDocument.parse(JSON.parse(text));
  if (problems[code].status !== status || told !== status) throw new Error(`${status} does not go with ${text}`);
  if (request_id !== headers['x-request-id']) throw new Error(`X-Request-Id is not the request_id of ${text}`);
}
