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

/** What an earlier check of a host has stored. */
type KnownFacts = { readonly [Member in 'engine_version' | 'arch' | 'identity']: string | null };

const NOTHING_KNOWN: KnownFacts = { engine_version: null, arch: null, identity: null };

/**
 * Queries the engine version and the resources of a host. The version is not queried again if the
 * engine is the one that is known. Without `store`, no identity is stored on a Podman engine that
 * has none.
 *
 * @throws Unreachable, with a message for operators
 */
export async function check(
  client: DockerClient,
  known = NOTHING_KNOWN,
  { store } = { store: true },
): Promise<HostFacts> {
  const { engine, apiVersion } = await client.versionHandshake();
  const { body: resources } = await client.read({ path: '/info' }, info);
  const identity = engine === 'docker' ? resources.ID : await readIdentity(client, { store });
  const isKnown = identity !== null && identity === known.identity && resources.ServerVersion === known.engine_version;
  return {
    engine,
    ...((isKnown && versionIn(known)) || (await readVersion(client))),
    api_version: apiVersion,
    cpu_millis: resources.NCPU * 1000,
    memory_bytes: resources.MemTotal,
    identity,
  };
}

type Version = Pick<HostFacts, 'engine_version' | 'arch'>;

const versionIn = ({ engine_version, arch }: KnownFacts): Version | undefined =>
  engine_version === null || arch === null ? undefined : { engine_version, arch };

async function readVersion(client: DockerClient): Promise<Version> {
  const { body } = await client.read({ path: '/version' }, version);
  return { engine_version: body.Version, arch: body.Arch };
}
