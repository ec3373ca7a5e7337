import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { validateOutput } from '@stoplight/prism-http/dist/validator/index.js';
import { depth } from '../run/depth.ts';
import type { ObservedExchange } from './conformity.ts';

type Validate = (seen: ObservedExchange) => void;

const validators = new WeakMap<object, Promise<Validate>>();

/** At depth full, the first response of an operation with a status is validated, and a share of the others. */
const ONE_IN = 50;

/** Whether a response is validated, by the number of earlier ones of its kind. */
const isSelected = (earlier: number): boolean => depth === 'long' || earlier % ONE_IN === 0;

/**
 * Validates responses with Prism, whose interpretation of OpenAPI is independent of this repository. At depth short,
 * nothing is validated, because the validation takes about 5 ms.
 */
export async function validateWithPrism(document: object, seen: ObservedExchange): Promise<void> {
  if (depth === 'short') return;
  const validator = validators.get(document) ?? prismFor(document, isSelected);
  validators.set(document, validator);
  (await validator)(seen);
}

/**
 * `isChosen` is called with the number of earlier responses of the same operation and status. By default, each response is validated.
 * @returns a check that throws for a response that Prism rejects. It ignores paths that the document lacks
 */
export async function prismFor(
  document: object,
  isChosen: (earlier: number) => boolean = () => true,
): Promise<Validate> {
  const counts = new Map<string, number>();
  const operations = await getHttpOperationsFromSpec(JSON.parse(JSON.stringify(document)));
  const routes = operations
    .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
    .map((operation) => ({ operation, pattern: new RegExp(`^${operation.path.replace(/\{\w+\}/g, '[^/]+')}$`) }));
  return ({ method, path, status, headers = {}, body }) => {
    const atPath = routes.filter(({ pattern }) => pattern.test(path));
    const [first] = atPath;
    const found = atPath.find(
      ({ operation }) => operation.path === first?.operation.path && operation.method === method.toLowerCase(),
    );
    if (!found) return;
    const kind = `${found.operation.method} ${found.operation.path} ${status}`;
    const earlier = counts.get(kind) ?? 0;
    counts.set(kind, earlier + 1);
    if (!isChosen(earlier)) return;
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    if (texts['content-type']?.startsWith('application/x-ndjson')) return; // Prism reads the lines as a single value
    const isEmpty = [204, 302, 304].includes(status);
    const element = { statusCode: status, headers: texts, ...(isEmpty ? {} : { body }) };
    const result = validateOutput({ resource: found.operation, element });
    if (result._tag === 'Right') return;
    const violations = result.left.map(({ path: at = [], message }) => `${at.join('.')} ${message}`);
    throw new Error(`Prism rejects the response ${status} to ${method} ${path}: ${violations.join('; ')}`);
  };
}
