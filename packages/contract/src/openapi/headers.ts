import type { Endpoint } from '../shared/endpoint.ts';

const text = { type: 'string' } as const;

/** The response headers of the services, other than those that every HTTP server sends. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'The id of the request, which the log of the service contains',
    required: true,
    schema: text,
    example: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10',
  },
  'Cache-Control': {
    description: 'Whether caches can store the response. `no-cache`: they must revalidate it with `If-None-Match`',
    required: true,
    schema: text,
    example: 'private, no-cache',
  },
  ETag: {
    description: 'The entity tag of the response, for `If-None-Match`. Large responses have none',
    schema: text,
    example: '"kq3x0c9cXv8bV0yG5n2cUq1p5Zs"',
  },
  'Retry-After': {
    description: 'The number of seconds after which the request can be repeated',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the credential (RFC 6750)',
    schema: text,
    example: 'Bearer realm="hub", error="invalid_token"',
  },
  Location: { description: 'The URL of the redirect', required: true, schema: text, example: 'https://example.com/' },
  'Content-Disposition': {
    description: 'The name of the file, for `download`',
    schema: text,
    example: 'attachment; filename="cache-0.log"',
  },
  'Set-Cookie': {
    description: 'Binds the sign-in or the session to the browser',
    schema: text,
    example: 'sign_in=value; HttpOnly',
  },
  'Clear-Site-Data': {
    description: 'Tells the browser to delete the responses that it has stored',
    schema: text,
    example: '"cache"',
  },
} as const;

type HeaderName = keyof typeof responseHeaders;

const BY_STATUS: Readonly<Record<number, readonly HeaderName[]>> = {
  302: ['Location'],
  304: ['ETag'],
  400: ['WWW-Authenticate'],
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** References to the headers of a response. */
export function headersOfResponse(status: number, { method, secret, setsCookie, stream }: Endpoint) {
  const hasEtag = status === 200 && method === 'get' && !secret && stream === undefined;
  const names: HeaderName[] = [
    'X-Request-Id',
    'Cache-Control',
    ...(hasEtag ? ['ETag' as const] : []),
    ...(stream === 'text/plain' && status === 200 ? ['Content-Disposition' as const] : []),
    ...(setsCookie && status < 400 ? ['Set-Cookie' as const] : []),
    ...(setsCookie && status === 204 ? ['Clear-Site-Data' as const] : []), // sign-outs
    ...(BY_STATUS[status] ?? []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));
}
