import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Endpoint, RequestHeader } from '../shared/endpoint.ts';
import {
  documentInput,
  inlineDefaults,
  openOutput,
  openReferences,
  removeUnused,
  type SchemaOverride,
} from '../shared/openapi-schema.ts';
import { type ProblemCode, problemDocument, problems } from '../shared/problems.ts';
import { hasLargeRows } from '../shared/reads.ts';
import { SIGN_IN_FAILURE } from '../shared/sign-in/sign-in-errors.ts';
import { addExamples } from './examples.ts';
import { headersOfResponse, responseHeaders } from './headers.ts';

export interface Service {
  readonly title: string;
  readonly description: string;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** Kinds of access that do not require a credential. */
  readonly open: readonly string[];
  /**
   * Problems that every endpoint of the service can return, other than those that follow from its
   * declaration.
   */
  readonly problems: readonly ProblemCode[];
  /** The description of each tag of the endpoints. */
  readonly tags: Readonly<Record<string, string>>;
}

type OpenApiDocument = ReturnType<typeof createDocument>;

/**
 * The OpenAPI 3.1 document of a service, derived from its endpoints. Schemas of responses allow
 * members that a later version adds. It is cached, because creating it takes about 0.1 s.
 */
export const openApiDocument = cached((service) => {
  const document = documentOf(service, [documentInput, openOutput]);
  openReferences(document);
  return document;
});

/**
 * As `openApiDocument`, but no response may have a member that the contract does not declare. For
 * tests of services.
 */
export const closedOpenApiDocument = cached((service) => documentOf(service, [documentInput]));

function cached(create: (service: Service) => OpenApiDocument): typeof create {
  const documents = new WeakMap<Service, OpenApiDocument>();
  return (service) => {
    const document = documents.get(service) ?? create(service);
    documents.set(service, document);
    return document;
  };
}

function documentOf(service: Service, overrides: readonly SchemaOverride[]): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of Object.values(service.endpoints)) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint, service) };
  }
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: service.title,
        version: productVersion(),
        description: `${service.description}\n\n${CONVENTIONS}`,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The service that serves this document' }],
      tags: Object.entries(service.tags).map(([name, description]) => ({ name, description })),
      paths,
      components: {
        headers: { ...responseHeaders },
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <token>' } },
      },
    },
    {
      override: (context) => {
        for (const override of overrides) override(context);
      },
    },
  );
  if (document.components?.requestBodies) {
    document.components.requestBodies = inlineDefaults(document.components.requestBodies, document);
  }
  removeUnused(document);
  addExamples(document);
  return document;
}

/** What applies to all endpoints. */
const CONVENTIONS = [
  'A request body can contain the read-only members of the object that it creates or changes, such as `created_at`, as a response returned them. They are ignored. All other members that are not listed are rejected with status 400.',
  'A later version can add members to responses, and values to enumerations in responses. Clients must accept them.',
  'The console of a service uses a cookie instead of a bearer token. The cookie only authenticates requests of pages that the service itself sent; programs use bearer tokens.',
  'Lengths of text count UTF-16 code units. A `format` is a hint; a `pattern` is the exact rule.',
].join('\n\n');

/**
 * The version of the product, which is the version of this package. The path contains the version
 * of the API.
 */
const productVersion = () =>
  z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version;

function operation(endpoint: Endpoint, service: Service) {
  const { params, query } = endpoint;
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    security: service.open.includes(endpoint.access) ? [{}, { bearer: [] }] : [{ bearer: [] }],
    requestParams: {
      ...(params instanceof z.ZodObject && Object.keys(params.shape).length > 0 ? { path: params } : {}),
      ...(query instanceof z.ZodObject && Object.keys(query.shape).length > 0 ? { query } : {}),
      ...(endpoint.headers.length > 0 ? { header: headersOf(endpoint) } : {}),
    },
    ...(endpoint.upload
      ? {
          requestBody: {
            id: idOfBody(endpoint),
            required: true,
            content: { [endpoint.upload.type]: { schema: { type: 'string' as const, format: 'binary' } } },
          },
        }
      : {}),
    ...(endpoint.bodyLimit > 0
      ? {
          requestBody: {
            id: idOfBody(endpoint),
            required: !endpoint.body.safeParse({}).success, // a missing body is read as {}
            content: { 'application/json': { schema: endpoint.body } },
          },
        }
      : {}),
    responses: { ...successes(endpoint), ...refusals(endpoint, service) },
  };
}

