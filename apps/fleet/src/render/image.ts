import { DOCKER_HUB, registryHost, repositoryOf } from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Pull, Rendering } from './rendering.ts';

/** The key under which Docker, Podman and the kubelet store credentials for Docker Hub. */
const HUB_SERVER = 'https://index.docker.io/v1/';

type Image = Pick<WorkloadSpec, 'registry_url' | 'image_name' | 'image_tag' | 'image_digest'>;

/**
 * The fully qualified image reference, which all engines interpret alike:
 * `docker.io/library/postgres:18`, `ghcr.io/team/app:1.2`. With a digest, it has no tag, because several
 * engines refuse both together.
 */
export const imageReference = (spec: Image): string =>
  `${repositoryOf(spec)}${spec.image_digest === null ? `:${spec.image_tag}` : `@${spec.image_digest}`}`;

/**
 * When a requested change pulls the image. `if_possible`: always, but if that fails, the image that the
 * target has is used.
 */
export type PullPolicy = 'always' | 'if_possible' | 'missing' | 'never';

export const pullPolicyOf = ({ image_tag, image_digest }: Image, pull: Pull): PullPolicy =>
  pull === 'auto' ? (image_tag === 'latest' && image_digest === null ? 'if_possible' : 'missing') : pull;

/** The key under which engines store the credentials of the registry. */
export function registryServer(spec: Pick<Image, 'registry_url'>): string {
  const host = registryHost(spec);
  return host === DOCKER_HUB ? HUB_SERVER : host;
}

interface Credentials {
  readonly server: string;
  readonly username: string;
  readonly password: string;
}

/**
 * The credentials for pulling the image; undefined for an anonymous pull.
 *
 * @throws Error if the secret lacks a key; validation refuses such deployments earlier
 */
export function pullCredentials({ spec, secrets }: Pick<Rendering, 'spec' | 'secrets'>): Credentials | undefined {
  const secret = spec.registry_credentials;
  if (secret === null) return undefined;
  for (const key of ['username', 'password']) {
    if (!secrets.metadataOf(secret)?.keys.includes(key)) throw new Error(`the secret "${secret}" has no ${key}`);
  }
  return {
    server: registryServer(spec),
    username: secrets.value(secret, 'username'),
    password: secrets.value(secret, 'password'),
  };
}

/** The content of a Kubernetes secret of the type `kubernetes.io/dockerconfigjson`. */
export const dockerConfigJson = ({ server, username, password }: Credentials): string =>
  JSON.stringify({ auths: { [server]: { username, password, auth: base64(`${username}:${password}`) } } });

/** The header `X-Registry-Auth`: base64url with padding, which engines require. */
export const registryAuth = ({ server, username, password }: Credentials): string =>
  base64(JSON.stringify({ username, password, serveraddress: server }))
    .replaceAll('+', '-')
    .replaceAll('/', '_');

/** Text in UTF-8, encoded as base64. */
export const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
