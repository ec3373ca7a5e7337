import { isJwtShaped } from '@svc/auth';
import { unavailable } from '@svc/http';
import { decodeJwt } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import type { Recording } from '../audit/recording.ts';
import { noteUse } from '../auth/mcp-tokens.ts';
import { keepOidcUser } from '../auth/oidc-users.ts';
import { userOf } from '../auth/users.ts';
import { ProviderUnavailable } from '../oidc/errors.ts';
import type { Principal } from '../principal.ts';
import type { Services } from './context.ts';

type Needs = Pick<Services, 'database' | 'sessions' | 'settings' | 'providers'>;

/** From a bearer token to whose it is, by its shape; undefined for a token that is good for nothing here. */
export const createVerifier =
  (needs: Needs) =>
  async (token: string, recording: Recording): Promise<Principal | undefined> => {
    if (token.startsWith('svcm_')) return byMcpToken(needs, recording);
    if (token.startsWith('svcc_')) return undefined; // a key of the hub
    const person = isJwtShaped(token) ? await needs.sessions.verify(token) : undefined;
    return person ?? byProvider(needs, token);
  };

async function byMcpToken({ database }: Needs, { token }: Recording): Promise<Principal | undefined> {
  if (!token?.active) return undefined;
  await noteUse(database, token);
  const { id, name, role, created_by_user } = token;
  return { kind: 'token', id, name, role, createdByUser: created_by_user };
}

/** An access token of the identity provider itself. Its own claims decide, as they are mapped now. */
async function byProvider({ database, settings, providers }: Needs, token: string): Promise<Principal | undefined> {
  const oidc = await settings.oidc();
  if (isJwtShaped(token) && issuerOf(token) !== oidc.issuer) return undefined; // nobody is asked about another's
  const verified = await providers.of(oidc)?.verifyBearer(token).catch(notNow);
  if (!verified) return undefined;
  const { claims, issuedAt = 0 } = verified;
  const { iss, sub } = claims;
  const known = await database.client.user.findUnique({ where: { iss_sub: { iss, sub } } });
  // What was issued before somebody was removed is good for nothing; what the provider issues after brings them back.
  if (known?.removed_at && issuedAt * 1000 <= known.removed_at.getTime()) return undefined;
  const keep = () => database.client.$transaction((transaction) => keepOidcUser(transaction, uuidv7(), claims));
  const user = known && !known.removed_at ? known : await keep();
  return userOf({ ...user, claims: { ...claims } }, oidc, undefined);
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined; // it only looks like one
  }
}

const notNow = (cause: unknown) => {
  throw cause instanceof ProviderUnavailable
    ? unavailable('The identity provider can’t be asked whose token this is.', cause)
    : cause;
};
