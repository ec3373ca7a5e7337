import type { Log } from './log.ts';
import { readTraceVariables } from './trace-variables.ts';
import type { Span, SpanOptions, Tracer } from './tracer.ts';

let tracer: Tracer | undefined;

/** The tracer of this process; undefined if traces are off. */
export const currentTracer = (): Tracer | undefined => tracer;

interface Tracing {
  readonly service: string;
  readonly version: string;
  readonly log: Log;
}

/**
 * Starts to trace if the standard variables of OpenTelemetry enable it. Otherwise, nothing is
 * loaded. It must be called before the database is opened. @returns a function that exports the
 * last spans and stops tracing, for at most two seconds
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

type Work<T> = (span: Span | undefined) => Promise<T>;

/** Runs work in a span: a child of the current one, or the first one of a new trace. */
export const traced = <T>(optionsOfSpan: () => SpanOptions, work: Work<T>): Promise<T> =>
  tracer ? record(tracer, optionsOfSpan(), work) : work(undefined);

/** Runs work in a child of the current span. Without a current span, the work is not traced. */
export const tracedWithin = <T>(optionsOfSpan: () => SpanOptions, work: Work<T>): Promise<T> =>
  tracer?.isWithinSpan() ? record(tracer, optionsOfSpan(), work) : work(undefined);

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
