import { jsonResponse, type PendingResponse, Problem, refuseOtherMethods, respond } from '@svc/http';
import type { Express } from 'express';

/** What clients need to sign in (RFC 9728). */
export interface SignIn {
  /** The URL at which callers reach the service; undefined if it is not configured. */
  readonly publicUrl: string | undefined;
  /** The issuer whose access tokens the service accepts; undefined without one. */
  readonly issuer: () => Promise<string | undefined>;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * What the identity provider states about a user. The permissions follow from the role of the user,
 * not from scopes.
 */
const SCOPES = ['openid', 'profile', 'email'];

/**
 * Serves the metadata of the protected resource, for the path of the endpoint and for its origin.
 */
export function mountMetadata(app: Express, path: string, signIn: SignIn): void {
  for (const location of [WELL_KNOWN, `${WELL_KNOWN}${path}`]) {
    app.get(location, async (_req, res) => respond(res, await metadataOf(path, signIn)));
    refuseOtherMethods(app, location, ['GET']);
  }
}

async function metadataOf(path: string, { publicUrl, issuer }: SignIn): Promise<PendingResponse> {
  const found = await issuer();
  if (publicUrl === undefined || found === undefined) {
    throw new Problem(
      'not_found',
      'This service has no identity provider for clients of the Model Context Protocol, or no PUBLIC_URL. Send a token that it issued.',
    );
  }
  const document = {
    resource: `${publicUrl}${path}`,
    authorization_servers: [found],
    bearer_methods_supported: ['header'],
    scopes_supported: SCOPES,
    resource_documentation: `${publicUrl}/docs`,
  };
  return jsonResponse(200, document, { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=300' });
}

/**
 * Adds the location of the metadata to a 401 (RFC 9728, section 5.1). Removes the error from a 403:
 * clients would sign in again, and no sign-in gives the user another role.
 */
export async function withSignIn(error: unknown, path: string, { publicUrl, issuer }: SignIn): Promise<unknown> {
  if (!(error instanceof Problem)) return error;
  const { 'WWW-Authenticate': challenge, ...headers } = error.headers;
  const changed = (value: string | undefined) =>
    new Problem(error.code, error.message, {
      ...(error.errors ? { errors: error.errors } : {}),
      headers: value === undefined ? headers : { ...headers, 'WWW-Authenticate': value },
      cause: error.cause,
    });
  if (error.status === 403) return changed(undefined);
  if (error.status !== 401 || publicUrl === undefined || (await issuer()) === undefined) return error;
  const location = `resource_metadata="${publicUrl}${WELL_KNOWN}${path}", scope="${SCOPES.join(' ')}"`;
  return changed(`${challenge}, ${location}`);
}
