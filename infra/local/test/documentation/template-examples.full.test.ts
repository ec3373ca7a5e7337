// Imports the starter catalog and the examples of docs/templates.md into a hub, and plans a deployment of each template in
// a fleet with a simulated host: with the command that the hub prints, and with the API.
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Template, templateControls } from '@svc/contract';
import { catalogFileOf } from '../../../../packages/console/src/fleet/catalog/catalog-file.ts';
import { deployCommandOf } from '../../../../packages/console/src/hub/catalog/deploy-command.ts';
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

async function send(method: string, at: string, body?: object) {
  const response = await fetch(`${deployment.urls.fleet}/api/v1${at}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect({ at, text, ok: response.ok }).toEqual({ at, text, ok: true });
  return JSON.parse(text);
}

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'template-examples-'));
  fs.cpSync(path.join(repository, 'infra/catalog'), folder, { recursive: true });
  // Everybody sees all categories, so that the fleet has all templates.
  const categories = fs.readFileSync(path.join(folder, 'categories.yaml'), 'utf8');
  fs.writeFileSync(
    path.join(folder, 'categories.yaml'),
    `${categories.replaceAll('is_private: true', 'is_private: false')}\n- name: Examples\n  slug: examples\n`,
  );
  for (const { slug, text } of examples) {
    const owner = text.includes('is_public: false') ? 'owner: acme\n' : '';
    fs.writeFileSync(path.join(folder, 'templates', `${slug}.yaml`), text + owner);
  }
  deployment = await aDeployment();
  await deployment.command('hub', 'create-organization', '--name', 'Acme', '--slug', 'acme', '--tier', 'enterprise');
  const created = await deployment.command('hub', 'create-api-key', '--organization', 'acme', '--name', 'fleet');
  await deployment.command('hub', 'import', folder);
  await deployment.start('hub');
  const hub = { HUB_URL: deployment.urls.hub, HUB_API_KEY: String(JSON.parse(created).key) };
  await deployment.start('fleet', { ...hub, OUTBOUND_ALLOW: 'http,loopback' });
  token = JSON.parse(await deployment.command('fleet', 'create-token', '--name', 'admin', '--role', 'admin')).secret;
  await send('POST', '/catalog/sync', {});

  engines = fork(path.join(repository, 'bench/fleet/engines.mjs'), ['--cpus', '256'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [line] = await once(engines.stdout ?? engines, 'data');
  const { endpoints }: { endpoints: string[] } = JSON.parse(String(line));
  await send('POST', '/hosts', {
    ...{ name: 'machine', engine: 'docker', endpoint: endpoints[0] },
    labels: { 'nvidia.com/gpu.present': 'true' },
    network_types: ['mesh', 'public'],
    addresses: { mesh: '10.1.2.3', public: '203.0.113.5' },
    gpus: Array.from({ length: 8 }, (_, id) => ({ id: `${id}`, vram: '80Gi' })),
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

/** The templates of the starter catalog, as the mirror of the fleet has them. */
async function starterCatalog(): Promise<readonly Template[]> {
  const slugs = fs.readdirSync(path.join(repository, 'infra/catalog/templates')).map((file) => path.parse(file).name);
  const first = await send('GET', '/catalog/templates?limit=100&view=summary');
  // The contract states this shape.
  const templates = first.templates as readonly Template[];
  expect(first.pagination.totalPages).toBe(1);
  expect(slugs.filter((slug) => !templates.some((one) => one.slug === slug))).toEqual([]);
  return templates.filter(({ slug }) => slugs.includes(slug));
}

/** The command as the hub prints it, with a curl that asks for the plan of the request, and prints it on one line. */
const PLANNING = `set -eu
curl() {
  local words=()
  for word in "$@"; do
    [ "$word" = "$FLEET_URL/api/v1/deployments" ] && word="$word/plan"
    words+=("$word")
  done
  command curl --silent --max-time 60 "\${words[@]}"
  echo
}
`;

test('a fleet accepts the command that the hub prints for each template of the starter catalog', async () => {
  const templates = await starterCatalog();
  const commands = templates.map(deployCommandOf);
  const secrets = new Map<string, Set<string>>();
  for (const { secret_refs } of templates)
    for (const { name, key = 'value' } of secret_refs) secrets.set(name, (secrets.get(name) ?? new Set()).add(key));
  for (const [name, keys] of secrets) {
    await send('POST', '/secrets', { name, values: Object.fromEntries([...keys].map((key) => [key, 'a value'])) });
  }
  const variables = commands.flatMap((command) => command.variables.map(({ name }) => [name, 'https://example.test']));
  const { stdout } = await promisify(execFile)('bash', ['-c', PLANNING + commands.map(({ text }) => text).join('\n')], {
    env: {
      PATH: process.env.PATH,
      FLEET_URL: deployment.urls.fleet,
      FLEET_TOKEN: token,
      ...Object.fromEntries(variables),
    },
    maxBuffer: 2 ** 26,
  });
  const plans = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  expect(
    plans.map(({ ok, refusals, detail }, index) => ({ slug: templates[index]?.slug, ok, refusals, detail })),
  ).toEqual(templates.map(({ slug }) => ({ slug, ok: true, refusals: [], detail: undefined })));
});

test('a hub imports the catalog file of a workload, and a fleet deploys it', async () => {
  const described = {
    image_name: 'team/app',
    image_tag: '1.2',
    command: ['sh', '-c', 'echo "two\nlines"', '- not a list: #'],
    env: [{ name: 'SVC_HEALTH_CHECK', value: 'http:80/health' }],
    env_schema: [
      { name: 'MODE', default_value: 'yes' },
      { name: 'PASSWORD', required: true, description: 'No quotes: "here" [secret]' },
    ],
    ports: [{ containerPort: 80, protocol: 'TCP' }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
    node_selector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
    cpu_request: '1',
    gpu_count: 1,
  };
  const env = { PASSWORD: { generate: 32 } };
  const created = await send('POST', '/deployments', { name: 'own-app', spec: described, env });
  const { workload } = await send('GET', `/workloads/${created.deployment.workload_id}`);
  const entry = { name: 'Own app', slug: 'own-app', category: 'examples', version: '1.0', description: 'Its "own"' };
  fs.writeFileSync(path.join(folder, 'templates/own-app.yaml'), catalogFileOf(templateControls, entry, workload));
  await deployment.command('hub', 'import', folder);
  await send('POST', '/catalog/sync', {});
  const template = await send('GET', '/catalog/templates/own-app');
  const { category: _, ...stated } = entry;
  expect(template).toMatchObject({ ...stated, ...described, env_schema: workload.env_schema });
  expect(await send('POST', '/deployments/plan', { template: 'own-app', env })).toMatchObject({ ok: true });
});
