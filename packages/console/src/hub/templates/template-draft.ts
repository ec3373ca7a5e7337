import type { hubEndpoints } from '@svc/contract/hub';
import type { CallInput } from '../../shared/api/client.ts';
import type { ManagedTemplate } from '../api.ts';

export type TemplateBody = CallInput<(typeof hubEndpoints)['createTemplate']>['body'];

/** The input of the form. Lists are text with one entry per line. */
export interface TemplateDraft {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly version: string;
  readonly kind: string;
  readonly category_id: string;
  readonly registry_url: string;
  readonly registry_credentials: string;
  readonly image_name: string;
  readonly image_tag: string;
  readonly command: string;
  readonly cpu_request: string;
  readonly memory_request: string;
  readonly gpu_count: string;
  readonly vram_request: string;
  readonly env: string;
  readonly env_schema: readonly VariableDraft[];
  readonly ports: string;
  readonly volume_mounts: string;
  readonly node_selector: string;
  readonly required_network_types: string;
  readonly tags: string;
  readonly is_public: boolean;
  readonly is_featured: boolean;
  readonly min_tier: string;
  readonly documentation: string;
}

export interface VariableDraft {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly default_value: string;
  readonly description: string;
}

let lastId = 0;
export const variableDraft = (given: Omit<VariableDraft, 'id'>): VariableDraft => {
  lastId += 1;
  return { id: lastId, ...given };
};

export const emptyTemplateDraft: TemplateDraft = {
  name: '',
  slug: '',
  description: '',
  version: '1.0.0',
  kind: 'service',
  category_id: '',
  registry_url: '',
  registry_credentials: '',
  image_name: '',
  image_tag: 'latest',
  command: '',
  cpu_request: '',
  memory_request: '',
  gpu_count: '0',
  vram_request: '',
  env: '',
  env_schema: [],
  ports: '',
  volume_mounts: '',
  node_selector: '',
  required_network_types: '',
  tags: '',
  is_public: true,
  is_featured: false,
  min_tier: 'free',
  documentation: '',
};

export const draftOf = (template: ManagedTemplate): TemplateDraft => ({
  name: template.name,
  slug: template.slug,
  description: template.description,
  version: template.version,
  kind: template.kind,
  category_id: template.category_id,
  registry_url: template.registry_url ?? '',
  registry_credentials: template.registry_credentials ?? '',
  image_name: template.image_name,
  image_tag: template.image_tag,
  command: template.command.join('\n'),
  cpu_request: template.cpu_request,
  memory_request: template.memory_request,
  gpu_count: String(template.gpu_count),
  vram_request: template.vram_request,
  env: template.env.map(({ name, value }) => `${name}=${value}`).join('\n'),
  env_schema: template.env_schema.map(variableDraft),
  ports: template.ports.map(({ containerPort, protocol }) => `${containerPort}/${protocol}`).join('\n'),
  volume_mounts: template.volume_mounts.map(({ name, mountPath }) => `${name}=${mountPath}`).join('\n'),
  node_selector: Object.entries(template.node_selector)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n'),
  required_network_types: template.required_network_types.join(' '),
  tags: template.tags.join(', '),
  is_public: template.is_public,
  is_featured: template.is_featured,
  min_tier: template.min_tier,
  documentation: template.documentation,
});

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const pairs = (text: string) =>
  lines(text).map((line) => {
    const at = line.indexOf('=');
    return at === -1 ? ([line, ''] as const) : ([line.slice(0, at).trim(), line.slice(at + 1).trim()] as const);
  });

const nullable = (text: string) => (text === '' ? null : text);

/** The request for a draft. The service validates it. */
export const bodyOf = (draft: TemplateDraft) => ({
  name: draft.name,
  ...(draft.slug === '' ? {} : { slug: draft.slug }),
  description: draft.description,
  version: draft.version,
  kind: draft.kind,
  category_id: draft.category_id,
  registry_url: nullable(draft.registry_url),
  registry_credentials: nullable(draft.registry_credentials),
  image_name: draft.image_name,
  image_tag: draft.image_tag,
  command: lines(draft.command),
  cpu_request: draft.cpu_request,
  memory_request: draft.memory_request,
  gpu_count: Number(draft.gpu_count),
  vram_request: draft.vram_request,
  env: pairs(draft.env).map(([name, value]) => ({ name, value })),
  env_schema: draft.env_schema.map(({ id: _, ...variable }) => variable),
  ports: lines(draft.ports).map((line) => {
    const [number = '', protocol = 'TCP'] = line.split('/');
    return { containerPort: Number(number), protocol };
  }),
  volume_mounts: pairs(draft.volume_mounts).map(([name, mountPath]) => ({ name, mountPath })),
  node_selector: Object.fromEntries(pairs(draft.node_selector)),
  required_network_types: draft.required_network_types.split(/[\s,]+/).filter((word) => word !== ''),
  tags: draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== ''),
  is_public: draft.is_public,
  is_featured: draft.is_featured,
  min_tier: draft.min_tier as NonNullable<TemplateBody['min_tier']>, // the form offers only tiers
  documentation: draft.documentation,
});

/** The members of which the value differs, so that a change contains nothing else. */
export function changedMembers(before: TemplateDraft, now: TemplateDraft) {
  const [old, current] = [bodyOf(before), bodyOf(now)];
  const texts = new Map(Object.entries(old).map(([member, value]) => [member, JSON.stringify(value)]));
  const changed = Object.entries(current).filter(([member, value]) => JSON.stringify(value) !== texts.get(member));
  // The entries are those of the body; fromEntries loses their types.
  return Object.fromEntries(changed) as Partial<typeof current>;
}
