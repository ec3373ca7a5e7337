import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Keys } from './keys.ts';
import { pages } from './pages.ts';
import type { Settings } from './settings.ts';
import { findUser } from './users.ts';

const hour = 3600;
const day = 24 * hour;

/**
 * The configuration of the provider: first-party clients without consent, JWTs for a requested resource, otherwise
 * opaque tokens.
 */
export function configuration(settings: Settings, keys: Keys): Configuration {
  return {
    clients: clients(settings),
    jwks: keys.jwks,
    cookies: { keys: keys.cookieKeys },
    // By this member, `doctor` of the services recognizes this provider.
    discovery: { svc_development: true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'role'] },
    scopes: ['openid', 'offline_access', 'email', 'profile'],
    conformIdTokenClaims: false, // like most providers, the ID token contains the claims of the user
    findAccount: (_ctx, sub) => {
      const user = findUser(sub);
      return user && { accountId: sub, claims: () => ({ ...user }) };
    },
    extraTokenClaims: (_ctx, token) => {
      const user = 'accountId' in token ? findUser(token.accountId) : undefined;
      return user && { email: user.email, email_verified: user.email_verified, name: user.name, role: user.role };
    },
    features: features(settings),
    loadExistingGrant: grantRequestedScopes,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    pkce: { required: () => true },
    clientBasedCORS: (_ctx, origin) => isLoopback(origin),
    renderError: (ctx, out) => {
      ctx.type = 'html';
      ctx.body = pages.problem([out.error, out.error_description ?? '']);
    },
    ttl: {
      AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? hour,
      AuthorizationCode: 60,
      ClientCredentials: hour,
      Grant: 14 * day,
      IdToken: hour,
      Interaction: hour,
      RefreshToken: 14 * day,
      Session: day,
    },
  };
}

function clients({ redirectUris, fleetClientSecret }: Settings): Configuration['clients'] {
  const common = {
    application_type: 'native' as const, // loopback redirect URIs match with any port
    redirect_uris: [...redirectUris],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  const dashboard = { ...common, client_id: 'dashboard', token_endpoint_auth_method: 'none' as const };
  if (fleetClientSecret === undefined) return [dashboard];
  return [dashboard, { ...common, client_id: 'fleet', client_secret: fleetClientSecret }];
}

function features({ audiences }: Settings): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    introspection: { enabled: true, allowedPolicy: (_ctx, client) => client.clientAuthMethod !== 'none' },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = pages.signOut(form);
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.body = pages.signedOut();
      },
    },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => {
        if (!audiences.includes(resource))
          throw new errors.InvalidTarget(`resource must be one of: ${audiences.join(', ')}`);
        return { scope: '', accessTokenFormat: 'jwt', accessTokenTTL: 12 * hour, jwt: { sign: { alg: 'RS256' } } };
      },
    },
  };
}

/** Both clients are first-party, so no consent is needed: a sign-in grants the requested scopes. */
async function grantRequestedScopes(ctx: KoaContextWithOIDC) {
  const { client, session, params, provider } = ctx.oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const grantId = session.grantIdFor(client.clientId);
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = existing ?? new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(typeof params?.scope === 'string' ? params.scope : 'openid');
  await grant.save();
  return grant;
}

function isLoopback(origin: string) {
  return URL.canParse(origin) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(origin).hostname);
}
