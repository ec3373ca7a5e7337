import type { Endpoint } from '@svc/contract';
import fc from 'fast-check';
import type { z } from 'zod';
import { type Known, validInput } from './schema-values.ts';
import { hostileText, hostileValue, jsonOf, unknownName } from './values.ts';
import { type Callers, type HostileRequest, requestOf } from './written.ts';

export interface Target {
  readonly endpoint: Endpoint;
  readonly known: Known;
  /** The callers. A caller that is repeated is chosen more often. */
  readonly callers: readonly string[];
  readonly credentials: Callers;
  readonly seed: number;
}

/**
 * Requests of an endpoint with valid, almost valid and invalid parameters, query, headers and body.
 */
export function hostileRequests(target: Target): fc.Arbitrary<HostileRequest> {
  const { endpoint, callers, credentials } = target;
  return fc
    .record({
      method: fc.oneof(
        { weight: 15, arbitrary: fc.constant(endpoint.method.toUpperCase()) },
        { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND') },
      ),
      target: fc.tuple(paths(target), queries(target)).map((parts) => parts.join('')),
      caller: fc.constantFrom(...callers),
      headers: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.uniqueArray(fc.constantFrom(...HEADERS))),
      body: bodies(target),
    })
    .map((parts) => requestOf({ ...parts, credential: credentials[parts.caller] ?? [] }));
}

/** Valid input, valid input with one or two changes, or other values. */
function mutated(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const change = fc.record({
    kind: fc.constantFrom('replace', 'within', 'drop', 'add'),
    at: fc.nat(),
    name: unknownName,
    value: hostileValue,
  });
  const changed = fc
    .tuple(valid, fc.array(change, { minLength: 1, maxLength: 2 }))
    .map(([input, changes]) => changes.reduce(changedBy, input));
  return fc.oneof(
    { weight: 4, arbitrary: valid },
    { weight: 5, arbitrary: changed },
    { weight: 1, arbitrary: hostileValue },
  );
}

/**
 * Input for an object schema that is not sent as a request of its own: valid, almost valid and
 * invalid.
 */
export const hostileInput = (schema: z.ZodObject, known: Known, seed: number): fc.Arbitrary<unknown> =>
  mutated(validInput(schema, known, seed));

interface Change {
  readonly kind: string;
  readonly at: number;
  readonly name: string;
  readonly value: unknown;
}

function changedBy(input: unknown, change: Change): unknown {
  if (typeof input !== 'object' || input === null) return change.value;
  const { kind, at, name, value } = change;
  const entries = Object.entries(input);
  const chosen = entries[at % (entries.length || 1)];
  if (kind === 'add' || !chosen) entries.push([name, value]);
  else if (kind === 'drop') entries.splice(at % entries.length, 1);
  else chosen[1] = kind === 'within' ? changedBy(chosen[1], { ...change, kind: 'replace', at: at >> 3 }) : value;
  if (Array.isArray(input)) return entries.map(([, member]) => member);
  return Object.fromEntries(entries); // defines members, so that __proto__ is an ordinary member
}

function bodies({ endpoint, known, seed }: Target): fc.Arbitrary<string> {
  if (endpoint.bodyLimit === 0) {
    return fc.oneof({ weight: 9, arbitrary: fc.constant('') }, hostileValue.map(jsonOf));
  }
  const tooLarge = fc.constant(JSON.stringify('a'.repeat(endpoint.bodyLimit)));
  return fc.oneof(
    { weight: 60, arbitrary: mutated(validInput(endpoint.body, known, seed)).map(jsonOf) },
    { weight: 1, arbitrary: tooLarge },
  );
}

const BROKEN_QUERIES = ['?', '?&&', '?=', '?%', '?%zz=1', '?x=%ff', '?x=%ED%A0%80', '?limit=1&limit=1', '?a[]=1', '?#'];

function queries({ endpoint, known, seed }: Target): fc.Arbitrary<string> {
  const given = mutated(validInput(endpoint.query, known, seed)).map((query) => {
    if (typeof query !== 'object' || query === null) return `?${encode(String(query))}`;
    const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(textOf(value))}`);
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  });
  const weight = endpoint.bodyLimit > 0 ? 2 : 20;
  return fc.oneof(
    { weight, arbitrary: given },
    { weight: 20 - weight, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: fc.constantFrom(...BROKEN_QUERIES) },
  );
}

const BROKEN_SEGMENTS = ['%', '%zz', '%ff', '%C0%AF', '%ED%A0%80', '%00', '%2F', '..', '%2e%2e', '.', '', ';a=b', '*'];

function paths({ endpoint, known, seed }: Target): fc.Arbitrary<string> {
  const broken = fc.constantFrom(...BROKEN_SEGMENTS);
  const path = validInput(endpoint.params, known, seed).chain((params) => {
    const values = params as Readonly<Record<string, string>>; // path parameters are strings
    const segments = endpoint.path.split('/').map((segment) => {
      if (!segment.startsWith(':')) return fc.constant(segment);
      const valid = fc.constant(encode(values[segment.slice(1)] ?? ''));
      return fc.oneof({ weight: 8, arbitrary: valid }, { weight: 3, arbitrary: hostileText.map(encode) }, broken);
    });
    return fc.tuple(...segments).map((parts) => parts.join('/'));
  });
  const otherPaths = fc
    .constantFrom('/', '//', '%20', '/..', '/.', '%00', '/__proto__')
    .map((end) => endpoint.path + end);
  return fc.oneof({ weight: 30, arbitrary: path }, otherPaths);
}

const HEADERS: readonly string[] = [
  'Accept: text/html',
  'Accept: ',
  'Accept-Encoding: br, gzip;q=x',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'X-Request-Id: \xe9\xff',
  `X-Request-Id: ${'x'.repeat(4000)}`,
  "X-Forwarded-For: 999.1.1.1, ' OR 1=1, ::1",
  'X-HTTP-Method-Override: DELETE',
  'If-Match: "1", W/"2", *',
  'If-None-Match: *',
  'If-Modified-Since: yesterday',
  'Range: bytes=0-0,-1',
  'Idempotency-Key: \xe9\xff',
  'Origin: null',
  'Origin: https://evil.example.test',
  'Sec-Fetch-Site: same-origin',
  'Sec-Fetch-Site: cross-site',
  'Cookie: a=b; __proto__=c; %00',
  '__proto__: x',
  'constructor: x',
];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : jsonOf(value));

const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
