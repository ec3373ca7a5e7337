import { codesOf, connectionProblem, refusalIn } from '@svc/http';

/** Machine-readable reasons why a deployment is not in its desired state. */
const REASONS = [
  'AddressNotAvailable',
  'AuthFailed',
  'CrashLoop',
  'DeadlineExceeded',
  'EngineError',
  'Exited',
  'FieldConflict',
  'GpuMissing',
  'ImageNotFound',
  'ImagePullFailed',
  'InvalidSpec',
  'JobFailed',
  'NameConflict',
  'NetworkFailed',
  'OOMKilled',
  'PortConflict',
  'Superseded',
  'TargetUnreachable',
  'Unschedulable',
  'VolumeLost',
] as const;

export type Reason = (typeof REASONS)[number];

export const isReason = (text: string): text is Reason => REASONS.some((reason) => reason === text);

/** The reasons for which the process of a service ends although it must run. */
const CRASH_REASONS = ['CrashLoop', 'Exited', 'OOMKilled'] as const satisfies readonly Reason[];

export type CrashReason = (typeof CRASH_REASONS)[number];

export const isCrashReason = (reason: string | null): reason is CrashReason =>
  CRASH_REASONS.some((known) => known === reason);

/**
 * A failed operation on an engine. The message is written by the fleet for operators. It contains
 * no text of the engine except names.
 */
export abstract class EngineFailure extends Error {
  readonly reason: Reason;
  readonly #response: { readonly status: number; readonly engineMessage: string } | undefined;
  constructor(reason: Reason, message: string, response?: EngineFailure['response']) {
    super(message);
    this.name = new.target.name;
    this.reason = reason;
    this.#response = response;
  }

  /**
   * The status and message of the engine's response, if there was one. The message can contain
   * values that the engine received, such as secrets. It is stored in a private field so that it is
   * not logged with the error.
   */
  get response(): { readonly status: number; readonly engineMessage: string } | undefined {
    return this.#response;
  }
}

/** A failure that may succeed when retried. */
export class Transient extends EngineFailure {}

/** A failure that persists until the specification or the environment changes. */
export class Permanent extends EngineFailure {}

/** What is wrong with a network of the fleet, or with an address in it. */
type NetworkProblem = 'lost' | 'subnet_refused' | 'subnet_differs' | 'address_taken';

/** A failure of a network that the fleet repairs by other addresses, or by creating it again. */
export class NetworkFailure extends Transient {
  readonly problem: NetworkProblem;
  /** The id of the network. */
  readonly network: string;
  /** The subnet that the engine refuses, or that its network has. */
  readonly subnet: string | undefined;

  constructor(
    problem: NetworkProblem,
    { Id, Subnet }: { readonly Id: string; readonly Subnet?: string },
    message: string,
  ) {
    super('NetworkFailed', `${message} The fleet repairs it by itself.`);
    this.problem = problem;
    this.network = Id;
    this.subnet = Subnet;
  }
}

/**
 * The engine cannot be reached, or the server is not an engine. The state of its containers is
 * unknown.
 */
export class Unreachable extends Transient {
  constructor(message: string) {
    super('TargetUnreachable', message);
  }
}

/**
 * Runs work and returns its `EngineFailure`, if any. @throws Unreachable, and errors of other
 * classes
 */
export async function catchFailure(work: () => Promise<void>): Promise<EngineFailure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof EngineFailure && !(error instanceof Unreachable)) return error;
    throw error;
  }
}

/** Awaits a request. @returns undefined if the engine responds with status 404 */
export async function unlessNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof EngineFailure && error.response?.status === 404) return undefined;
    throw error;
  }
}

/** The kind of server that is expected at an endpoint. */
type Expected = 'container engine' | 'Kubernetes API server';

/** The error for a response that an engine does not send. */
export const notAnEngine = (expected: Expected = 'container engine') =>
  new Unreachable(`The server at its endpoint is not a ${expected}.`);

const NO_HTTP = /^(?:HPE_.*|HTTPParserError)$/;

/** Converts an error of a connection to `Unreachable`, with a message for operators. */
export function toUnreachable(error: unknown, expected?: Expected): Unreachable {
  const stated = error instanceof Unreachable ? error : refusalIn(error);
  if (stated) return new Unreachable(stated.message);
  const codes = codesOf(error);
  if (codes.some((code) => NO_HTTP.test(code))) return notAnEngine(expected);
  const problem = connectionProblem(error, {
    address: 'its endpoint',
    untrusted: 'Its certificate is not signed by the configured CA.',
  });
  return new Unreachable(problem?.text ?? `The connection to its endpoint failed (${codes[0] ?? 'unknown error'}).`);
}

