// node packages/contract/dist/write-openapi.js [--check]: writes openapi/*.json from the contract, or compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from './openapi.ts';
import { fleetService, hubService } from './services.ts';

const check = process.argv.includes('--check');

for (const [name, service] of Object.entries({ hub: hubService, fleet: fleetService })) {
  const file = new URL(`../../../openapi/${name}.json`, import.meta.url);
  const text = `${JSON.stringify(openApiDocument(service), null, 2)}\n`;
  if (!check) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`openapi/${name}.json is outdated. Run pnpm openapi and commit the result.`);
    process.exitCode = 1;
  }
}
