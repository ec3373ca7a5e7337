import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { validateOutput } from '@stoplight/prism-http/dist/validator/index.js';
import type { ObservedExchange } from './conformity.ts';
import { depth } from './depth.ts';

type Validate = (seen: ObservedExchange) => void;

const validators = new WeakMap<object, Promise<Validate>>();

/**
 * Validates responses with Prism, whose interpretation of OpenAPI is independent of this repository. At depth short,
 * nothing is validated, because the validation takes about 5 ms.
 */
export async function validateWithPrism(document: object, seen: ObservedExchange): Promise<void> {
  if (depth === 'short') return;
  const validator = validators.get(document) ?? prismFor(document);
  validators.set(document, validator);
  (await validator)(seen);
}

/** @returns a check that throws for a response that Prism rejects. It ignores paths that the document lacks. */
export async function prismFor(document: object): Promise<Validate> {
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
