import { hasTokenPrefix, isJwtShaped, TokenRefused } from '@svc/auth';
import { ProviderUnavailable } from '@svc/auth/oidc';
import { unavailable } from '@svc/http';
import { decodeJwt } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { type McpToken, presentRole, recordUse } from './mcp-tokens.ts';
import { upsertOidcUser } from './oidc-users.ts';
import type { Principal } from './principal.ts';
import type { IdentityServices } from './services.ts';
import { userBlocked, userOf } from './users.ts';

type VerifierServices = Pick<IdentityServices, 'database' | 'sessions' | 'settings' | 'providers'>;

/** What the resolution of a credential needs of its request. */
interface CredentialRequest {
  /** The stored MCP token, which the audit gate has looked up. */
  readonly stored: McpToken | undefined;
  /** Whether the request is to the MCP endpoint. Only there are tokens valid that were issued for it. */
  readonly isAtMcp: boolean;
}

const SERVICE_TOKEN =
  'This is a service token of a hub, which is valid only at /api/v1/publish of that hub. A fleet accepts MCP tokens and access tokens.';

/**
 * Resolves a bearer token to its principal. The format of the token determines its kind. Resolves
 * to undefined if it is invalid. @throws TokenRefused
 */
export const createVerifier =
  (services: VerifierServices) =>
  async (token: string, request: CredentialRequest): Promise<Principal | undefined> => {
    if (token.startsWith('svcm_')) return verifyMcpToken(services, request);
    if (token.startsWith('svcs_')) throw new TokenRefused(SERVICE_TOKEN);
    if (hasTokenPrefix(token)) return undefined; // of the hub
    const principal = isJwtShaped(token) ? await services.sessions.verify(token) : undefined;
    return principal ?? verifyProviderToken(services, token, request);
  };

async function verifyMcpToken(
  { database, settings }: VerifierServices,
  { stored: token }: CredentialRequest,
): Promise<Principal | undefined> {
  if (!token?.active) return undefined;
  await recordUse(database, token);
  const { id, name, created_by_user, approval } = token;
  const role = await presentRole(token, settings);
  return { kind: 'token', id, name, role, createdByUser: created_by_user, approval };
}

/**
 * Verifies an access token of the identity provider. The role follows from the claims of the token
 * and the current mapping.
 */
async function verifyProviderToken(
  { database, settings, providers }: VerifierServices,
  token: string,
  { isAtMcp }: CredentialRequest,
): Promise<Principal | undefined> {
  const oidc = await settings.oidc();
  // The provider is asked only about its own tokens.
  if (isJwtShaped(token) && issuerOf(token) !== oidc.issuer) return undefined;
  const verified = await providers.of(oidc)?.verifyBearer(token).catch(providerUnavailable);
  if (!verified || (verified.isForMcp && !isAtMcp)) return undefined;
  const { claims, issuedAt = 0 } = verified;
  const { iss, sub } = claims;
  const stored = await database.client.user.findUnique({ where: { iss_sub: { iss, sub } } });
  // Tokens that were issued before the user was removed are invalid. A token that is issued later
  // restores the user.
  if (stored?.removed_at && issuedAt * 1000 <= stored.removed_at.getTime()) return undefined;
  if (stored?.blocked_at) throw userBlocked();
  const upsert = () => database.client.$transaction((transaction) => upsertOidcUser(transaction, uuidv7(), claims));
  const user = stored && !stored.removed_at ? stored : await upsert();
  return userOf({ ...user, claims: { ...claims } }, oidc, undefined);
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined; // not a JWT, although it has the format of one
  }
}

const providerUnavailable = (cause: unknown) => {
  throw cause instanceof ProviderUnavailable
    ? unavailable('The identity provider is unavailable, so the token cannot be verified.', cause)
    : cause;
};
