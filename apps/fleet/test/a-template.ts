import { randomUUID } from 'node:crypto';
import { type Template, template, templateDefaults } from '@svc/contract';

/** A function that returns names in the order of its calls, also if other files of the same process have called it before. */
export function namesOf(what: string): () => string {
  let count = 0;
  return () => `${what} ${String(++count).padStart(6, '0')}`;
}

const nextName = namesOf('template');

/** A template in the format in which a hub sends it. */
export function aTemplate(given: Partial<Template> = {}): Template {
  const name = given.name ?? nextName();
  const at = '2026-01-02T03:04:05.678Z';
  return template.parse({
    ...templateDefaults,
    id: randomUUID(),
    name,
    slug: given.slug ?? name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    category_id: randomUUID(),
    category_name: 'Tools',
    category_slug: 'tools',
    category_icon: '',
    image_name: 'library/postgres',
    image_tag: '18',
    cpu_request: '500m',
    memory_request: '1Gi',
    env: [{ name: 'MODE', value: 'fast' }],
    env_schema: [{ name: 'NAME', required: true, default_value: '', description: 'Who it is' }],
    ports: [{ containerPort: 5432, protocol: 'TCP' }],
    volume_mounts: [{ name: 'data', mountPath: '/data' }],
    node_selector: { disk: 'fast' },
    required_network_types: ['public'],
    download_count: 7,
    documentation: '# How to use it',
    registry_url: 'ghcr.io',
    registry_credentials: 'pull-secret',
    secret_refs: [{ name: 'password', env: 'PASSWORD' }],
    command: ['serve', '--all'],
    tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }],
    created_at: at,
    updated_at: at,
    ...given,
  });
}
