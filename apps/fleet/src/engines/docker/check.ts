import type { DockerClient } from './client.ts';
import { info, version } from './schemas.ts';

/** What a machine says of itself. */
export interface Facts {
  readonly engine: 'docker' | 'podman';
  readonly engine_version: string;
  readonly api_version: string;
  readonly arch: string;
  readonly cpu_millis: number;
  readonly memory_bytes: number;
}

/** Asks a machine who it is, and what it has. @throws Unreachable, with a sentence for operators */
export async function check(client: DockerClient): Promise<Facts> {
  const { engine, apiVersion } = await client.hello();
  const { body: it } = await client.read({ path: '/version' }, version);
  const { body: has } = await client.read({ path: '/info' }, info);
  return {
    engine,
    engine_version: it.Version,
    api_version: apiVersion,
    arch: it.Arch,
    cpu_millis: has.NCPU * 1000,
    memory_bytes: has.MemTotal,
  };
}
