import { z } from 'zod';
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { Endpoint, RequestHeader } from './endpoint.ts';
import { type ProblemCode, problemDocument, problems } from './problems.ts';

export interface Service {
  readonly title: string;
  readonly description: string;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** Accesses that a caller without a credential has. */
  readonly open: readonly string[];
  /** Problems that any of its endpoints may answer with, beside the ones that their shapes imply. */
  readonly problems: readonly ProblemCode[];
}

type OpenApiDocument = ReturnType<typeof createDocument>;

const made = new WeakMap<Service, OpenApiDocument>();

/** The OpenAPI 3.1 document of a service, derived from its endpoints: once, as it takes a tenth of a second. */
export function openApiDocument(service: Service): OpenApiDocument {
  const document = made.get(service) ?? documentOf(service);
  made.set(service, document);
  return document;
}

function documentOf(service: Service): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const endpoint of Object.values(service.endpoints)) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint, service) };
  }
  return createDocument({
    openapi: '3.1.1',
    info: { title: service.title, version: '1.0.0', description: service.description },
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <token>' } },
    },
  });
}

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
    ...(endpoint.bodyLimit > 0
      ? { requestBody: { required: true, content: { 'application/json': { schema: endpoint.body } } } }
      : {}),
    responses: { ...successes(endpoint), ...refusals(problemsOf(endpoint, service)) },
  };
}

const HEADERS: Readonly<Record<RequestHeader, string>> = {
  'If-Match':
    'The version that the caller has seen, in quotes, or the ETag of a GET: 412 where there is another by now',
  'Idempotency-Key':
    'Chosen by the caller, for one request: sent again within 24 hours, it is answered as the first time',
};

const headersOf = ({ headers }: Endpoint) =>
  z.object(
    Object.fromEntries(headers.map((name) => [name, z.string().optional().meta({ description: HEADERS[name] })])),
  );

const successes = (endpoint: Endpoint) => ({
  ...Object.fromEntries(
    [endpoint.status, endpoint.alsoStatus]
      .filter((status) => status !== undefined)
      .map((status) => [`${status}`, success(endpoint)]),
  ),
  ...(endpoint.method === 'get' && !endpoint.secret && endpoint.stream === undefined
    ? { 304: { description: 'The caller holds this answer already (`If-None-Match`)' } }
    : {}),
});

const EMPTY: Readonly<Record<number, string>> = { 204: 'Done', 302: 'The browser goes to `Location`' };

const success = (endpoint: Endpoint) =>
  endpoint.status in EMPTY
    ? { description: EMPTY[endpoint.status] ?? '' }
    : {
        description: endpoint.stream === undefined ? 'Success' : 'Success: lines, each of which is as the schema says',
        content: { [endpoint.stream ?? 'application/json']: { schema: endpoint.reply } },
      };

/** Every problem that an endpoint may answer with: its own, and those that its shape implies. */
export function problemsOf(endpoint: Endpoint, service: Service): ProblemCode[] {
  return [
    'invalid_request',
    'validation_failed',
    'invalid_token',
    ...(service.open.includes(endpoint.access) ? [] : (['unauthenticated'] as const)),
    'insufficient_scope',
    ...service.problems,
    ...(endpoint.bodyLimit > 0 ? (['payload_too_large', 'unsupported_media_type'] as const) : []),
    ...endpoint.problems,
    'rate_limited',
    'internal',
    'unavailable',
  ];
}

function refusals(codes: readonly ProblemCode[]) {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) {
    const { status } = problems[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      `${status}`,
      {
        description: names.map((name) => `\`${name}\`: ${problems[name].title}`).join('; '),
        content: { 'application/problem+json': { schema: problemDocument } },
      },
    ]),
  );
}