const NO_PROGRAM = /executable file not found|command that was not found|exec format error/i;
const NOT_EXECUTABLE = /no such file or directory|permission denied/i;

/**
 * Whether an engine reports that a container cannot be started because its program is missing or
 * not executable.
 */
export function isProgramMissing(engineMessage: string): boolean {
  const start = engineMessage.search(/exec: /i);
  return NO_PROGRAM.test(engineMessage) || (start >= 0 && NOT_EXECUTABLE.test(engineMessage.slice(start)));
}

// The order matters. Docker responds, for example:
// "pull access denied for x, repository does not exist or may require 'docker login'"
const KINDS: readonly (readonly [RegExp, 'AuthFailed' | 'ImageNotFound'])[] = [
  [/manifest unknown|name unknown|repository does not exist|no such image/i, 'ImageNotFound'],
  [
    /unauthorized|authentication required|(?:access|is) denied|denied:|incorrect username|forbidden|no basic auth credentials/i,
    'AuthFailed',
  ],
  [/: not found$/i, 'ImageNotFound'],
];

/** Whether the message is "manifest for <image> not found". Two searches keep the time linear. */
function isManifestMissing(engineMessage: string): boolean {
  const start = engineMessage.search(/manifest for /i);
  return start >= 0 && / not found/i.test(engineMessage.slice(start));
}

const MEANINGS = {
  ImageNotFound: 'does not exist in its registry, or requires credentials',
  AuthFailed: 'requires valid credentials for its registry',
};

/** Why an image could not be pulled, and what to do about it. The target pulls it, not the fleet. */
const PULL_CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /no such host|name resolution|name or service not known|server misbehaving/i,
    'the target cannot resolve the name of the registry. Check the name, and the name servers of the target',
  ],
  [
    /connection refused|no route to host|network is unreachable|connection reset/i,
    'the target cannot connect to the registry. Check the address of the registry, and the network of the target',
  ],
  [
    /server gave HTTP response to HTTPS client/i,
    'the registry does not use TLS. Use TLS, or configure it as an insecure registry on the target',
  ],
  [/x509:|certificate/i, 'the target does not trust the certificate of the registry. Install its CA on the target'],
  [/toomanyrequests|rate limit/i, 'the registry limits the number of pulls. Wait, or use a pull secret of an account'],
  [/no space left on device|disk quota exceeded/i, 'the disk of the target is full. Free space on the target'],
  [
    /no matching manifest|no image found in (?:image index|manifest list)|image with (?:a )?matching platform/i,
    'the image does not exist for the architecture of the target. Use another tag, or another target',
  ],
  [
    /i\/o timeout|timed? ?out|deadline exceeded|request canceled/i,
    'the registry did not respond in time. Check the network of the target',
  ],
];

function meaningOfPullFailure(engineMessage: string): string {
  const cause = PULL_CAUSES.find(([pattern]) => pattern.test(engineMessage))?.[1];
  return cause === undefined ? 'could not be pulled' : `could not be pulled: ${cause}`;
}

/** Determines from the engine's message why an image cannot be pulled. */
export function classifyPullFailure(engineMessage: string): {
  readonly reason: keyof typeof MEANINGS | 'ImagePullFailed';
  readonly meaning: string;
} {
  const reason = isManifestMissing(engineMessage)
    ? 'ImageNotFound'
    : (KINDS.find(([pattern]) => pattern.test(engineMessage))?.[1] ?? 'ImagePullFailed');
  return { reason, meaning: reason === 'ImagePullFailed' ? meaningOfPullFailure(engineMessage) : MEANINGS[reason] };
}

/** The exit code of a process that SIGKILL (9) has ended: 128 and the number of the signal. */
export const SIGKILL_EXIT_CODE = 137;

/** An exit code as text. */
export const textOfExit = (code: number): string =>
  code === SIGKILL_EXIT_CODE ? `exit code ${code}, as after SIGKILL` : `exit code ${code}`;

/** A memory limit in bytes as text; 0 for a container without one. */
export const textOfMemoryLimit = (limit: number): string =>
  limit > 0 ? `its memory limit of ${Math.round(limit / 2 ** 20)} MiB` : 'the available memory';

/** The error for a container that was started once. */
export const withoutPreviousLog = (name: string): Permanent =>
  new Permanent('InvalidSpec', `${name} has been started only once, so it has no previous log.`);
