import createClient from 'openapi-fetch';
import type { paths as FleetPaths } from './dist/fleet.ts';
import type { paths as HubPaths } from './dist/hub.ts';

// Calls that clients typically make. They compile with the types that are generated from the OpenAPI documents, and leave
// out all members that have defaults. `@ts-expect-error` marks calls that must not compile.

const headers = { Authorization: 'Bearer token' };
const hub = createClient<HubPaths>({ baseUrl: 'https://hub.example.com', headers });
const fleet = createClient<FleetPaths>({ baseUrl: 'https://fleet.example.com', headers });

export async function callHub(): Promise<void> {
  const { data: list } = await hub.GET('/api/v1/catalog/templates', {
    params: { query: { search: 'postgres', page: 2 } },
  });
  const slug: string = list?.templates[0]?.slug ?? '';
  await hub.GET('/api/v1/catalog/templates');
  await hub.GET('/api/v1/catalog/templates/{slug}', { params: { path: { slug } } });
  await hub.GET('/api/v1/catalog/templates/updates', { params: { query: { since: '1970-01-01T00:00:00Z' } } });
  await hub.POST('/api/v1/admin/categories', { body: { name: 'Databases' } });
  await hub.POST('/api/v1/admin/templates', {
    body: {
      name: 'Server',
      category_id: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10',
      ports: [{ containerPort: 80 }],
      env_schema: [{ name: 'PASSWORD' }],
    },
  });
  const query = { id: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10' };
  await hub.PUT('/api/v1/admin/templates', { params: { query, header: { 'If-Match': '"1"' } }, body: { name: 'New' } });
  await hub.DELETE('/api/v1/admin/templates', { params: { query } });
  const { data: created, error } = await hub.POST('/api/v1/account/api-keys', { body: { name: 'fleet' } });
  const secret: string | undefined = created?.apiKey.key;
  const code: string | undefined = error?.code;
  console.log(secret, code);
  // @ts-expect-error a name is required
  await hub.POST('/api/v1/account/api-keys', { body: {} });
}

export async function callFleet(): Promise<void> {
  const { data: session } = await fleet.POST('/api/v1/auth/login', {
    body: { email: 'ada@example.com', password: 'correct horse battery staple' },
  });
  console.log(session?.access_token, session?.user.role);
  await fleet.POST('/api/v1/catalog/sync');
  await fleet.POST('/api/v1/catalog/sync', { body: { full: true } });
  await fleet.POST('/api/v1/hosts', {
    body: {
      name: 'one',
      engine: 'docker',
      endpoint: 'tcp://engine.example.com:2376',
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      gpus: [{ id: '0' }],
    },
  });
  await fleet.POST('/api/v1/clusters', {
    body: { name: 'main', server: 'https://cluster.example.com', auth: { kind: 'token', token: 'secret' } },
  });
  await fleet.POST('/api/v1/secrets', { body: { name: 'token', values: { key: 'value' } } });
  await fleet.POST('/api/v1/storage', { body: { name: 'data' } });
  await fleet.POST('/api/v1/workloads', {
    body: {
      name: 'web',
      image_name: 'library/nginx',
      ports: [{ containerPort: 80 }],
      env: [{ name: 'A', value: '1' }],
    },
  });
  const { data: created } = await fleet.POST('/api/v1/deployments', {
    params: { header: { 'Idempotency-Key': 'one' } },
    body: { name: 'database', template: 'postgres', volumes: { data: { size: '20Gi' } } },
  });
  const id = created?.deployment.id ?? '';
  await fleet.POST('/api/v1/deployments/plan', { body: { deployment_id: id, replicas: 2 } });
  await fleet.POST('/api/v1/deployments/{id}/scale', { params: { path: { id } }, body: { replicas: 2 } });
  await fleet.POST('/api/v1/deployments/{id}/rollback', { params: { path: { id } } });
  await fleet.GET('/api/v1/deployments', { params: { query: { label: 'team=ml' } } });
  await fleet.DELETE('/api/v1/deployments/{id}', { params: { path: { id } } });
  // @ts-expect-error the number of replicas is required
  await fleet.POST('/api/v1/deployments/{id}/scale', { params: { path: { id } }, body: {} });
  // @ts-expect-error the protocol is text
  await fleet.POST('/api/v1/workloads', { body: { name: 'web', ports: [{ containerPort: 80, protocol: 6 }] } });
}
