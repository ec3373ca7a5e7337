import { expect, test } from '@jest/globals';
import { readTraceVariables } from '../../src/observe/trace-variables.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example.test:4318' };

test.each<[string, NodeJS.ProcessEnv, boolean]>([
  ['no variable', {}, false],
  ['an endpoint', ENDPOINT, true],
  [
    'an endpoint for traces',
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector.example.test:4318/v1/traces' },
    true,
  ],
  ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  ['the exporter otlp', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ['the exporter none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
  ['an empty exporter', { ...ENDPOINT, OTEL_TRACES_EXPORTER: '' }, true],
  ['a list of exporters', { OTEL_TRACES_EXPORTER: 'console, otlp' }, true],
  ['an exporter that is not supported', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }, false],
  ['a disabled SDK', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'True' }, false],
  ['an SDK that is not disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, true],
  ['a service name only', { OTEL_SERVICE_NAME: 'fleet' }, false],
])('with %s, traces are on or off as documented', (_, environment, isEnabled) => {
  expect(readTraceVariables(environment).isEnabled).toBe(isEnabled);
});

test('values that are not supported cause warnings', () => {
  const { warnings } = readTraceVariables({
    OTEL_TRACES_EXPORTER: 'zipkin,otlp',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  expect(warnings).toEqual([
    'OTEL_TRACES_EXPORTER: zipkin is ignored; otlp and none are supported',
    'OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported; http/protobuf is used',
  ]);
  expect(readTraceVariables({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }).warnings).toEqual([]);
});
