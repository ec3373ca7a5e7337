// node --conditions=@svc/source packages/contract/src/openapi/write.ts [--check]: writes
// openapi/*.json and the tables of docs/status-codes.md and docs/templates.md from the contract, or
// compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from './document.ts';
import { fleetService, hubService } from './services.ts';
import { withTables } from './status-codes.ts';
import { withTemplateTables } from './template-tables.ts';

const check = process.argv.includes('--check');
const read = (file: string) => readFileSync(pathOf(file), 'utf8');
const pathOf = (file: string) => new URL(`../../../../${file}`, import.meta.url);

const hubDocument = openApiDocument(hubService);
const generated = {
  'openapi/hub.json': `${JSON.stringify(hubDocument, null, 2)}\n`,
  'openapi/fleet.json': `${JSON.stringify(openApiDocument(fleetService), null, 2)}\n`,
  'docs/status-codes.md': withTables(read('docs/status-codes.md'), [hubService, fleetService]),
  'docs/templates.md': withTemplateTables(read('docs/templates.md'), hubDocument),
};

for (const [file, text] of Object.entries(generated)) {
  if (!check) writeFileSync(pathOf(file), text);
  else if (read(file) !== text) {
    console.error(`${file} is outdated. Run pnpm openapi and commit the result.`);
    process.exitCode = 1;
  }
}
