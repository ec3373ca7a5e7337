// Prints the names of the packages of OpenTelemetry whose code the process has loaded when it exits.
// A test loads it before a service. The source maps of a bundle name the files of its code.
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const files = new Set();
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) files.add(fileURLToPath(url));
    return nextLoad(url, context);
  },
});
process.on('exit', () => {
  const sources = [...files].flatMap((file) => [file, ...sourcesOf(`${file}.map`)]);
  const loaded = sources.flatMap((source) => /.*(@opentelemetry\/[^/]+)\//.exec(source)?.[1] ?? []);
  writeSync(1, `${JSON.stringify({ loaded: [...new Set(loaded)] })}\n`);
});

const sourcesOf = (map) => (existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')).sources : []);
