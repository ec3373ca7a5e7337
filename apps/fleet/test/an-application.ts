import { randomUUID } from 'node:crypto';
import { type Application, application } from '@svc/contract';
import { namesOf } from './a-template.ts';

const nextName = namesOf('application');

/** An application in the format in which a hub sends it. */
export function anApplication(given: Partial<Application> = {}): Application {
  const name = given.name ?? nextName();
  const at = '2026-01-02T03:04:05.678Z';
  return application.parse({
    id: randomUUID(),
    name,
    slug: given.slug ?? name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    category_id: randomUUID(),
    category_name: 'Tools',
    category_slug: 'tools',
    category_icon: '',
    parts: [{ name: 'web', image_name: 'library/server', image_tag: '2.1' }],
    download_count: 0,
    revision: 1,
    created_at: at,
    updated_at: at,
    ...given,
  });
}
