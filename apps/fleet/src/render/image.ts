import type { WorkloadSpec } from '@svc/contract/fleet';
import type { Rendering } from './rendering.ts';

/** How the registry of Docker Hub is called in image references; it answers to the other names, too. */
const HUB = 'docker.io';
const NAMES_OF_HUB: readonly string[] = [HUB, 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com'];
/** What Docker, Podman and the kubelet keep its credentials under. */
const HUB_SERVER = 'https://index.docker.io/v1/';

type Image = Pick<WorkloadSpec, 'registry_url' | 'image_name' | 'image_tag'>;

/** Host (with port) and path of the registry. Host names know no upper case. */
function registryOf({ registry_url }: Pick<Image, 'registry_url'>): { readonly host: string; readonly path: string } {
  const [host = '', ...path] = (registry_url || HUB).split('/');
  const lower = host.toLowerCase();
  return { host: NAMES_OF_HUB.includes(lower) ? HUB : lower, path: path.map((part) => `${part}/`).join('') };
}

/** The image in full, as every engine reads it alike: `docker.io/library/postgres:18`, `ghcr.io/team/app:1.2`. */
export function imageReference(spec: Image): string {
  const { host, path } = registryOf(spec);
  const name = `${path}${spec.image_name}`;
  const official = host === HUB && !name.includes('/');
  return `${host}/${official ? 'library/' : ''}${name}:${spec.image_tag}`;
}

/** The registry as engines call it where they keep credentials. */
export function registryServer(spec: Pick<Image, 'registry_url'>): string {
  const { host } = registryOf(spec);
  return host === HUB ? HUB_SERVER : host;
}

interface Credentials {
  readonly server: string;
  readonly username: string;
  readonly password: string;
}

/** Who pulls the image; undefined for anybody. @throws Error where the secret lacks a key: deployments are refused before */
export function pullCredentials({ spec, secrets }: Rendering): Credentials | undefined {
  const secret = spec.registry_credentials;
  if (secret === null) return undefined;
  for (const key of ['username', 'password']) {
    if (!secrets.describe(secret)?.keys.includes(key)) throw new Error(`the secret "${secret}" has no ${key}`);
  }
  return {
    server: registryServer(spec),
    username: secrets.value(secret, 'username'),
    password: secrets.value(secret, 'password'),
  };
}

/** What a secret of the type `kubernetes.io/dockerconfigjson` holds. */
export const dockerConfigJson = ({ server, username, password }: Credentials): string =>
  JSON.stringify({ auths: { [server]: { username, password, auth: base64(`${username}:${password}`) } } });

/** The header `X-Registry-Auth`. The alphabet is that of URLs, and engines refuse it without its padding. */
export const registryAuth = ({ server, username, password }: Credentials): string =>
  base64(JSON.stringify({ username, password, serveraddress: server }))
    .replaceAll('+', '-')
    .replaceAll('/', '_');

/** Base64 of text as UTF-8. */
export const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
