import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A response to validate against the OpenAPI document. */
export interface ObservedExchange {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
  /** With lower-case names. Default: headers are not validated. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly responses?: Readonly<Record<string, { readonly content?: object; readonly headers?: object }>>;
}

interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly headers?: Readonly<Record<string, { readonly required?: boolean }>> };
}

/**
 * Headers of HTTP itself, of browsers' security rules, and of CORS. The document does not describe
 * them.
 */
const GENERAL_HEADERS =
  /^(?:connection|content-encoding|content-length|content-type|content-security-policy|date|keep-alive|transfer-encoding|vary|access-control-.*|cross-origin-.*|origin-agent-cluster|referrer-policy|x-content-type-options|x-dns-prefetch-control|x-download-options|x-frame-options|x-permitted-cross-domain-policies|x-xss-protection)$/;

const OPERATIONAL = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'];

type Check = (seen: ObservedExchange) => void;

const checks = new WeakMap<object, Check>();

/**
 * Validates responses of a service against its OpenAPI document. The check of a document is cached,
 * so that its schemas are compiled once per process.
 * @returns a check that throws if a response does not conform
 */
export function conformityTo(document: object): Check {
  const check = checks.get(document) ?? compile(document);
  checks.set(document, check);
  return check;
}

function compile(document: object): Check {
  // The type of openApiDocument is more general.
  const { paths = {}, components } = document as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const validators = new Map<string, ValidateFunction>();
  const validator = (pointer: string) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    validators.set(pointer, known);
    return known;
  };
  const patterns = Object.keys(paths)
    .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));

  return (seen) => {
    if (OPERATIONAL.some((path) => seen.path.startsWith(path)) || seen.method === 'OPTIONS' || seen.method === 'HEAD')
      return;
    const path = patterns.find(({ pattern }) => pattern.test(seen.path))?.path;
    const operation = path === undefined ? undefined : paths[path]?.[seen.method.toLowerCase()];
    const expectedType = typeOf(seen, operation);
    const documented = path !== undefined && operation !== undefined;
    const pointer = documented ? pointerOf(path, seen, expectedType) : '/components/schemas/Problem';
    const validate = validator(pointer);
    if (documented && seen.headers) {
      const declared = Object.keys(operation.responses?.[seen.status]?.headers ?? {});
      const required = declared.filter((name) => components?.headers?.[name]?.required);
      rejectHeaders(seen, seen.headers, { declared, required });
    }
    if (isEmpty(seen.status) && documented) return;
    // A media range, such as `image/*`, describes a file.
    if (!seen.type.startsWith(expectedType.replace(/\*$/, '')))
      throw nonconforming(seen, `is ${seen.type}, not ${expectedType}`);
    for (const part of partsOf(seen, expectedType)) {
      if (!validate(part)) throw nonconforming(seen, ajv.errorsText(validate.errors));
    }
  };
}

function rejectHeaders(
  seen: ObservedExchange,
  headers: Readonly<Record<string, unknown>>,
  { declared, required }: { readonly declared: readonly string[]; readonly required: readonly string[] },
): void {
  const missing = required.filter((name) => headers[name.toLowerCase()] === undefined);
  if (missing.length > 0) throw nonconforming(seen, `has no ${missing.join(', ')}`);
  const known = new Set(declared.map((name) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter((name) => !known.has(name) && !GENERAL_HEADERS.test(name));
  if (unknown.length > 0) throw nonconforming(seen, `has undeclared headers: ${unknown.join(', ')}`);
}

/**
 * The expected media type of a response: the documented one, or else the default for its status.
 */
function typeOf({ status }: ObservedExchange, operation: Operation | undefined): string {
  const [documented] = Object.keys(operation?.responses?.[status]?.content ?? {});
  return documented ?? (status < 400 ? 'application/json' : 'application/problem+json');
}

function pointerOf(path: string, { method, status }: ObservedExchange, type: string): string {
  const escapeName = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
  const escaped = escapeName(path).replaceAll('{', '%7B').replaceAll('}', '%7D');
  const response = `/paths/${escaped}/${method.toLowerCase()}/responses/${status}`;
  return isEmpty(status) ? response : `${response}/content/${escapeName(type)}/schema`;
}

/** The values to which the schema applies: a JSON document, or each line of a stream. */
function partsOf({ body }: ObservedExchange, type: string): readonly unknown[] {
  if (/[/+]json$/.test(type)) return [body];
  const lines = String(body)
    .split('\n')
    .filter((line) => line !== '');
  return type === 'application/x-ndjson' ? lines.map(parseJson) : lines;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // matches no schema
  }
}

/** Whether responses with this status have no body. */
const isEmpty = (status: number) => [204, 302, 304].includes(status);

const nonconforming = ({ method, path, status }: ObservedExchange, why: string) =>
  new Error(`the response ${status} to ${method} ${path} does not conform to the OpenAPI document: ${why}`);
