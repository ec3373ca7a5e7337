// node client.mjs: generates types with openapi-typescript, with its default options, and compiles calls.ts with them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const folder = fileURLToPath(new URL('.', import.meta.url));
mkdirSync(`${folder}dist`, { recursive: true });
for (const name of ['hub', 'fleet']) {
  const document = JSON.parse(readFileSync(`${folder}../../openapi/${name}.json`, 'utf8'));
  writeFileSync(`${folder}dist/${name}.d.ts`, astToString(await openapiTS(document)));
}
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', folder], { stdio: 'inherit' });
if (status !== 0) {
  console.error('calls.ts does not compile with the types that openapi-typescript generates from openapi/*.json.');
  process.exitCode = 1;
}
