/** The members of a template or workload that select its image. */
export interface ImageMembers {
  readonly registry_url: string | null;
  readonly image_name: string;
  readonly image_tag: string;
  readonly image_digest: string | null;
}

/** The names of Docker Hub, which is the registry if none is given. */
const DOCKER_HUB: readonly string[] = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];
const DEFAULT_TAG = 'latest';

/** An image in one text, as engines write it; '' if no image is selected. */
export function referenceOf({ registry_url, image_name, image_tag, image_digest }: ImageMembers): string {
  if (image_name === '') return '';
  return `${registry_url ? `${registry_url}/` : ''}${image_name}:${image_tag}${image_digest ? `@${image_digest}` : ''}`;
}

/**
 * The members for a reference such as `ghcr.io/team/app:1.2`. As in engines, the first component is
 * the registry if it has a dot or a colon, or is `localhost`. The service validates the members.
 */
export function imageOf(reference: string): ImageMembers {
  const [named = '', digest] = reference.trim().split('@');
  const slash = named.indexOf('/');
  const host = slash === -1 ? '' : named.slice(0, slash);
  const isRegistry = /[.:]/.test(host) || host === 'localhost';
  const path = isRegistry ? named.slice(slash + 1) : named;
  const colon = path.lastIndexOf(':');
  const isTagged = colon > path.lastIndexOf('/');
  return {
    registry_url: isRegistry && !DOCKER_HUB.includes(host) ? host : null,
    image_name: isTagged ? path.slice(0, colon) : path,
    image_tag: isTagged ? path.slice(colon + 1) : DEFAULT_TAG,
    image_digest: digest ?? null,
  };
}
