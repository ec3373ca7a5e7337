import { z } from 'zod';
import { codedMessages } from '../shared/field-codes.ts';

/** The members that together identify an image. */
interface Image {
  image_name?: string | undefined;
  image_tag?: string | undefined;
  image_digest?: string | null | undefined;
}

const REFERENCE = /^([^:@]+)(?::([^@]+))?@(.+)$/;

/** Divides an image name of the form `name:tag@sha256:…`, as engines print it, into its members. */
export const divideImage = z.check<Image>(({ value, issues }) => {
  const [reference, image_name, tag, image_digest] = REFERENCE.exec(value.image_name ?? '') ?? [];
  if (reference === undefined) return;
  const refuse = (member: 'image_tag' | 'image_digest') =>
    issues.push({
      code: 'custom',
      path: [member],
      message: codedMessages.image_part,
      input: value[member],
    });
  if (tag !== undefined && ![undefined, DEFAULT_TAG, tag].includes(value.image_tag)) refuse('image_tag');
  if (![undefined, null, image_digest].includes(value.image_digest)) refuse('image_digest');
  Object.assign(value, { image_name, image_digest, ...(tag !== undefined && { image_tag: tag }) });
});

/** The tag if none is given. */
const DEFAULT_TAG = 'latest';

/** The members that select an image. */
const SELECTING = ['image_name', 'image_tag', 'registry_url'] as const;

type Selection = { readonly [M in (typeof SELECTING)[number]]?: string | null | undefined };

/** Whether changes select another image than before. */
export const selectsImage = (changes: Selection, before: Selection = {}): boolean =>
  SELECTING.some((member) => changes[member] !== undefined && changes[member] !== before[member]);

/**
 * The changes of a template or workload. A change of what selects the image removes a digest that the
 * change does not state. Otherwise, who changes the tag would keep the image.
 */
export const withoutOldDigest = <C extends Selection & { readonly image_digest?: string | null | undefined }>(
  changes: C,
  before: Selection = {},
): C | (C & { readonly image_digest: null }) =>
  changes.image_digest === undefined && selectsImage(changes, before) ? { ...changes, image_digest: null } : changes;

/** The name of Docker Hub in image references, and its aliases. */
export const DOCKER_HUB = 'docker.io';
const NAMES_OF_DOCKER_HUB: readonly string[] = [
  DOCKER_HUB,
  'index.docker.io',
  'registry-1.docker.io',
  'registry.hub.docker.com',
];

interface Repository {
  readonly registry_url: string | null;
  readonly image_name: string;
}

/**
 * Host (with port) and path of the registry. Host names are case-insensitive, so the host is in
 * lower case.
 */
function registryOf({ registry_url }: Pick<Repository, 'registry_url'>): {
  readonly host: string;
  readonly path: string;
} {
  const [host = '', ...path] = (registry_url || DOCKER_HUB).split('/');
  const lower = host.toLowerCase();
  return {
    host: NAMES_OF_DOCKER_HUB.includes(lower) ? DOCKER_HUB : lower,
    path: path.map((part) => `${part}/`).join(''),
  };
}

/** The host of the registry, with its port; docker.io for all names of Docker Hub. */
export const registryHost = (image: Pick<Repository, 'registry_url'>): string => registryOf(image).host;

/** The fully qualified name of an image without tag and digest, such as `docker.io/library/redis`. */
export function repositoryOf(image: Repository): string {
  const { host, path } = registryOf(image);
  const name = `${path}${image.image_name}`;
  const official = host === DOCKER_HUB && !name.includes('/');
  return `${host}/${official ? 'library/' : ''}${name}`;
}
