interface TraceVariables {
  readonly isEnabled: boolean;
  /**
   * About values that this service does not support. The specification of OpenTelemetry requires to
   * ignore them.
   */
  readonly warnings: readonly string[];
}

/**
 * Whether traces are on. Unlike in the specification of OpenTelemetry, `OTEL_TRACES_EXPORTER` has
 * the default `none` unless an endpoint is set.
 */
export function readTraceVariables(environment: NodeJS.ProcessEnv): TraceVariables {
  const { OTEL_SDK_DISABLED: disabled = '', OTEL_TRACES_EXPORTER: given = '' } = environment;
  const hasEndpoint = [environment.OTEL_EXPORTER_OTLP_ENDPOINT, environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT].some(
    Boolean,
  );
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
