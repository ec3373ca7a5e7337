import { setImmediate } from 'node:timers/promises';
import { type Endpoint, type Input, parseFields, type Upload } from '@svc/contract';
import express, { type Request, type Response } from 'express';
import type { z } from 'zod';
import { clientNetworks } from '../limits/client-networks.ts';
import { structureProblem } from '../limits/json-bounds.ts';
import { createTurnQueue } from '../limits/turn-queue.ts';
import { invalid, notFound, Problem } from '../response/problem.ts';

/**
 * Reads and validates the input of a request. Throws 400, 404 (a path parameter that cannot be
 * valid), 413, 415.
 */
export async function readInput<E extends Endpoint>(endpoint: E, req: Request, res: Response): Promise<Input<E>> {
  const address = validateAddress(endpoint, { params: req.params, query: readQuery(req.url) });
  const { upload } = endpoint;
  const body = upload
    ? await readUpload(req, res, upload)
    : endpoint.bodyLimit > 0
      ? await readBody(req, res, endpoint)
      : {};
  // Each member was parsed by the endpoint's own schema.
  return { ...address, body } as Input<E>;
}

/**
 * The input of an operation that is not a request of its own: the parts of its path, its query and
 * its body.
 */
export interface GivenInput {
  readonly params: Readonly<Record<string, unknown>>;
  /** Parameters as text, as in a URL. */
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Validates input as `readInput` does. @throws 400, 404 */
export function validateInput<E extends Endpoint>(endpoint: E, { params, query, body }: GivenInput): Input<E> {
  rejectBadText(query);
  rejectBadText(body);
  // Each member was parsed by the endpoint's own schema.
  return { ...validateAddress(endpoint, { params, query }), body: validateBody(endpoint, body) } as Input<E>;
}

function validateAddress(endpoint: Endpoint, { params: given, query }: Pick<GivenInput, 'params' | 'query'>) {
  const params = endpoint.params.safeParse(given);
  if (!params.success || Object.values(given).some((param) => isBadText(String(param)))) throw notFound();
  return { params: params.data, query: validate(endpoint.query, query, 'parameter') };
}

const validateBody = (endpoint: Endpoint, body: unknown) =>
  endpoint.bodyLimit > 0 ? validate(endpoint.body, body, 'member') : {};

/**
 * Reads a body of JSON. Its text is not validated: the operations that it names validate what they
 * receive.
 * @throws 400, 413, 415
 */
export async function readJson(req: Request, res: Response, limit: number): Promise<unknown> {
  requireJson(req);
  const bytes = await readBytes(req, res, limit);
  return inTurn(req, bytes, () => parseBounded(bytes, limit));
}

/**
 * Parses the query of a URL (WHATWG form encoding). Rejects repeated parameters and invalid
 * percent-encoding.
 */
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
    if (Object.hasOwn(query, key)) throw invalid([{ path: key, message: 'must not be repeated' }]);
    Object.defineProperty(query, key, { value: decode(rest.join('='), key), enumerable: true, configurable: true });
  }
  rejectBadText(query);
  return query;
}

function decode(part: string, path: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw invalid([{ path, message: 'must be percent-encoded UTF-8' }]);
  }
}

async function readBody(req: Request, res: Response, endpoint: Endpoint): Promise<unknown> {
  const { bodyLimit } = endpoint;
  if (!hasBody(req)) return validateBody(endpoint, {});
  requireJson(req);
  const bytes = await readBytes(req, res, bodyLimit);
  if (bytes.length === 0) return validateBody(endpoint, {});
  return inTurn(req, bytes, () => {
    const value = parseBounded(bytes, bodyLimit);
    rejectBadText(value);
    return validateBody(endpoint, value);
  });
}

/** Smaller bodies are parsed at once: they cost less than the rest of their requests. */
const SMALL_BYTES = 4096;

/**
 * The bodies of a process that wait to be parsed. A large one can take milliseconds, during which
 * the process does nothing else.
 */
const bodies = createTurnQueue({
  what: 'requests with large bodies',
  running: 1,
  waitingPerCaller: 64,
  waitMs: 10_000,
});

/**
 * Parses a body. Large ones take turns by client network, and other work of the process runs
 * between two of them.
 */
async function inTurn<T>(req: Request, { length }: Buffer, parse: () => T): Promise<T> {
  if (length <= SMALL_BYTES) return parse();
  return bodies.run(
    clientNetworks(req.ip ?? '').network,
    async () => {
      await setImmediate();
      return parse();
    },
    length,
  );
}

function parseBounded(bytes: Buffer, limit: number): unknown {
  const problem = structureProblem(bytes, limit);
  if (problem !== undefined) throw invalid([{ path: '', message: problem }]);
  return parseJson(bytes);
}

/** The bytes of a file. A body that is left out is an empty one. */
async function readUpload(req: Request, res: Response, { type, limit }: Upload): Promise<Buffer> {
  if (!hasBody(req)) return Buffer.alloc(0);
  if (req.headers['content-type'] !== type) {
    throw new Problem('unsupported_media_type', `The body must be a file with Content-Type: ${type}.`);
  }
  refuseEncoded(req);
  return readBytes(req, res, limit);
}

const hasBody = (req: Request) =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

const JSON_MEDIA = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

function requireJson(req: Request): void {
  const type = req.headers['content-type'] ?? '';
  if (!JSON_MEDIA.test(type)) {
    throw new Problem('unsupported_media_type', 'The body must be JSON in UTF-8, with Content-Type: application/json.');
  }
  refuseEncoded(req);
}

function refuseEncoded(req: Request): void {
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'The body must not be compressed: omit Content-Encoding.');
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
    : new Problem('invalid_request', 'The body is incomplete.', { cause: error });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid([{ path: '', message: 'The body must be valid JSON in UTF-8.' }]);
  }
}

/**
 * Rejects values that PostgreSQL or other programs do not accept: NUL, lone surrogates, and the
 * member `__proto__`.
 */
function rejectBadText(value: unknown): void {
  const bad = findBadText(value);
  if (bad) throw invalid([{ path: bad.path.join('.'), message: bad.message }]);
}

interface BadText {
  readonly path: readonly string[];
  readonly message: string;
}

/** Paths are composed only for what is found: a body can have thousands of members. */
function findBadText(value: unknown): BadText | undefined {
  if (typeof value === 'string') {
    return isBadText(value)
      ? { path: [], message: 'must be well-formed Unicode without the character NUL' }
      : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__' || isBadText(key)) {
      return { path: [], message: 'has a member with a name that is not allowed' };
    }
    const bad = findBadText(member);
    if (bad) return { ...bad, path: [key, ...bad.path] };
  }
  return undefined;
}

const isBadText = (text: string) => text.includes('\0') || !text.isWellFormed();

function validate(schema: z.ZodType, value: unknown, noun: 'member' | 'parameter'): unknown {
  const result = parseFields(schema, value, noun);
  if (!result.success) throw invalid(result.errors);
  return result.data;
}

/** Validates the arguments of a tool. @throws 400 with a field error for each of them */
export function validateArguments<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  rejectBadText(value);
  const result = parseFields(schema, value, 'argument');
  if (!result.success) throw invalid(result.errors);
  return result.data;
}
