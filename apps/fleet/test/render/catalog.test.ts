import { HTTP_PORTS, readHttpPorts } from '@svc/contract';
import { healthCheckOf } from '../../src/render/container-options.ts';
import { renderDocker } from '../../src/render/docker.ts';
import { renderKubernetes } from '../../src/render/kubernetes.ts';
import { starterCatalog, template } from './catalog.ts';
import { dockerManifest } from './docker/schemas.ts';
import { assertValid } from './kubernetes/schemas.ts';
import { aCluster, aHost, aRendering } from './renderings.ts';

test('the starter catalog can be read', () => {
  expect(starterCatalog.length).toBeGreaterThan(40);
});

/** Variables that callers of a service must know, when they are required. */
const SECRET_NAME = /PASS|TOKEN|(?<!PUBLIC_)KEY/;
/** Services with a sign-in that no variable configures. */
const OWN_SIGN_IN: readonly string[] = ['open-webui', 'uptime-kuma'];

test.each(starterCatalog.filter(([, { ports }]) => ports.length > 0))(
  'template %s requires the network type mesh unless it has a sign-in',
  (slug, { env_schema, required_network_types }) => {
    const hasSignIn = env_schema.some(({ name, required }) => required && SECRET_NAME.test(name));
    if (!hasSignIn && !OWN_SIGN_IN.includes(slug)) expect(required_network_types).toContain('mesh');
    else expect(required_network_types.length).toBeLessThan(2);
  },
);

test('RabbitMQ keeps the name of its node, which is part of the path of its data', () => {
  expect(template('rabbitmq').env).toContainEqual({ name: 'RABBITMQ_NODENAME', value: 'rabbit@localhost' });
});

test.each(['n8n', 'keycloak', 'opensearch', 'nginx', 'gitea', 'flowise', 'langflow'])(
  'template %s has a pinned image',
  (slug) => {
    expect(template(slug)).toMatchObject({ image_tag: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
  },
);

test.each(['postgresql', 'pgvector', 'jupyter-pytorch-cuda', 'vllm-openai', 'sglang', 'axolotl-finetune'])(
  'template %s has more shared memory than engines provide, within its memory',
  (slug) => {
    const rendering = aRendering(template(slug));
    const { ShmSize = 0, Memory = 0 } = renderDocker(rendering, aHost(rendering)).containers[0]?.body.HostConfig ?? {};
    expect(ShmSize).toBeGreaterThan(64 * 2 ** 20);
    expect(ShmSize).toBeLessThanOrEqual(Memory / 2);
  },
);

test.each(['postgresql', 'vllm-openai', 'grafana', 'gitea', 'keycloak', 'nginx'])(
  'template %s has a health check of a port that it declares, or with a command',
  (slug) => {
    const check = healthCheckOf(aRendering(template(slug)));
    const ports = template(slug).ports.map(({ containerPort }) => containerPort);
    expect(check?.kind === 'exec' || ports.includes(check?.port ?? 0)).toBe(true);
  },
);

test.each(starterCatalog.filter(([, { env }]) => env.some(({ name }) => name === HTTP_PORTS)))(
  'template %s names only ports that it declares as those with web pages',
  (_, { env, ports }) => {
    const value = env.find(({ name }) => name === HTTP_PORTS)?.value ?? '';
    const declared = ports.filter(({ protocol }) => protocol === 'TCP').map(({ containerPort }) => containerPort);
    const named = readHttpPorts(value)?.map(({ port }) => port) ?? [];
    expect(named).not.toEqual([]);
    expect(declared).toEqual(expect.arrayContaining(named));
  },
);

test.each(starterCatalog)('template %s is rendered for a cluster', (_, spec) => {
  const { objects } = renderKubernetes(aRendering(spec), aCluster());
  expect(objects.length).toBeGreaterThan(0);
  for (const object of objects) assertValid(object);
});

test.each(starterCatalog)('template %s is rendered for a host', (_, spec) => {
  const rendering = aRendering(spec, { replicas: 2 });
  for (const engine of ['docker', 'podman'] as const) {
    const manifest = dockerManifest.parse(renderDocker(rendering, aHost(rendering, engine)));
    expect(manifest.containers.map(({ ordinal }) => ordinal)).toEqual([0, 1]);
  }
});
