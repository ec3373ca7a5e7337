import type { TestEngine } from '@svc/testing/engine';
import type { ConsoleWorld } from './console-world.ts';

/** The pages of both consoles. */
export interface ConsolePages {
  readonly fleet: readonly string[];
  readonly hub: readonly string[];
}

interface WithId {
  readonly id: string;
}

/** Sends the body of a new object. @returns the created object */
async function create(world: ConsoleWorld, service: 'hub' | 'fleet', path: string, body: object): Promise<WithId> {
  const reply = await world.call({ service, method: 'POST', path, body });
  // A reply has the created object as its first member.
  return Object.values(reply as Record<string, WithId>)[0] as WithId;
}

/** What a container of the template writes to its log in addition to its greeting. */
export const LOGGED = '<img src=x onerror=alert(1)> <b>bold</b>';

/**
 * Creates a template that runs if its variable GREETING is `hello`, and copies it to the fleet,
 * unless this has happened.
 */
export async function createGreeter(world: ConsoleWorld, engine: TestEngine): Promise<void> {
  const known = await world
    .call({ service: 'fleet', method: 'GET', path: '/catalog/templates/greeter' })
    .catch(() => undefined);
  if (known !== undefined) return;
  await createTemplate(world, engine, {
    name: 'Greeter',
    description: 'A page, and a line of log twice a second.',
    script: [
      'test "$GREETING" = hello || { echo "GREETING must be hello"; exit 1; }',
      'httpd -p 8080 -h /bin',
      `while true; do echo "says $GREETING ${LOGGED}"; sleep 0.5; done`,
    ],
    variable: { name: 'GREETING', required: true, description: 'The text of each line.' },
  });
}

/** Creates a template whose only page has the password of the deployment as its path. */
export const createDoor = (world: ConsoleWorld, engine: TestEngine): Promise<void> =>
  createTemplate(world, engine, {
    name: 'Door',
    description: 'A page for those who know the password.',
    script: [
      'mkdir -p "/tmp/www/$PASSWORD"',
      'echo open > "/tmp/www/$PASSWORD/index.html"',
      'httpd -f -p 8080 -h /tmp/www',
    ],
    variable: { name: 'PASSWORD', required: true, description: 'Who knows it can enter. [secret]' },
  });

interface NewTemplate {
  readonly name: string;
  readonly description: string;
  /** The lines of a shell script that serves port 8080. */
  readonly script: readonly string[];
  readonly variable: { readonly name: string; readonly required: boolean; readonly description: string };
}

/** Creates a template with a port and a variable, and copies it to the fleet. */
async function createTemplate(
  world: ConsoleWorld,
  { image }: TestEngine,
  { name: title, description, script, variable }: NewTemplate,
): Promise<void> {
  const { categories } = (await world.call({ service: 'hub', method: 'GET', path: '/admin/categories' })) as {
    // The contract states this shape.
    categories: readonly { readonly id: string; readonly is_private: boolean }[];
  };
  const [, registry = '', name = '', tag = ''] = /^([^/]+)\/(.+):(.+)$/.exec(image) ?? [];
  await create(world, 'hub', '/admin/templates', {
    name: title,
    category_id: categories.find(({ is_private }) => !is_private)?.id,
    description,
    registry_url: registry,
    image_name: name,
    image_tag: tag,
    command: ['/bin/sh', '-c', script.join('; ')],
    env: [{ name: 'SVC_HTTP_PORTS', value: '8080' }],
    ports: [{ containerPort: 8080 }],
    required_network_types: ['mesh'],
    env_schema: [variable],
  });
  await world.call({ service: 'fleet', method: 'POST', path: '/catalog/sync', body: {} });
}

/**
 * Creates an object of each kind, so that each page has something to show, with a deployment of the
 * greeter if there is an engine.
 * @returns all pages, with those of the objects
 */
