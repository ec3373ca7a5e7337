import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** An answer as it is held against the OpenAPI document. */
export interface Seen {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const OPERATIONAL = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'];

/** Holds every answer of a service against its OpenAPI document. @returns a check that throws where an answer is outside it */
export function conformityTo(document: object): (seen: Seen) => void {
  const { paths = {} } = document as Document; // as openApiDocument makes it
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
    const documented = path !== undefined && paths[path]?.[seen.method.toLowerCase()] !== undefined;
    const validate = documented ? validator(pointerOf(path, seen)) : validator('/components/schemas/Problem');
    if (isEmpty(seen.status) && documented) return;
    const expectedType = seen.status < 400 ? 'application/json' : 'application/problem+json';
    if (!seen.type.startsWith(expectedType)) throw outside(seen, `is ${seen.type}, not ${expectedType}`);
    if (!validate(seen.body)) throw outside(seen, ajv.errorsText(validate.errors));
  };
}

function pointerOf(path: string, { method, status }: Seen): string {
  const type = status < 400 ? 'application~1json' : 'application~1problem+json';
  const escaped = path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
  const response = `/paths/${escaped}/${method.toLowerCase()}/responses/${status}`;
  return isEmpty(status) ? response : `${response}/content/${type}/schema`;
}

/** Answers without a body. */
const isEmpty = (status: number) => status === 204 || status === 304;

const outside = ({ method, path, status }: Seen, why: string) =>
  new Error(`${method} ${path} answered ${status}, outside its OpenAPI document: ${why}`);
