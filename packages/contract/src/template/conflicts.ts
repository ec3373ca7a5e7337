import type { FieldError } from '../shared/field-errors.ts';
import { type Places, placeConflicts, repeatedPaths } from './places.ts';
import { amountOf } from './quantity.ts';

/** The members that are compared with each other. */
export interface Compared extends Places {
  readonly image_name: string;
  readonly registry_url: string | null;
  readonly env: readonly { readonly name: string }[];
  readonly env_schema: readonly { readonly name: string }[];
  readonly secret_refs: readonly { readonly env: string }[];
  readonly cpu_request: string;
  readonly cpu_limit: string;
  readonly security_profile: string;
  readonly run_as: string | null;
}

/**
 * An error in values that are valid on their own but not together, and the members that have these
 * values.
 */
export interface TemplateConflict extends FieldError {
  readonly members: readonly (keyof Compared)[];
}

/** The conflicts of a template. A template that was stored by an earlier version can have some. */
export const templateConflicts = (template: Compared): TemplateConflict[] => [
  ...registryInName(template),
  ...repeatedVariables(template),
  ...repeatedPaths(template).map((error): TemplateConflict => ({ ...error, members: ['volume_mounts'] })),
  ...placeConflicts(template),
  ...limitsBelowRequests(template),
  ...restrictedRoot(template),
];

type Limits = Pick<Compared, 'cpu_request' | 'cpu_limit' | 'memory_request' | 'memory_limit'>;

const LIMITS = [
  ['cpu_limit', 'cpu_request', 'CPU'],
  ['memory_limit', 'memory_request', 'memory'],
] as const;

/** The limits that are lower than the request of the same resource, which no engine accepts. */
export const limitsBelowRequests = (spec: Limits): TemplateConflict[] =>
  LIMITS.flatMap(([limit, request, resource]) => {
    const most = amountOf(spec[limit]);
    if (most === undefined || most >= (amountOf(spec[request]) ?? 0)) return [];
    const message = `must not be less than the requested ${resource}, which is ${spec[request]}`;
    return [{ path: limit, message, members: [limit, request] }];
  });

/** The user id of root in a container that must not run as root. */
export function restrictedRoot({
  security_profile,
  run_as,
}: Pick<Compared, 'security_profile' | 'run_as'>): TemplateConflict[] {
  if (security_profile !== 'restricted' || run_as === null || !/^0+(?::|$)/.test(run_as)) return [];
  const message = 'must not be 0, because the security profile restricted does not permit root';
  return [{ path: 'run_as', message, members: ['security_profile', 'run_as'] }];
}

/**
 * The first component of an image reference is the registry if it has a dot or a colon, or is
 * `localhost` (https://github.com/distribution/reference). Without `registry_url`, the image would
 * be pulled from Docker Hub, which has no such names.
 */
export function registryInName({
  image_name,
  registry_url,
}: Pick<Compared, 'image_name' | 'registry_url'>): TemplateConflict[] {
  const [host = '', ...rest] = image_name.split('/');
  if (registry_url || rest.length === 0 || !(/[.:]/.test(host) || host === 'localhost')) return [];
  const message = `must not contain the registry: the registry is "${host}", and the image "${rest.join('/')}"`;
  return [{ path: 'image_name', message, members: ['image_name', 'registry_url'] }];
}

function repeatedVariables({ env, env_schema, secret_refs }: Compared): TemplateConflict[] {
  const variables = [
    ...env.map(({ name }, index) => ({ name, path: `env.${index}.name` })),
    ...env_schema.map(({ name }, index) => ({ name, path: `env_schema.${index}.name` })),
    ...secret_refs.map(({ env: name }, index) => ({ name, path: `secret_refs.${index}.env` })),
  ];
  const first = new Map<string, string>();
  return variables.flatMap(({ name, path }) => {
    const other = first.get(name);
    if (other === undefined) first.set(name, path);
    const message = `declares the variable of ${other} again; declare each variable once in env, env_schema and secret_refs`;
    return other === undefined ? [] : [{ path, message, members: ['env', 'env_schema', 'secret_refs'] }];
  });
}
