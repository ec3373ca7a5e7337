import type { Endpoint, Input } from '@svc/contract';
import express, { type Request, type Response } from 'express';
import { z } from 'zod';
import { notFound, Problem } from './problem.ts';

type Place = 'query' | 'body';
type Complaint = { readonly path: string; readonly message: string };

/** Reads and checks everything that an endpoint takes. Refuses with 400, 404 (a path that can't name anything), 413, 415. */
export async function readInput<E extends Endpoint>(endpoint: E, req: Request, res: Response): Promise<Input<E>> {
  const params = endpoint.params.safeParse(req.params);
  if (!params.success || Object.values(req.params).some((param) => isBadText(String(param)))) throw notFound();
  const query = validate(endpoint.query, readQuery(req.url), 'query');
  const body =
    endpoint.bodyLimit > 0 ? validate(endpoint.body, await readBody(req, res, endpoint.bodyLimit), 'body') : {};
  return { params: params.data, query, body } as Input<E>; // each member was parsed by the endpoint's own schema
}

/** The parameters of a query, each at most once, strictly decoded (WHATWG form encoding). */
export function readQuery(url: string): Record<string, string> {
  const start = url.indexOf('?');
  const pairs =
    start < 0
      ? []
      : url
          .slice(start + 1)
          .split('&')
          .filter((pair) => pair !== '');
  const query: Record<string, string> = {};
  for (const pair of pairs) {
    const [name = '', ...rest] = pair.split('=');
    const key = decode(name, '');
    if (Object.hasOwn(query, key)) throw invalid([{ path: key, message: 'must be given once' }]);
    Object.defineProperty(query, key, { value: decode(rest.join('='), key), enumerable: true, configurable: true });
  }
  refuseBadText(query);
  return query;
}

function decode(part: string, path: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw invalid([{ path, message: 'must be percent-encoded UTF-8' }]);
  }
}

async function readBody(req: Request, res: Response, limit: number): Promise<unknown> {
  if (!hasBody(req)) return {};
  refuseOtherMedia(req);
  const bytes = await readBytes(req, res, limit);
  if (bytes.length === 0) return {};
  const value = parseJson(bytes);
  refuseBadText(value);
  return value;
}

const hasBody = (req: Request) =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

const JSON_MEDIA = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

function refuseOtherMedia(req: Request): void {
  const type = req.headers['content-type'] ?? '';
  if (!JSON_MEDIA.test(type)) {
    throw new Problem(
      'unsupported_media_type',
      'The body must be JSON: send Content-Type: application/json, in UTF-8.',
    );
  }
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'The body must not be compressed: leave Content-Encoding out.');
  }
}

function readBytes(req: Request, res: Response, limit: number): Promise<Buffer> {
  const read = express.raw({ type: () => true, limit, inflate: false });
  return new Promise((resolve, reject) => {
    read(req, res, (error?: unknown) => {
      if (!error) resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
      else reject(bodyProblem(error, limit));
    });
  });
}

function bodyProblem(error: unknown, limit: number): Problem {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  return type === 'entity.too.large'
    ? new Problem('payload_too_large', `The body must have at most ${limit} bytes.`)
    : new Problem('invalid_request', 'The body did not arrive whole.', { cause: error });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid([{ path: '', message: 'The body is not JSON in UTF-8.' }]);
  }
}

const MAX_DEPTH = 32;

/** Refuses what no column and no other program takes: NUL, lone surrogates, deep nesting, `__proto__`. */
function refuseBadText(value: unknown): void {
  const waiting: { readonly value: unknown; readonly path: string; readonly depth: number }[] = [
    { value, path: '', depth: 1 },
  ];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value: found, path, depth } = next;
    if (typeof found === 'string' && isBadText(found)) {
      throw invalid([{ path, message: 'must be well-formed text without the character NUL' }]);
    }
    if (typeof found !== 'object' || found === null) continue;
    if (depth > MAX_DEPTH) throw invalid([{ path: '', message: `must not nest deeper than ${MAX_DEPTH}` }]);
    for (const [key, member] of Object.entries(found)) {
      if (key === '__proto__' || isBadText(key))
        throw invalid([{ path, message: 'has a member whose name is not allowed' }]);
      waiting.push({ value: member, path: path === '' ? key : `${path}.${key}`, depth: depth + 1 });
    }
  }
}

const isBadText = (text: string) => text.includes('\0') || /\p{Surrogate}/u.test(text);

function validate(schema: z.ZodType, value: unknown, place: Place): unknown {
  const result = schema.safeParse(value, { error: (issue) => (isMissing(issue) ? 'is required' : undefined) });
  if (result.success) return result.data;
  throw invalid(result.error.issues.flatMap((issue) => complaintsOf(issue, schema, place)));
}

const isMissing = (issue: { code?: string | undefined; input?: unknown }) =>
  (issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined;

function complaintsOf(issue: z.core.$ZodIssue, schema: z.ZodType, place: Place): Complaint[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => ({ path, message: `its name ${message}` }));
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  const known = path === '' && schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const noun = place === 'query' ? 'parameter' : 'member';
  const allowed = known.length > 0 ? `; allowed: ${known.join(', ')}` : '';
  return issue.keys.map((key) => ({
    path: path === '' ? key : `${path}.${key}`,
    message: `unknown ${noun}${allowed}`,
  }));
}

const MAX_COMPLAINTS = 50;
const COMPLAINTS_IN_DETAIL = 3;

/** 400 with one entry for each thing that is wrong. */
export function invalid(errors: readonly Complaint[]): Problem {
  const told = errors
    .slice(0, COMPLAINTS_IN_DETAIL)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const more = errors.length > told.length ? `; and ${errors.length - told.length} more` : '';
  return new Problem('validation_failed', `${told.join('; ')}${more}`, { errors: errors.slice(0, MAX_COMPLAINTS) });
}
