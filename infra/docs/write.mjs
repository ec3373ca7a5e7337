// node --conditions=@svc/source infra/docs/write.mjs [--check]: writes the generated parts of
// docs/configuration.md and docs/dependencies.md, or compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { withSettings } from './configuration.mjs';
import { withPackages } from './dependencies.mjs';

const pages = { 'docs/configuration.md': withSettings, 'docs/dependencies.md': withPackages };

for (const [file, generate] of Object.entries(pages)) {
  const at = new URL(`../../${file}`, import.meta.url);
  const page = readFileSync(at, 'utf8');
  const generated = generate(page);
  if (!process.argv.includes('--check')) writeFileSync(at, generated);
  else if (page !== generated) {
    console.error(`${file} is outdated. Run pnpm reference and commit the result.`);
    process.exitCode = 1;
  }
}
