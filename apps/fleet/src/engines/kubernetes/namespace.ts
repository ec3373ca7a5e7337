import { EngineFailure, Permanent } from '../errors.ts';
import type { Client } from './cluster-client.ts';
import { createNamespace } from './objects.ts';

/** Makes the namespace of the fleet. @returns what was done @throws Permanent where the credentials may not */
export async function provideNamespace(client: Client): Promise<string[]> {
  const { namespace } = client.address;
  try {
    await createNamespace(client, namespace);
    return [`created the namespace ${namespace}`];
  } catch (error) {
    const { reason, answer } = error instanceof EngineFailure ? error : {};
    if (answer?.status === 409) return []; // somebody else has just made it
    if (reason !== 'AuthFailed') throw error;
    const message = `There is no namespace ${namespace} in the cluster, and the credentials that were given may not make one.`;
    throw new Permanent('AuthFailed', message);
  }
}
