import type { IncomingHttpHeaders } from 'node:http';
import type { Log } from './log.ts';

/** Values come from the code or from fixed sets. They must not contain what callers send, or values of statements. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanOptions {
  readonly name: string;
  /** `server`: a request to this service, `client`: a call of another one, `internal`: work of this process. */
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** The headers of a request, which can name the trace of its caller. Undefined: the span belongs to the current trace. */
  readonly callerHeaders?: IncomingHttpHeaders;
}

/** A part of a trace: work with a start and an end. */
export interface Span {
  /** The headers with which a called service continues the trace. */
  readonly headers: Readonly<Record<string, string>>;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Ends the span. `failure` is the type of the error if the work failed, without text from callers. */
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

let tracer: Tracer | undefined;

/** The tracer of this process; undefined if traces are off. */
export const currentTracer = (): Tracer | undefined => tracer;

interface Tracing {
  readonly service: string;
  readonly version: string;
  readonly log: Log;
}

/**
 * Starts to trace if the standard variables of OpenTelemetry enable it. Otherwise, nothing is loaded. It must be called before
 * the database is opened. @returns a function that exports the last spans and stops tracing, for at most two seconds
 */
export async function startTracing(tracing: Tracing): Promise<() => Promise<void>> {
  const { isEnabled, warnings } = readTraceVariables(process.env);
  for (const warning of warnings) tracing.log.warn(warning);
  if (!isEnabled) return async () => undefined;
  const { createTracer } = await import('./opentelemetry.ts');
  const started = await createTracer(tracing);
  tracer = started;
  return async () => {
    tracer = undefined;
    await started.close();
  };
}

interface TraceVariables {
  readonly isEnabled: boolean;
  /** About values that this service does not support. The specification of OpenTelemetry requires to ignore them. */
  readonly warnings: readonly string[];
}

/**
 * Whether traces are on. Unlike in the specification of OpenTelemetry, `OTEL_TRACES_EXPORTER` has the default `none` unless an
 * endpoint is set.
 */
export function readTraceVariables(environment: NodeJS.ProcessEnv): TraceVariables {
  const { OTEL_SDK_DISABLED: disabled = '', OTEL_TRACES_EXPORTER: given = '' } = environment;
  const hasEndpoint = [environment.OTEL_EXPORTER_OTLP_ENDPOINT, environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT].some(Boolean);
  const exporters = (given || (hasEndpoint ? 'otlp' : 'none')).split(',').map((name) => name.trim());
  const isEnabled = disabled.toLowerCase() !== 'true' && exporters.includes('otlp');
  const unknown = exporters.filter((name) => name !== 'otlp' && name !== 'none');
  const protocol = traceProtocolOf(environment);
  return {
    isEnabled,
    warnings: [
      ...unknown.map((name) => `OTEL_TRACES_EXPORTER: ${name} is ignored; otlp and none are supported`),
      ...(isEnabled && protocol !== 'http/protobuf' && protocol !== 'http/json'
        ? [`OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol} is not supported; http/protobuf is used`]
        : []),
    ],
  };
}

/** The protocol of the exporter, as the environment states it. */
export const traceProtocolOf = (environment: NodeJS.ProcessEnv): string =>
  environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || environment.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf';

type Work<T> = (span: Span | undefined) => Promise<T>;

/** Runs work in a span: a child of the current one, or the first one of a new trace. */
export const traced = <T>(describe: () => SpanOptions, work: Work<T>): Promise<T> =>
  tracer ? record(tracer, describe(), work) : work(undefined);

/** Runs work in a child of the current span. Without a current span, the work is not traced. */
export const tracedWithin = <T>(describe: () => SpanOptions, work: Work<T>): Promise<T> =>
  tracer?.isWithinSpan() ? record(tracer, describe(), work) : work(undefined);

async function record<T>(tracer: Tracer, options: SpanOptions, work: Work<T>): Promise<T> {
  const span = tracer.start(options);
  try {
    const result = await tracer.run(span, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}

/** The code or the name of an error. Messages can contain values. */
function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
