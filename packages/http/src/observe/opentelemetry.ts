import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Context,
  type DiagLogFunction,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Log } from './log.ts';
import { traceProtocolOf } from './trace-variables.ts';
import type { Span, Tracer } from './tracer.ts';

/** Maximum time for the export of the last spans at the end of the process. */
const FLUSH_LIMIT_MS = 2000;
/** At most one line per period is logged about problems inside the SDK. */
const DIAGNOSTICS_PERIOD_MS = 60_000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/**
 * The span of the work in progress. Work can outlast its span, such as a stream that a request has
 * started.
 */
interface Current {
  readonly context: Context;
  hasEnded: boolean;
}

/**
 * Creates a tracer of the SDK of OpenTelemetry, which reads its standard variables. Ended spans
 * wait in a queue of limited size. A full queue drops spans, so that no work waits for the
 * collector.
 */
export async function createTracer(o: {
  readonly service: string;
  readonly version: string;
  readonly log: Log;
}): Promise<Tracer> {
  logDiagnostics(o.log);
  const own = { 'service.name': o.service, 'service.version': o.version, 'service.instance.id': randomUUID() };
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(logFailures(await createExporter(), o.log))],
  });
  const tracer = provider.getTracer(o.service, o.version);
  const propagator = propagates(process.env) ? new W3CTraceContextPropagator() : undefined;
  const storage = new AsyncLocalStorage<Current>();
  const currents = new WeakMap<Span, Current>();
  return {
    start: ({ name, kind, attributes, callerHeaders }) => {
      const parent = callerHeaders
        ? propagator?.extract(ROOT_CONTEXT, callerHeaders, defaultTextMapGetter)
        : storage.getStore()?.context;
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], ...(attributes && { attributes }) },
        parent ?? ROOT_CONTEXT,
      );
      const current: Current = { context: trace.setSpan(ROOT_CONTEXT, span), hasEnded: false };
      const started: Span = {
        get headers() {
          const headers: Record<string, string> = {};
          propagator?.inject(current.context, headers, defaultTextMapSetter);
          return headers;
        },
        set: (more) => void span.setAttributes(more),
        rename: (to) => void span.updateName(to),
        end: (failure) => {
          if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
          current.hasEnded = true;
          span.end();
        },
      };
      currents.set(started, current);
      return started;
    },
    run: (span, work) => storage.run(currents.get(span) as Current, work), // `start` has set it
    isWithinSpan: () => storage.getStore()?.hasEnded === false,
    close: async () => {
      const flushed = provider.shutdown().then(
        () => true,
        () => false,
      );
      const isFlushed = await Promise.race([flushed, wait(FLUSH_LIMIT_MS, false)]);
      if (!isFlushed) o.log.warn('the last traces were not exported');
    },
  };
}

/** `OTEL_PROPAGATORS`: W3C Trace Context is the only format. */
const propagates = ({ OTEL_PROPAGATORS: given }: NodeJS.ProcessEnv) =>
  (given || 'tracecontext').split(',').some((name) => name.trim() === 'tracecontext');

async function createExporter(): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    traceProtocolOf(process.env) === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** Logs the first failed export, and the first one that succeeds again. */
function logFailures(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing)
          log.warn({ reason: result.error?.message }, 'traces cannot be exported and are dropped');
        if (!hasFailed && isFailing) log.info('traces are exported again');
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * Logs warnings of the SDK, such as invalid variables and spans that were dropped because the queue
 * was full.
 */
function logDiagnostics(log: Log): void {
  setGlobalErrorHandler(() => undefined); // `logFailures` receives failed exports
  let nextAt = 0;
  const write: DiagLogFunction = (reason) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + DIAGNOSTICS_PERIOD_MS;
    log.warn({ reason }, 'tracing is impaired');
  };
  const ignore = () => undefined;
  const logger = { error: write, warn: write, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
