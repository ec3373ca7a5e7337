// node client.mjs: generates types with openapi-typescript, and compiles calls.ts with them.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { writeTypes } from './types.mjs';

await writeTypes(path.join(import.meta.dirname, 'dist'));
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', import.meta.dirname], { stdio: 'inherit' });
if (status !== 0) {
  console.error('calls.ts does not compile with the types that openapi-typescript generates from openapi/*.json.');
  process.exitCode = 1;
}