const idOfBody = ({ operationId }: Endpoint): string => operationId.replace(/^./, (first) => first.toUpperCase());

const takesBody = ({ bodyLimit, upload }: Endpoint): boolean => bodyLimit > 0 || upload !== undefined;

const HEADERS: Readonly<Record<RequestHeader, string>> = {
  'If-Match':
    'The expected version in quotes, or the ETag of a GET. If the resource has another version, the status is 412',
  'Idempotency-Key':
    'A unique value for one request. Repeating the request with the same value within 24 hours returns what the first one created, without the values that it generated',
  'Last-Event-ID': 'The `id` of the last event that was received. It takes precedence over `after`',
};

const headersOf = ({ headers }: Endpoint) =>
  z.object(
    Object.fromEntries(headers.map((name) => [name, z.string().optional().meta({ description: HEADERS[name] })])),
  );

const successes = (endpoint: Endpoint) => ({
  ...Object.fromEntries(
    [endpoint.status, endpoint.alsoStatus]
      .filter((status) => status !== undefined)
      .map((status) => [`${status}`, { ...success(endpoint), headers: headersOfResponse(status, endpoint) }]),
  ),
  ...(endpoint.method === 'get' && !endpoint.secret && endpoint.stream === undefined
    ? { 304: { description: 'Not modified (`If-None-Match`)', headers: headersOfResponse(304, endpoint) } }
    : {}),
});

const EMPTY: Readonly<Record<number, string>> = { 204: 'Success', 302: `Redirect to \`Location\`. ${SIGN_IN_FAILURE}` };

const LINES = 'lines; the schema describes one line';
const PARTS_OF: Readonly<Record<string, string>> = {
  'text/event-stream': 'server-sent events; the schema describes the data of an event `change`',
};

const success = (endpoint: Endpoint) =>
  endpoint.status in EMPTY
    ? { description: EMPTY[endpoint.status] ?? '' }
    : endpoint.file !== undefined
      ? {
          description: 'Success. The body is the file',
          content: { [endpoint.file]: { schema: { type: 'string' as const, format: 'binary' } } },
        }
      : {
          description:
            endpoint.stream === undefined
              ? 'Success'
              : `Success. The body is a stream of ${PARTS_OF[endpoint.stream] ?? LINES}`,
          content: { [endpoint.stream ?? 'application/json']: { schema: endpoint.reply } },
        };

/**
 * All problems that an endpoint can return: those that it declares, and those that follow from its
 * declaration.
 */
export function problemsOf(endpoint: Endpoint, service: Service): ProblemCode[] {
  return [
    'invalid_request',
    'validation_failed',
    'invalid_token',
    ...(service.open.includes(endpoint.access) ? [] : (['unauthenticated'] as const)),
    'insufficient_scope',
    ...service.problems,
    ...(takesBody(endpoint) ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(endpoint.method === 'get' ? [] : (['wrong_origin'] as const)),
    ...(takesBody(endpoint) || hasLargeRows(endpoint) ? (['overloaded'] as const) : []),
    ...endpoint.problems,
    'rate_limited',
    'internal',
    'unavailable',
  ];
}

function refusals(endpoint: Endpoint, service: Service) {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(problemsOf(endpoint, service))) {
    const { status } = problems[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      `${status}`,
      {
        description: names.map((name) => `\`${name}\`: ${problems[name].title}`).join('; '),
        headers: headersOfResponse(problems[names[0] ?? 'internal'].status, endpoint),
        content: { 'application/problem+json': { schema: problemDocument } },
      },
    ]),
  );
}
