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
