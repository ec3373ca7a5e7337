import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../src/index.ts';
import { fleetService, hubService, openApiDocument, problems, problemsOf } from '../src/index.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: unknown }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: object; readonly headers?: object }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const TYPES: readonly unknown[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

/** All objects in a document, at any depth, without examples. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>; // not null and not an array
  for (const [name, member] of Object.entries(value)) {
    if (name !== 'example' && name !== 'examples') yield* objectsIn(member);
  }
}

/** All objects in a part of a document, and in the schemas that it references. */
function* reachable(document: object, part: unknown, seen = new Set<unknown>()): Generator<Record<string, unknown>> {
  for (const found of objectsIn(part)) {
    yield found;
    if (typeof found.$ref !== 'string' || seen.has(found.$ref)) continue;
    seen.add(found.$ref);
    yield* reachable(document, resolve(document, found.$ref), seen);
  }
}

const resolve = (document: object, pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((found, key) => (found as Record<string, unknown> | undefined)?.[key], document);

describe.each([
  ['hub', hubService],
  ['fleet', fleetService],
])('the OpenAPI document of the %s', (_, service) => {
  const original = openApiDocument(service);
  const document = JSON.parse(JSON.stringify(original)) as Document; // as the service sends it
  const endpoints: Endpoint[] = Object.values(service.endpoints);
  const pathOf = (endpoint: Endpoint) => endpoint.path.replace(/:(\w+)/g, '{$1}');
  const operationOf = (endpoint: Endpoint) => document.paths[pathOf(endpoint)]?.[endpoint.method];
  const operations = Object.values(document.paths).flatMap((atPath) => Object.values(atPath));

  test('is OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  });

  test('can be represented as JSON without loss', () => {
    expect(document).toEqual(original);
  });

  test('contains exactly the endpoints of the contract', () => {
    const named = endpoints.map((endpoint) => operationOf(endpoint)?.operationId);
    expect(named).toEqual(endpoints.map(({ operationId }) => operationId));
    expect(operations).toHaveLength(endpoints.length);
  });

  test('has unique operation ids, which are the names of the endpoints in the contract', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    expect(endpoints.map(({ operationId }) => operationId)).toEqual(Object.keys(service.endpoints));
  });

  test('has no unresolvable reference', () => {
    const references = [...objectsIn(document)].map(({ $ref }) => $ref).filter((ref) => typeof ref === 'string');
    expect(references.length).toBeGreaterThan(0);
    expect(references.filter((reference) => resolve(document, reference) === undefined)).toEqual([]);
  });

  test('uses only types of JSON Schema 2020-12, and not nullable of OpenAPI 3.0', () => {
    for (const { type, nullable, properties } of objectsIn(document)) {
      if (properties === undefined && (typeof type === 'string' || Array.isArray(type))) {
        const unknown = [type].flat().filter((one) => !TYPES.includes(one) && one !== 'http');
        expect(unknown).toEqual([]);
      }
      expect(typeof nullable).not.toBe('boolean');
    }
  });

  test('has only valid regular expressions as patterns', () => {
    for (const { pattern } of objectsIn(document)) {
      if (typeof pattern === 'string') expect(() => new RegExp(pattern, 'u')).not.toThrow();
    }
  });

  test('allows members of responses that a later version adds, and no unknown members of requests', () => {
    const closed = ({ additionalProperties }: Record<string, unknown>) => additionalProperties === false;
    const input = [
      ...reachable(
        document,
        operations.map(({ requestBody }) => requestBody),
      ),
    ];
    const output = [
      ...reachable(
        document,
        operations.map(({ responses }) => responses),
      ),
    ];
    expect(output.filter(closed)).toEqual([]);
    expect(input.some(closed)).toBe(true);
  });

  test('describes all tags, the server, the licence, and the version of the product', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    expect(original.info).toMatchObject({ version, license: { identifier: 'Apache-2.0' } });
    expect(original.servers).toEqual([{ url: '/', description: expect.any(String) }]);
    const described = (original.tags ?? []).map(({ name, description }) => description && name);
    expect(described).toEqual(expect.arrayContaining(endpoints.map(({ tag }) => tag)));
  });

  test('gives each request body a name, and requires it only if the service does', () => {
    for (const { operationId, bodyLimit, body } of endpoints.filter((endpoint) => endpoint.bodyLimit > 0)) {
      const name = operationId.replace(/^./, (first) => first.toUpperCase());
      const operation = operations.find((one) => one.operationId === operationId);
      expect(operation?.requestBody).toEqual({ $ref: `#/components/requestBodies/${name}` });
      const isOptional = body.safeParse({}).success;
      expect({ operationId, bodyLimit, required: original.components?.requestBodies?.[name] }).toMatchObject({
        required: { required: !isOptional },
      });
    }
  });

  test('describes ignored read-only members once, and not in each request body', () => {
    expect(original.info.description).toMatch(/read-only members .* are ignored/);
    expect(JSON.stringify(original.components?.requestBodies)).not.toMatch(/ignored|"(?:created_at|updated_at)"/);
  });

  test('states that ids are UUIDs', () => {
    const NOT_UUID = ['request_id', 'client_id'];
    const without = [...objectsIn(document)].flatMap(({ properties }) =>
      Object.entries<Record<string, unknown>>({ ...(properties as object) })
        .filter(([name]) => /^(?:.+_)?id$/.test(name) && !NOT_UUID.includes(name))
        .filter(([, schema]) => ![...objectsIn(schema)].some((one) => one.format === 'uuid'))
        // The id of a template that cannot be read can be any text. The id of a GPU is the one of
        // its engine.
        .filter(([, { description }]) => !/cannot be read|the engine uses/.test(String(description)))
        .map(([name]) => `${name}: use \`id\` or \`uuid\` of wire.ts`),
    );
    expect(without).toEqual([]);
  });

  test('declares only headers of responses that are described, and the id of the request for each response', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { headers }] of Object.entries(responses)) {
        expect({ operationId, status, headers }).toMatchObject({
          headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
        });
      }
    }
  });

  test('requires only members that exist', () => {
    for (const { required, properties, type } of objectsIn(document)) {
      // An alternative of `oneOf` states only which members of the enclosing schema it requires.
      if (Array.isArray(required) && type !== undefined)
        expect(Object.keys(properties ?? {})).toEqual(expect.arrayContaining(required));
    }
  });

  test.each(endpoints)('declares exactly the path parameters of $operationId', (endpoint) => {
    const declared = operationOf(endpoint)?.parameters ?? [];
    const inPath = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(declared.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath);
  });

  test.each(endpoints)('declares the success response and all problems of $operationId', (endpoint) => {
    const responses = operationOf(endpoint)?.responses ?? {};
    expect(responses).toHaveProperty([`${endpoint.status}`]);
    for (const code of problemsOf(endpoint, service)) {
      expect(responses[problems[code].status]?.description).toContain(`\`${code}\``);
      expect(responses[problems[code].status]?.content).toHaveProperty(['application/problem+json']);
    }
  });

  test.each(endpoints)('declares a body for $operationId only if the service reads one', (endpoint) => {
    const isRead = endpoint.bodyLimit > 0 || endpoint.upload !== undefined;
    expect(operationOf(endpoint)?.requestBody !== undefined).toBe(isRead);
  });

  test.each(endpoints)('declares whether $operationId requires a credential', (endpoint) => {
    const open = service.open.includes(endpoint.access);
    expect(operationOf(endpoint)?.security).toEqual(open ? [{}, { bearer: [] }] : [{ bearer: [] }]);
  });
});

test('a literal path and a path with a parameter at the same place are both documented', () => {
  const { paths = {} } = openApiDocument(hubService);
  expect(paths).toHaveProperty(['/api/v1/catalog/templates/updates', 'get', 'operationId'], 'listTemplateUpdates');
  expect(paths).toHaveProperty(['/api/v1/catalog/templates/{slug}', 'get', 'operationId'], 'getTemplate');
});

test('the document states the rules of a query: a page size is an integer from 1 to 100, by default 50', () => {
  const { paths = {} } = openApiDocument(hubService);
  const parameters = (paths['/api/v1/catalog/templates']?.get?.parameters ?? []) as { name: string; schema: object }[];
  expect(parameters.find(({ name }) => name === 'limit')).toMatchObject({
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  });
});
