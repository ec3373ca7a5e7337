// Imports the examples of docs/templates.md into a hub, and plans a deployment of each in a fleet with a simulated host.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { repository } from '../../src/settings.ts';
import { aDeployment, type Deployment } from '../sync/deployment.ts';

const page = fs.readFileSync(path.join(repository, 'docs/templates.md'), 'utf8');
const examples = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => ({
  text,
  slug: /^slug: (.*)$/m.exec(text)?.[1] ?? '',
}));

/** The values that a deployment of an example must set. */
const env: Readonly<Record<string, object>> = {
  'example-postgresql': { POSTGRES_PASSWORD: { generate: 32 } },
  'example-internal-service': { STORAGE_URL: 'https://storage.example.test' },
};

let deployment: Deployment;
let engines: ChildProcess;
let folder: string;
let token: string;

async function send(method: string, at: string, body: object) {
  const response = await fetch(`${deployment.urls.fleet}/api/v1${at}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect({ at, text, ok: response.ok }).toEqual({ at, text, ok: true });
  return JSON.parse(text);
}

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'template-examples-'));
  fs.mkdirSync(path.join(folder, 'templates'));
  fs.writeFileSync(path.join(folder, 'categories.yaml'), '- name: Examples\n  slug: examples\n');
  for (const { slug, text } of examples) {
    const owner = text.includes('is_public: false') ? 'owner: acme\n' : '';
    fs.writeFileSync(path.join(folder, 'templates', `${slug}.yaml`), text + owner);
  }
  deployment = await aDeployment();
  await deployment.command('hub', 'create-organization', '--name', 'Acme', '--slug', 'acme', '--tier', 'pro');
  const created = await deployment.command('hub', 'create-api-key', '--organization', 'acme', '--name', 'fleet');
  await deployment.command('hub', 'import', folder);
  await deployment.start('hub');
  const hub = { HUB_URL: deployment.urls.hub, HUB_API_KEY: String(JSON.parse(created).key) };
  await deployment.start('fleet', { ...hub, OUTBOUND_ALLOW: 'http,loopback' });
  token = JSON.parse(await deployment.command('fleet', 'create-token', '--name', 'admin', '--role', 'admin')).secret;
  await send('POST', '/catalog/sync', {});

  engines = fork(path.join(repository, 'bench/fleet/engines.mjs'), [], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = await once(engines.stdout ?? engines, 'data');
  const { endpoints }: { endpoints: string[] } = JSON.parse(String(line));
  await send('POST', '/hosts', {
    ...{ name: 'machine', engine: 'docker', endpoint: endpoints[0] },
    network_types: ['mesh'],
    addresses: { mesh: '10.1.2.3' },
    gpus: [{ id: '0', vram: '24Gi' }],
  });
  await send('POST', '/secrets', {
    ...{ name: 'example-registry', kind: 'registry', server: 'registry.example.com:5000' },
    values: { username: 'fleet', password: 'not a real one' },
  });
  await send('POST', '/secrets', { name: 'example-storage', values: { 'access-key': 'a', 'secret-key': 'b' } });
});
afterAll(async () => {
  engines?.kill();
  await deployment?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

test('docs/templates.md contains four examples with different slugs', () => {
  expect(new Set(examples.map(({ slug }) => slug)).size).toBe(4);
});

test.each(examples.map(({ slug }) => slug))('the example %s can be deployed', async (slug) => {
  const plan = await send('POST', '/deployments/plan', { template: slug, env: env[slug] ?? {} });
  expect(plan).toMatchObject({ ok: true, refusals: [] });
  expect(plan.manifest.length).toBeGreaterThan(0);
});
