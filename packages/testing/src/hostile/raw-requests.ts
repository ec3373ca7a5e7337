import fc from 'fast-check';
import type { Target } from './requests.ts';
import type { HostileRequest } from './written.ts';

const CRLF = '\r\n';

interface Raw {
  readonly head: string;
  readonly body?: Buffer | string;
  readonly cut?: boolean;
  readonly unreadable?: boolean;
  readonly elsewhere?: boolean;
}

/** The common parts of the requests of an endpoint. */
interface Words {
  readonly method: string;
  readonly path: string;
  /** The header lines of the credential with their line breaks, or ''. */
  readonly credential: string;
}

type Kind = (words: Words, noise: Buffer) => Raw;

/** Requests as bytes: invalid JSON, invalid UTF-8, malformed requests, and unusual requests. */
export const rawRequests = (target: Target): fc.Arbitrary<HostileRequest> => rawRequestsOf(target, KINDS);

/**
 * The kinds of raw requests that are always sent to endpoint `index` of `of` endpoints. Together,
 * the endpoints receive all kinds.
 */
export function rawRequestsInTurn(
  target: Target,
  { index, of }: { readonly index: number; readonly of: number },
): HostileRequest[] {
  const kinds = KINDS.filter((_, number) => number % of === index);
  return kinds.flatMap((kind) => fc.sample(rawRequestsOf(target, [kind]), { seed: target.seed, numRuns: 1 }));
}

function rawRequestsOf(target: Target, kinds: readonly Kind[]): fc.Arbitrary<HostileRequest> {
  const { endpoint, callers, credentials } = target;
  const method = endpoint.method.toUpperCase();
  const path = endpoint.path.replace(/:\w+/g, 'something');
  return fc
    .tuple(fc.constantFrom(...callers), fc.constantFrom(...kinds), fc.uint8Array({ minLength: 1, maxLength: 64 }))
    .map(([caller, kind, noise]) => {
      const credential = (credentials[caller] ?? []).map((line) => line + CRLF).join('');
      const raw = kind({ method, path, credential }, Buffer.from(noise));
      return sentAs(raw, { method, path, hide: credential, caller });
    });
}

const start = ({ method, path, credential }: Words) => `${method} ${path} HTTP/1.1${CRLF}Host: a${CRLF}${credential}`;

const json = (words: Words, body: Buffer | string, type = 'application/json'): Raw => ({
  head: `${start(words)}Content-Type: ${type}${CRLF}Content-Length: ${Buffer.byteLength(body)}${CRLF}`,
  body,
});

const chunked = (words: Words, body: string): Raw => ({
  head: `${start(words)}Content-Type: application/json${CRLF}Transfer-Encoding: chunked${CRLF}`,
  body,
});

const withHeaders = (words: Words, ...headers: readonly string[]): Raw => ({
  head: start(words) + headers.map((header) => header + CRLF).join(''),
});

const addressed = ({ credential }: Words, line: string): Raw => ({
  head: `${line}${CRLF}Host: a${CRLF}${credential}`,
  elsewhere: true,
});

const unreadable = (raw: Raw): Raw => ({ ...raw, unreadable: true });
const cut = (raw: Raw): Raw => ({ ...raw, cut: true, unreadable: true });

