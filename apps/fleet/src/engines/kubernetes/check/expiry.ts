import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../body.ts';
import type { ClusterAddress } from '../client.ts';

const claims = z.object({ exp: z.number().positive() });

/**
 * When the credentials for a cluster expire: the time in the token, if it is a JSON Web Token, or
 * the end of the client certificate. Null: it is not known, or they do not expire.
 */
export function expiryOf(auth: ClusterAddress['auth']): Date | null {
  const at = auth.kind === 'token' ? expiryOfToken(auth.token) : expiryOfCertificate(auth.certificate);
  return at === undefined || Number.isNaN(at.getTime()) ? null : at;
}

function expiryOfToken(token: string): Date | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  const { success, data } = claims.safeParse(parseJson(Buffer.from(payload, 'base64url').toString('utf8')));
  return success ? new Date(data.exp * 1000) : undefined;
}

function expiryOfCertificate(pem: string): Date | undefined {
  try {
    return new X509Certificate(pem).validToDate;
  } catch {
    return undefined; // the connection reports the error
  }
}
