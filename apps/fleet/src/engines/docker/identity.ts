import { KEYS } from '../../render/labels.ts';
import { EngineFailure, Unreachable, unlessNotFound } from '../errors.ts';
import type { DockerClient } from './client.ts';
import { info, storedIdentity } from './schemas.ts';

/** The name of the secret whose id identifies a Podman engine. */
const SECRET = 'fleet-identity';

interface Options {
  /** Whether to store an identity on a Podman engine that has none. */
  readonly store: boolean;
}

/**
 * The identity of an engine: on Docker, the `ID` that it reports. Podman reports a random one for
 * each request, so a secret is stored on it once, and its id is the identity. The name of a secret
 * is unique, so all replicas of the fleet read the same id. A volume is not suitable, because
 * `podman volume prune` removes it.
 *
 * @returns null if the engine has no identity, or does not permit the requests
 * @throws Unreachable
 */
export async function readIdentity(client: DockerClient, options: Options): Promise<string | null> {
  try {
    const { engine } = await client.versionHandshake();
    if (engine === 'docker') return (await client.read({ path: '/info' }, info)).body.ID;
    return (await readStored(client)) ?? (options.store ? await store(client) : null);
  } catch (error) {
    if (error instanceof EngineFailure && !(error instanceof Unreachable)) return null;
    throw error;
  }
}

const readStored = async (client: DockerClient): Promise<string | undefined> =>
  (await unlessNotFound(client.read({ path: `/secrets/${SECRET}` }, storedIdentity)))?.body.ID;

async function store(client: DockerClient): Promise<string | null> {
  const body = { Name: SECRET, Data: CONTENT, Labels: { [KEYS.managedBy]: 'fleet' } };
  // 409: another replica has stored it.
  await client.request({ method: 'POST', path: '/secrets/create', body, accept: [409] });
  return (await readStored(client)) ?? null;
}

/** Podman rejects empty secrets. The content has no meaning. */
const CONTENT = Buffer.from('The id of this secret identifies the engine for fleets.').toString('base64');
