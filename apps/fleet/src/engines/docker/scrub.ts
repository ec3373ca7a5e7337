import type { DockerManifest } from '../../render/docker.ts';
import { scrubberOf } from '../words.ts';

/** Takes out of an engine's words every value that it was given: the driver knows not which of them are secrets. */
export function scrubberFor({ containers, registryAuth }: DockerManifest<'values'>): (text: string) => string {
  const values = containers.flatMap(({ body }) => body.Env.map((entry) => entry.slice(entry.indexOf('=') + 1)));
  return scrubberOf([...values, ...credentialsIn(registryAuth)]);
}

function credentialsIn(registryAuth: string | undefined): string[] {
  if (registryAuth === undefined) return [];
  const { username, password } = JSON.parse(Buffer.from(registryAuth, 'base64url').toString('utf8')) as Record<
    string,
    string
  >;
  return [registryAuth, username ?? '', password ?? ''];
}
