import { OutboundRefused } from '@svc/http';
import { Unreachable } from './errors.ts';

/** What is expected at an endpoint. */
type Expected = 'container engine' | 'Kubernetes API server';

/** What answers where an engine should, and answers what no engine does. */
export const notAnEngine = (expected: Expected = 'container engine') =>
  new Unreachable(`What answers at its endpoint is no ${expected}.`);

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^ENOENT$/, 'There is no socket at its endpoint on the machine of this service.'],
  [/^(?:EACCES|EPERM)$/, 'This service may not open the socket at its endpoint.'],
  [/^ECONNREFUSED$/, 'Nothing listens at its endpoint.'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'The host name of its endpoint is not known.'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/, 'There is no way to the address of its endpoint.'],
  [/^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT|TimeoutError)$/, 'It did not answer in time.'],
  [/^(?:ERR_TLS_CERT_ALTNAME_INVALID)$/, 'Its certificate is for another host name.'],
  [/^CERT_HAS_EXPIRED$/, 'Its certificate has expired.'],
  [/CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)/, 'Its certificate is not signed by the CA that was given.'],
  [/^(?:ERR_SSL_.*(?:ALERT|CERTIFICATE).*)$/, 'It does not accept the certificate that was given.'],
  [/^(?:ERR_SSL_.*|EPROTO)$/, 'It does not speak TLS as it should.'],
  [/^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'It closed the connection without an answer.'],
];

const NO_HTTP = /^(?:HPE_.*|HTTPParserError)$/;

/** Why an engine was not reached, as a sentence for operators, from whatever the connection failed with. */
export function unreachableBy(error: unknown, expected?: Expected): Unreachable {
  if (error instanceof OutboundRefused || error instanceof Unreachable) return new Unreachable(error.message);
  const codes = [...codesOf(error)];
  if (codes.some((code) => NO_HTTP.test(code))) return notAnEngine(expected);
  const found = SENTENCES.find(([pattern]) => codes.some((code) => pattern.test(code)));
  return new Unreachable(found?.[1] ?? `It could not be called (${codes[0] ?? 'for an unknown reason'}).`);
}

/** Codes and names of an error and of what caused it, the innermost first. */
function* codesOf(error: unknown): Generator<string> {
  if (typeof error !== 'object' || error === null) return;
  const { cause, code, name } = error as { cause?: unknown; code?: unknown; name?: unknown };
  yield* codesOf(cause);
  if (typeof code === 'string') yield code;
  if (typeof name === 'string' && name !== 'Error') yield name;
}
