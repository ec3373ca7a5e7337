import type { IncomingHttpHeaders } from 'node:http';

/**
 * Values come from the code or from fixed sets. They must not contain what callers send, or values
 * of statements.
 */
type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanOptions {
  readonly name: string;
  /**
   * `server`: a request to this service, `client`: a call of another one, `internal`: work of this
   * process.
   */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /**
   * The headers of a request, which can name the trace of its caller. Undefined: the span belongs
   * to the current trace.
   */
  readonly callerHeaders?: IncomingHttpHeaders;
}

/** A part of a trace: work with a start and an end. */
export interface Span {
  /** The headers with which a called service continues the trace. */
  readonly headers: Readonly<Record<string, string>>;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /**
   * Ends the span. `failure` is the type of the error if the work failed, without text from
   * callers.
   */
  end(failure?: string): void;
}

export interface Tracer {
  start(options: SpanOptions): Span;
  /** Runs work whose spans become children of `span`. */
  run<T>(span: Span, work: () => T): T;
  /** Whether the current work belongs to a span that has not ended. */
  isWithinSpan(): boolean;
  /** Exports what was collected, for a limited time. */
  close(): Promise<void>;
}