export async function createObjects(world: ConsoleWorld, engine: TestEngine | undefined): Promise<ConsolePages> {
  const host = await create(world, 'fleet', '/hosts', {
    name: 'gpu-host',
    engine: 'podman',
    endpoint: 'unix:///nonexistent/engine.sock',
    addresses: { public: '192.0.2.1' },
    network_types: ['public'],
    gpus: [{ id: 'gpu-0', model: 'A100', vram: '80Gi' }],
    taints: [{ key: 'dedicated', value: 'training', effect: 'NoSchedule' }],
    labels: { rack: 'r1' },
  });
  const cluster = await create(world, 'fleet', '/clusters', {
    name: 'cluster',
    server: 'https://127.0.0.1:9',
    auth: { kind: 'token', token: 'not-a-token' },
  });
  const application = await create(world, 'fleet', '/applications', {
    name: 'shown-application',
    spec: {
      parts: [{ name: 'web', image_name: 'team/wiki', tolerations: [{ key: 'dedicated', operator: 'Exists' }] }],
    },
    target: { host_id: host.id },
    desired_state: 'stopped',
  });
  await create(world, 'fleet', '/secrets', { name: 'database', values: { password: 'unknown' } });
  await create(world, 'fleet', '/storage', { name: 'archive', size: '1Gi' });
  await create(world, 'fleet', '/tokens', { name: 'agent', role: 'viewer' });
  await create(world, 'fleet', '/users', { email: 'ursula@example.test', name: 'Ursula', role: 'operator' });
  const deployments = engine ? await deploymentPages(world, engine) : [];
  const category = await create(world, 'hub', '/admin/categories', { name: 'Restricted', is_private: true });
  const template = await create(world, 'hub', '/admin/templates', {
    name: 'Restricted tool',
    category_id: category.id,
    image_name: 'tool',
    documentation: '# Restricted tool',
  });

  return {
    fleet: [
      '/',
      '/deployments',
      '/deployments/new',
      ...deployments,
      '/applications',
      `/applications/${application.id}`,
      '/updates',
      '/updates/new',
      '/catalog',
      '/catalog/postgresql',
      '/deploy/postgresql',
      '/catalog?tab=applications',
      '/catalog/applications/ghost',
      '/deploy/applications/ghost',
      '/convert',
      '/workloads',
      '/hosts',
      '/hosts/new',
      ...tabsOf(`/hosts/${host.id}`, ['orphans', 'events']),
      '/clusters',
      '/clusters/new',
      ...tabsOf(`/clusters/${cluster.id}`, ['orphans', 'events']),
      '/storage',
      '/secrets',
      '/users',
      '/tokens',
      '/audit',
      ...tabsOf('/settings', ['hub']),
      '/sync',
      '/account',
      ...CONNECT,
      '/absent',
    ],
    hub: [
      '/',
      '/templates/postgresql',
      '/templates/absent',
      ...tabsOf('/organization', ['access']),
      '/keys',
      '/account',
      ...CONNECT,
      '/statistics',
      '/admin/templates',
      '/admin/templates/new',
      '/admin/convert',
      '/admin/applications',
      '/admin/applications/new',
      `/admin/templates/${template.id}`,
      '/admin/categories',
      '/admin/access',
      '/admin/access?tab=requests',
      '/admin/access?tab=view',
      '/admin/access?tab=view&org=demo',
      '/admin/organizations',
      '/admin/users',
      '/admin/keys',
      '/admin/service-tokens',
      '/admin/webhooks',
      '/admin/audit',
      '/absent',
    ],
  };
}

/** The page that connects svc, with a complete link and with another one. */
const CONNECT = [`/console/connect?port=9&state=${'s'.repeat(43)}&challenge=${'c'.repeat(43)}`, '/console/connect'];

const tabsOf = (path: string, tabs: readonly string[]) => [path, ...tabs.map((tab) => `${path}?tab=${tab}`)];

async function deploymentPages(world: ConsoleWorld, engine: TestEngine): Promise<readonly string[]> {
  await createGreeter(world, engine);
  const body = { name: 'shown-greeter', template: 'greeter', env: { GREETING: 'hello' } };
  const { deployment } = (await world.call({ service: 'fleet', method: 'POST', path: '/deployments', body })) as {
    deployment: { id: string; workload_id: string }; // the contract of the response
  };
  const run = await create(world, 'fleet', '/update-runs', { deployment_ids: [deployment.id] });
  const files = [
    {
      path: 'shown.yaml',
      text: 'kind: deployment\nname: shown-planned\ntemplate: greeter\nenv: { GREETING: hello }\n',
    },
  ];
  const requireApproval = (approval: string) =>
    world.call({ service: 'fleet', method: 'PUT', path: '/settings/approvals', body: { approval } });
  const plan = await create(world, 'fleet', '/plans', { files });
  await requireApproval('all');
  const waiting = await create(world, 'fleet', '/plans', { files });
  await create(world, 'fleet', '/sources', { name: 'shop', url: 'https://git.example.com/team/shop.git' });
  await requireApproval('none');
  return [
    `/updates/new?chosen=${deployment.id}`,
    `/updates/${run.id}`,
    '/plans',
    '/sources',
    `/plans/${plan.id}`,
    `/plans/${waiting.id}`,
    '/settings?tab=approvals',
    ...tabsOf(`/deployments/${deployment.id}`, ['log', 'events', 'history', 'manifest']),
    `/deployments/${deployment.id}/change`,
    `/deployments/${deployment.id}/update`,
    ...tabsOf(`/workloads/${deployment.workload_id}`, ['revisions', 'specification']),
    `/workloads/${deployment.workload_id}/revision`,
  ];
}
