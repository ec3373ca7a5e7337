// Prints the names of the packages of OpenTelemetry that the process has loaded when it exits. A test loads it before a service.
import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';

const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  const loaded = Object.keys(cache).flatMap((file) => /.*(@opentelemetry\/[^/]+)\//.exec(file)?.[1] ?? []);
  writeSync(1, `${JSON.stringify({ loaded: [...new Set(loaded)] })}\n`);
});
