/**
 * A connection that this service or a proxy does not open. The message is for operators, and
 * contains no secret.
 */
export abstract class ConnectionRefused extends Error {}

/** What the problems of a connection call the other side and its certificate authority. */
interface Wording {
  /** Such as `its endpoint`. */
  readonly address?: string;
  /** What is wrong if the certificate is not signed by a trusted authority. */
  readonly untrusted?: string;
}

interface ConnectionProblem {
  /** A sentence in which the other side is "it". */
  readonly text: string;
  /** Whether the other side responds, but TLS cannot be established. */
  readonly isOfTls: boolean;
}

const UNTRUSTED =
  'Its certificate is not signed by an authority that this service trusts. Add the certificate of the authority to the file in NODE_EXTRA_CA_CERTS.';

type Problems = readonly (readonly [RegExp, (wording: Required<Wording>) => string])[];

const OF_NETWORK: Problems = [
  [/^ENOENT$/, ({ address }) => `The socket of ${address} does not exist on the machine of this service.`],
  [/^(?:EACCES|EPERM)$/, ({ address }) => `This service has no permission to open the socket of ${address}.`],
  [/^ECONNREFUSED$/, ({ address }) => `The connection to ${address} was refused.`],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, ({ address }) => `The host name of ${address} cannot be resolved.`],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/, ({ address }) => `There is no route to the address of ${address}.`],
  [/^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT|TimeoutError)$/, () => 'It did not respond in time.'],
];

const OF_TLS: Problems = [
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, () => 'Its certificate is for another host name.'],
  [/^CERT_HAS_EXPIRED$/, () => 'Its certificate has expired.'],
  [/^CERT_NOT_YET_VALID$/, () => 'Its certificate is not valid yet. Compare the clocks of the machines.'],
  [/^CERT_REVOKED$/, () => 'Its certificate is revoked.'],
  [
    /^(?:UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|CERT_UNTRUSTED)$/,
    ({ untrusted }) => untrusted,
  ],
  [/^ERR_SSL_.*ALERT_CERTIFICATE_EXPIRED$/, () => 'It reports that the configured client certificate has expired.'],
  [/^ERR_SSL_.*ALERT_CERTIFICATE_REQUIRED$/, () => 'It requires a client certificate.'],
  [
    /^ERR_SSL_.*ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REVOKED|UNKNOWN)|NO_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)$/,
    () => 'It does not accept the configured client certificate.',
  ],
  [/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, () => 'It does not respond with TLS.'],
  [/^(?:ERR_SSL_.*|EPROTO)$/, ({ address }) => `The TLS connection to ${address} failed.`],
];

const OF_STREAM: Problems = [
  [
    /^(?:UND_ERR_SOCKET|ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/,
    () => 'It closed the connection without a response.',
  ],
  [/^(?:HPE_.*|HTTPParserError)$/, () => 'It does not respond with HTTP.'],
];

/** Why a connection failed, according to the codes of its error; undefined if they are not known. */
export function connectionProblem(error: unknown, wording: Wording = {}): ConnectionProblem | undefined {
  const codes = codesOf(error);
  const textIn = (problems: Problems) =>
    problems.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1]({
      address: 'its address',
      untrusted: UNTRUSTED,
      ...wording,
    });
  const ofTls = textIn(OF_TLS);
  const text = textIn(OF_NETWORK) ?? ofTls ?? textIn(OF_STREAM);
  return text === undefined ? undefined : { text, isOfTls: text === ofTls };
}

interface FailedConnection {
  /**
   * `refused`: this service or a proxy does not connect. `tls`: TLS cannot be established.
   * `no_response`: all others.
   */
  readonly kind: 'refused' | 'tls' | 'no_response';
  /** For operators. It contains no text of the other side. */
  readonly text: string;
}

/** Why there is no response. @param name the other side, such as `the hub` */
export function failedConnection(name: string, error: unknown, wording: Wording = {}): FailedConnection {
  const refusal = refusalIn(error);
  if (refusal) return { kind: 'refused', text: refusal.message };
  const problem = connectionProblem(error, wording);
  if (problem?.isOfTls)
    return { kind: 'tls', text: `The TLS connection to ${name} cannot be established. ${problem.text}` };
  const [code] = codesOf(error);
  const subject = `${name[0]?.toUpperCase()}${name.slice(1)} does not respond`;
  if (code === 'TimeoutError') return { kind: 'no_response', text: `${subject} in time.` };
  const reason = code === undefined ? '' : ` (${code})`;
  return { kind: 'no_response', text: [`${subject}${reason}.`, ...(problem ? [problem.text] : [])].join(' ') };
}

/** The refusal of a connection that caused an error. */
export const refusalIn = (error: unknown): ConnectionRefused | undefined =>
  causesOf(error).find((cause) => cause instanceof ConnectionRefused);

/** The codes and names of an error and its causes, innermost first. */
export const codesOf = (error: unknown): string[] =>
  causesOf(error)
    .toReversed()
    .flatMap(({ code, name }) => [code, name === 'Error' ? undefined : name])
    .filter((each) => typeof each === 'string');

/** What any object that was thrown can have. */
interface Thrown {
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

/** An error and its causes. */
function causesOf(error: unknown): readonly Thrown[] {
  if (typeof error !== 'object' || error === null) return [];
  const thrown: Thrown = error;
  return [thrown, ...causesOf(thrown.cause)];
}
