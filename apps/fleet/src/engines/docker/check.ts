import type { DockerClient } from './client.ts';
import { readIdentity } from './identity.ts';
import { info, version } from './schemas.ts';

/** The engine and resources that a host reports. */
export interface HostFacts {
  readonly engine: 'docker' | 'podman';
  readonly engine_version: string;
  readonly api_version: string;
  readonly arch: string;
  readonly cpu_millis: number;
  readonly memory_bytes: number;
  /** Null: not known. */
  readonly identity: string | null;
}

/** Queries the engine version and the resources of a host. @throws Unreachable, with a message for operators */
export async function check(client: DockerClient): Promise<HostFacts> {
  const { engine, apiVersion } = await client.versionHandshake();
  const { body: versions } = await client.read({ path: '/version' }, version);
  const { body: resources } = await client.read({ path: '/info' }, info);
  return {
    engine,
    engine_version: versions.Version,
    api_version: apiVersion,
    arch: versions.Arch,
    cpu_millis: resources.NCPU * 1000,
    memory_bytes: resources.MemTotal,
    identity: await readIdentity(client, { store: true }),
  };
}
