import { X509Certificate } from 'node:crypto';
import { OF_SERVICE_ACCOUNTS } from '../../../render/pod-settings.ts';
import { parseJson } from '../../body.ts';
import { EngineFailure } from '../../errors.ts';
import type { ClusterAddress, KubernetesClient } from '../client.ts';

/**
 * The user that credentials state: the subject of the token of a service account, or the common name
 * of a client certificate. Undefined for other tokens, whose user only the API server knows. The
 * token is not verified, because it is that of the fleet.
 */
export function userOfCredentials(auth: ClusterAddress['auth']): string | undefined {
  if (auth.kind === 'client_certificate') return commonNameOf(auth.certificate);
  const [, payload = ''] = auth.token.split('.');
  const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
  const subject = typeof claims === 'object' && claims !== null && 'sub' in claims ? claims.sub : undefined;
  return typeof subject === 'string' && subject.startsWith(OF_SERVICE_ACCOUNTS) ? subject : undefined;
}

function commonNameOf(certificate: string): string | undefined {
  const [line] = new X509Certificate(certificate).subject.split('\n').filter((each) => each.startsWith('CN='));
  return line?.slice('CN='.length);
}

/** The first minor version of Kubernetes 1 whose API servers state who a caller is. */
const STATES_CALLERS = 28;

/**
 * The user as which the cluster knows the fleet.
 * @param minor the minor version of the cluster
 * @returns null if neither the credentials nor the cluster state it
 */
export async function readFleetAccount(client: KubernetesClient, minor: number): Promise<string | null> {
  const stated = userOfCredentials(client.address.auth);
  if (stated !== undefined) return stated;
  if (minor < STATES_CALLERS) return null;
  const { authentication } = await client.apis();
  try {
    const { status } = await authentication.createSelfSubjectReview({ body: {} });
    return status?.userInfo?.username ?? null;
  } catch (error) {
    if (error instanceof EngineFailure) return null; // a proxy in front of the API server can refuse it
    throw error;
  }
}
