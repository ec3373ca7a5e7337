// node lint.mjs: lints openapi/*.json with Redocly and Spectral. Both run as libraries, which open no connections.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createConfig, lint } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { advice, redocly, spectralOff } from './rules.mjs';

const config = await createConfig(redocly);
const spectral = new spectralCore.Spectral();
spectral.setRuleset(
  new spectralCore.Ruleset({
    extends: [[rulesets.oas, 'recommended']],
    rules: Object.fromEntries(spectralOff.map((rule) => [rule, 'off'])),
  }),
);

const found = [];
for (const name of ['hub', 'fleet']) {
  const file = fileURLToPath(new URL(`../../openapi/${name}.json`, import.meta.url));
  for (const { ruleId, message, location } of await lint({ ref: file, config })) {
    found.push({ name, rule: ruleId, at: location[0]?.pointer, message });
  }
  for (const { code, message, path } of await spectral.run(JSON.parse(readFileSync(file, 'utf8')))) {
    found.push({ name, rule: String(code), at: path.join('/'), message });
  }
}

for (const { name, rule, at, message } of found) {
  console.error(`openapi/${name}.json ${at}: ${message} (${rule})${rule in advice ? `; ${advice[rule]}` : ''}`);
}
if (found.length > 0) {
  console.error(
    'Change the declarations in packages/contract/src and run pnpm openapi. rules.mjs lists disabled rules.',
  );
  process.exitCode = 1;
}
