import { OutboundRefused } from '@svc/http';

/** Why a deployment is not as it should be, in one word for programs. */
export type Reason =
  | 'AuthFailed'
  | 'CrashLoop'
  | 'DeadlineExceeded'
  | 'EngineError'
  | 'FieldConflict'
  | 'GpuMissing'
  | 'ImageNotFound'
  | 'ImagePullFailed'
  | 'InvalidSpec'
  | 'JobFailed'
  | 'NameConflict'
  | 'OOMKilled'
  | 'PortConflict'
  | 'TargetUnreachable'
  | 'Unschedulable'
  | 'VolumeLost';

/** What an engine didn't do. The message is a sentence of ours for operators, with no word of anybody else. */
export abstract class EngineFailure extends Error {
  readonly reason: Reason;
  readonly #answer: { readonly status: number; readonly said: string } | undefined;
  constructor(reason: Reason, message: string, answer?: EngineFailure['answer']) {
    super(message);
    this.name = new.target.name;
    this.reason = reason;
    this.#answer = answer;
  }

  /**
   * What the engine answered, where it did: its status, and its own words, in which there may be what it was given. Whoever
   * writes the error down as a whole, as a log does, gets nothing of it.
   */
  get answer(): { readonly status: number; readonly said: string } | undefined {
    return this.#answer;
  }
}

/** It may well go better later. */
export class Transient extends EngineFailure {}

/** It goes no better unless somebody changes something. */
export class Permanent extends EngineFailure {}

/** The engine was not reached, or what was reached is no engine: nothing is known of what runs there. */
export class Unreachable extends Transient {
  constructor(message: string) {
    super('TargetUnreachable', message);
  }
}

/** The failure that work ended with; what is not reached is for the caller. */
export async function failureOf(work: () => Promise<void>): Promise<EngineFailure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof EngineFailure && !(error instanceof Unreachable)) return error;
    throw error;
  }
}

/** What was asked for; undefined where there is no such thing, or it went meanwhile. */
export async function unlessGone<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof EngineFailure && error.answer?.status === 404) return undefined;
    throw error;
  }
}

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

// In this order: Docker says "pull access denied for x, repository does not exist or may require 'docker login'".
const KINDS: readonly (readonly [RegExp, 'AuthFailed' | 'ImageNotFound'])[] = [
  [/manifest unknown|manifest for .* not found|name unknown|repository does not exist|no such image/i, 'ImageNotFound'],
  [
    /unauthorized|authentication required|access (?:to .* is )?denied|denied:|incorrect username|forbidden|no basic auth credentials/i,
    'AuthFailed',
  ],
  [/: not found$/i, 'ImageNotFound'],
];

const MEANINGS = {
  ImageNotFound: 'is not in its registry, or the registry hides it from whoever asks',
  AuthFailed: 'is not given out by its registry to whoever asks',
  ImagePullFailed: 'could not be pulled',
};

/** Why an image does not come, by what its engine says of it. */
export function pullTrouble(said: string): { readonly reason: keyof typeof MEANINGS; readonly meaning: string } {
  const reason = KINDS.find(([pattern]) => pattern.test(said))?.[1] ?? 'ImagePullFailed';
  return { reason, meaning: MEANINGS[reason] };
}