/** Bodies in valid HTTP requests, to which the app responds. */
const BODIES: readonly Kind[] = [
  json,
  (words, noise) => json(words, Buffer.concat([Buffer.from('{"name":"'), noise, Buffer.from('"}')])),
  (words) => json(words, Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1')),
  (words) => json(words, Buffer.from('{"name":"\xc0\xaf"}', 'latin1')),
  (words) => json(words, '\ufeff{"name":"a"}'),
  (words) => json(words, Buffer.from('\ufeff{"name":"a"}', 'utf16le')),
  (words) => json(words, '{"name":"a"'),
  (words) => json(words, '{"name":"a"}{"name":"b"}'),
  (words) => json(words, "{name:'a',}"),
  (words) => json(words, '"\\ud800"'),
  (words) => json(words, '{"a":'.repeat(2000)),
  (words) => json(words, `${'['.repeat(49_000)}${']'.repeat(49_000)}`),
  (words) => json(words, '-'),
  (words) => json(words, ' \n\t '),
  (words) => json(words, '{}', ''),
  (words) => json(words, '{}', 'text/plain'),
  (words) => json(words, '{}', 'application/json, application/json'),
  (words) => json(words, '{}', 'application/json; charset=utf-16'),
  (words) => json(words, '{}', 'application/json; charset="utf-8'),
  (words) => json(words, 'a=b', 'application/x-www-form-urlencoded'),
  (words) => json(words, '--x--', 'multipart/form-data; boundary=x'),
  (words) => json({ ...words, credential: `${words.credential}Content-Encoding: gzip${CRLF}` }, '\x1f\x8b'),
  (words) => json({ ...words, credential: `${words.credential}Content-Encoding: x, y${CRLF}` }, '{}'),
  (words) => chunked(words, `2${CRLF}{}${CRLF}0${CRLF}${CRLF}`),
  (words) => chunked(words, `0${CRLF}${CRLF}`),
  (words) => chunked(words, `2;a=b;c${CRLF}{}${CRLF}0${CRLF}Trailer: x${CRLF}${CRLF}`),
  (words) => chunked(words, `000002${CRLF}{}${CRLF}0${CRLF}Authorization: Bearer x${CRLF}${CRLF}`),
];

/** Malformed, repeated and misplaced credentials. */
const CREDENTIALS: readonly Kind[] = [
  (words) => withHeaders(words, 'Authorization: Bearer a', 'authorization: Bearer b'),
  (words) => withHeaders(words, 'Authorization:'),
  (words) => withHeaders(words, 'Authorization: Bearer'),
  (words) => withHeaders(words, 'Authorization: Bearer  two'),
  (words) => withHeaders(words, 'Authorization: Bearer a, Bearer b'),
  (words) => withHeaders(words, `Authorization: Bearer ${'a.'.repeat(2000)}a`),
  (words) => withHeaders(words, `Authorization: Bearer ${'A'.repeat(9000)}`),
  (words) => withHeaders(words, `Authorization: Bearer svcc_${'0'.repeat(49)}`),
  (words) => withHeaders(words, 'Authorization: Bearer svcc_\xe9\xff'),
  (words) => withHeaders(words, 'Authorization: Bearer eyJhbGciOiJub25lIn0.e30.'),
  (words) => withHeaders(words, 'Authorization: Bearer eyJhbGciOiJub25lIn0.e30.AA'),
  (words) => withHeaders(words, 'Authorization: Bearer eyJhbGciOiJIUzI1NiIsImtpZCI6IiJ9.bnVsbA.AA'),
  (words) => withHeaders(words, 'Authorization: Bearer W10.W10.W10'),
  (words) => withHeaders(words, 'Authorization: Basic YTpi', 'Proxy-Authorization: Bearer x'),
  (words) => withHeaders({ ...words, path: `${words.path}?access_token=x` }),
  (words) => withHeaders({ ...words, path: `${words.path}?access_token` }),
  (words) => withHeaders({ ...words, path: `${words.path}?%61ccess_token=%ff` }),
  (words) => json(words, 'access_token=x', 'application/x-www-form-urlencoded'),
];

/** Unusual targets, methods and headers in valid HTTP requests. */
const TARGETS: readonly Kind[] = [
  (words) => addressed(words, `${words.method} http://other.example.test${words.path} HTTP/1.1`),
  (words) => addressed(words, `${words.method} http://[::1${words.path} HTTP/1.1`),
  (words) => addressed(words, `${words.method} //other.example.test${words.path} HTTP/1.1`),
  (words) => addressed(words, `${words.method} ${words.path}%zz HTTP/1.1`),
  (words) => addressed(words, `${words.method} /%ff${words.path} HTTP/1.1`),
  (words) => addressed(words, `${words.method} ${words.path}?%=%&%00=%ff HTTP/1.1`),
  (words) => addressed(words, `${words.method} ${words.path.replace('/api', '/api/../api')} HTTP/1.1`),
  (words) => addressed(words, `${words.method} ${words.path}#fragment?x HTTP/1.1`),
  (words) => addressed(words, `${words.method} ${words.path.toUpperCase()} HTTP/1.1`),
  (words) => addressed(words, `${words.method} ${words.path} HTTP/1.0`),
  (words) => addressed(words, 'OPTIONS * HTTP/1.1'),
  (words) => addressed(words, 'GET * HTTP/1.1'),
  (words) => addressed(words, `PURGE ${words.path} HTTP/1.1`),
  (words) => addressed(words, `QUERY ${words.path} HTTP/1.1`),
  (words) => ({ head: `${words.method} ${words.path} HTTP/1.1${CRLF}${words.credential}` }),
  (words) => ({ head: `${words.method} ${words.path} HTTP/1.1${CRLF}Host: a/b?c${CRLF}${words.credential}` }),
  (words) => withHeaders(words, 'Host: b'),
  (words) => withHeaders(words, 'X-Request-Id: a', 'X-Request-Id: b'),
  (words) => withHeaders(words, 'Content-Type: application/json', 'Content-Type: text/plain'),
  (words) => withHeaders(words, ...Array.from({ length: 900 }, (_, index) => `a${index}: b`)),
  (words) => withHeaders(words, `X-Long: ${'x'.repeat(6000)}`),
];

/**
 * Requests that Node's HTTP parser rejects, or that are too large or truncated. The app never
 * receives them.
 */
const UNREADABLE: readonly Kind[] = [
  (_, noise) => cut({ head: noise.toString('latin1') }),
  (words) => unreadable(addressed(words, `NONSENSE ${words.path} HTTP/1.1`)),
  (words) => unreadable(addressed(words, `get ${words.path} HTTP/1.1`)),
  (words) => unreadable(addressed(words, `${words.method} ${words.path} HTTP/9.9`)),
  (words) => unreadable(addressed(words, `${words.method} ${words.path} with spaces HTTP/1.1`)),
  (words) => unreadable(addressed(words, `${words.method} ${words.path}\0 HTTP/1.1`)),
  (words) => unreadable(addressed(words, `${words.method} ${words.path}?\xff HTTP/1.1`)),
  (words) => unreadable(withHeaders(words, 'X: a\x01b')),
  (words) => unreadable(addressed(words, 'CONNECT other.example.test:443 HTTP/1.1')),
  (words) => cut(addressed(words, 'PRI * HTTP/2.0')),
  (words) => unreadable(withHeaders(words, `X-Giant: ${'x'.repeat(20_000)}`)),
  (words) => unreadable(withHeaders(words, 'Bad Name: x')),
  (words) => unreadable(withHeaders(words, 'X: a\0b')),
  (words) => unreadable(withHeaders(words, 'Content-Length: -1')),
  (words) => unreadable(withHeaders(words, 'Content-Length: 2', 'Content-Length: 3')),
  (words) => unreadable(withHeaders(words, `Content-Length: ${'9'.repeat(30)}`)),
  (words) => unreadable(withHeaders(words, 'Content-Length: 2', 'Transfer-Encoding: chunked')),
  (words) => unreadable(withHeaders(words, 'Transfer-Encoding: gzip')),
  (words) => unreadable(chunked(words, `zz${CRLF}{}${CRLF}`)),
  (words) => unreadable(chunked(words, `${'f'.repeat(20)}${CRLF}{}`)),
  (words) => unreadable(chunked(words, `2;${'x'.repeat(20_000)}${CRLF}{}${CRLF}0${CRLF}${CRLF}`)),
  (words) => cut(chunked(words, `5${CRLF}{}`)),
  (words) => cut({ ...json(words, '{}'), body: '{' }),
  (words) => cut({ head: `${words.method} ${words.path}` }),
];

const KINDS = [...BODIES, ...CREDENTIALS, ...TARGETS, ...UNREADABLE];

interface Sending {
  readonly method: string;
  readonly path: string;
  readonly hide: string;
  readonly caller: string;
}

function sentAs(raw: Raw, sending: Sending): HostileRequest {
  const { head, body = '', cut = false, unreadable = false, elsewhere = false } = raw;
  const { method, path, hide, caller } = sending;
  const end = head.includes(CRLF) ? CRLF : '';
  const bytes = Buffer.concat([Buffer.from(head + end, 'latin1'), Buffer.from(body)]);
  const text = bytes.toString('latin1').replaceAll(hide || '\0\0', `<${caller}>${CRLF}`);
  const escaped = JSON.stringify(text).replace(/[\x7f-\xff]/g, (at) => `\\x${at.charCodeAt(0).toString(16)}`);
  return {
    method,
    target: path,
    elsewhere,
    bytes,
    headOnly: false,
    cut,
    unreadable,
    shown: `printf '%b' ${escaped.length > 4000 ? `${escaped.slice(0, 4000)}… (${bytes.length} bytes)` : escaped} | nc`,
  };
}
