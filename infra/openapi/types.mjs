// node types.mjs <folder>: generates the types of both services from openapi/*.json with openapi-typescript, with its default
// options: hub.ts and fleet.ts.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

/** @param folder where the files are written */
export async function writeTypes(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of ['hub', 'fleet']) {
    const document = JSON.parse(readFileSync(path.join(import.meta.dirname, `../../openapi/${name}.json`), 'utf8'));
    writeFileSync(path.join(folder, `${name}.ts`), astToString(await openapiTS(document)));
  }
}

if (process.argv[1] === import.meta.filename) await writeTypes(path.resolve(process.argv[2] ?? 'dist'));
