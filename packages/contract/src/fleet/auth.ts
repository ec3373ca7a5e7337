import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { challenge, finishOidcLoginBody, verifier } from '../shared/sign-in/begun-sign-in.ts';
import { connectProgram, signInCode } from '../shared/sign-in/connected-program.ts';
import { listOwnSessions } from '../shared/sign-in/own-sessions.ts';
import { id, line } from '../shared/wire.ts';
import { fleetAccesses, fleetRoles } from './access.ts';

/** The caller, in the responses of `/auth/me` and of a sign-in. */
const fleetCaller = z
  .object({
    kind: z.enum(['temporary-admin', 'token', 'local', 'oidc']),
    id: id.nullable().meta({ description: 'Id of the user or the token; null for the temporary admin' }),
    name: z.string(),
    email: z.string().nullable(),
    role: z.enum(fleetRoles),
    temporary: z.boolean().meta({
      description: 'True for the temporary admin: create a permanent account and remove the temporary admin',
    }),
  })
  .meta({ id: 'FleetCaller' });

const may = z.array(z.enum(fleetAccesses)).meta({
  description: 'What the caller may do: the kinds of access that the role and the kind of credential permit',
});

const browserSession = z
  .object({
    user: fleetCaller.nullable().meta({ description: 'null: nobody is signed in, or the user has no role' }),
    may,
  })
  .meta({ id: 'BrowserSession' });

const session = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Lifetime of the access token in seconds' }),
    user: fleetCaller,
  })
  .meta({ id: 'Session' });

const credential = z.string().max(4096, 'must have at most 4096 characters');
const password = z.string().max(1024, 'must have at most 1024 characters');

const signInBody = z
  .strictObject({ email: line(320).optional(), username: line(320).optional(), password })
  .refine(({ email, username }) => (email === undefined) !== (username === undefined), {
    message: 'is required, or username for the temporary admin, but not both',
    path: ['email'],
  })
  .meta({
    oneOf: [{ required: ['email'] }, { required: ['username'] }],
    examples: [{ email: 'ada@example.com', password: 'correct horse battery staple' }],
  });

const authConfig = z
  .object({
    local: z.boolean().meta({ description: 'Local users exist; they sign in with e-mail and password' }),
    temporary_admin: z.boolean(),
    oidc: z
      .object({
        issuer: z.string(),
        client_id: z.string(),
        audience: z.string().nullable(),
        redirect: z.boolean().meta({ description: '`GET /auth/oidc/login` starts a sign-in' }),
      })
      .nullable(),
    browser_session_refusal: z
      .string()
      .nullable()
      .meta({ description: 'Why the console cannot have a session at `PUBLIC_URL`; null if it can' }),
  })
  .meta({ id: 'AuthConfig' });

/** Sign-in, sessions and sign-out. */
export const fleetAuthEndpoints = {
  getAuthConfig: endpoint({
    operationId: 'getAuthConfig',
    method: 'get',
    path: '/api/v1/auth/config',
    access: 'anyone',
    tag: 'auth',
    summary: 'Get the enabled sign-in methods',
    reply: authConfig,
  }),
  login: endpoint({
    operationId: 'login',
    method: 'post',
    path: '/api/v1/auth/login',
    access: 'anyone',
    tag: 'auth',
    summary: 'Sign in with e-mail and password, or as the temporary admin with username and password',
    body: signInBody,
    reply: session,
    secret: true,
    problems: ['invalid_credentials', 'rate_limited'],
  }),
  startOidcLogin: endpoint({
    operationId: 'startOidcLogin',
    method: 'get',
    path: '/api/v1/auth/oidc/login',
    access: 'anyone',
    tag: 'auth',
    summary: 'Redirect the browser to the identity provider',
    query: z.strictObject({
      return_to: line(2000).default('/').meta({
        description:
          'The path of this service to which the browser is redirected after the sign-in, with a `code` for `POST /auth/exchange`',
      }),
      session: z.enum(['code', 'cookie']).default('code').meta({
        description: '`cookie`: the sign-in is one of the console, which completes it with `POST /auth/oidc/session`',
      }),
      challenge: challenge.optional().meta({
        description:
          'The challenge of a verifier, without which the `code` at the end is of no use. Required with `session=cookie`',
      }),
    }),
    status: 302,
    reply: z.void(),
    secret: true,
    setsCookie: true,
    problems: ['oidc_not_configured', 'browser_session_unavailable'],
  }),
  endOidcLogin: endpoint({
    operationId: 'endOidcLogin',
    method: 'get',
    path: '/api/v1/auth/oidc/callback',
    access: 'anyone',
    tag: 'auth',
    summary: 'Receive the redirect from the identity provider',
    query: z.looseObject({ state: z.string().max(200).optional() }),
    status: 302,
    reply: z.void(),
    secret: true,
    setsCookie: true,
    problems: ['invalid_grant', 'oidc_not_configured'],
  }),
  finishOidcLogin: endpoint({
    operationId: 'finishOidcLogin',
    method: 'post',
    path: '/api/v1/auth/oidc/session',
    access: 'anyone',
    tag: 'auth',
    summary: 'Complete a sign-in of the console at the identity provider, and set its cookie',
    body: finishOidcLoginBody,
    reply: browserSession,
    secret: true,
    setsCookie: true,
    problems: ['invalid_grant', 'browser_session_unavailable'],
  }),
  exchangeOidcCode: endpoint({
    operationId: 'exchangeOidcCode',
    method: 'post',
    path: '/api/v1/auth/oidc/token',
    access: 'anyone',
    tag: 'auth',
    summary: 'Exchange an authorization code of the identity provider for tokens',
    body: z.strictObject({
      code: credential,
      code_verifier: verifier,
      redirect_uri: line(2000),
      nonce: line(500).optional().meta({ description: 'The `nonce` of the authorization request, if it had one' }),
      iss: line(2000).optional().meta({ description: 'The `iss` of the authorization response, if it had one' }),
    }),
    reply: session,
    secret: true,
    problems: ['invalid_grant', 'oidc_not_configured'],
  }),
  connectProgram,
  exchangeSignInCode: endpoint({
    operationId: 'exchangeSignInCode',
    method: 'post',
    path: '/api/v1/auth/exchange',
    access: 'anyone',
    tag: 'auth',
    summary: 'Exchange the code of a sign-in for tokens, once and within one minute',
    body: z.strictObject({
      ...signInCode,
      verifier: verifier.optional().meta({ description: 'Required if the sign-in began with a `challenge`' }),
    }),
    reply: session,
    secret: true,
    problems: ['invalid_grant'],
  }),
  refresh: endpoint({
    operationId: 'refresh',
    method: 'post',
    path: '/api/v1/auth/refresh',
    access: 'anyone',
    tag: 'auth',
    summary: 'Exchange a refresh token for new tokens, once',
    body: z.strictObject({ refresh_token: credential }),
    reply: session,
    secret: true,
    problems: ['invalid_grant'],
  }),
  logout: endpoint({
    operationId: 'logout',
    method: 'post',
    path: '/api/v1/auth/logout',
    access: 'session',
    tag: 'auth',
    summary: 'End the session of the access token',
    status: 204,
    reply: z.void(),
  }),
  getBrowserSession: endpoint({
    operationId: 'getBrowserSession',
    method: 'get',
    path: '/api/v1/auth/session',
    access: 'anyone',
    tag: 'auth',
    summary: 'Get the caller, and what the caller may do. Without a credential, `user` is null',
    reply: browserSession,
  }),
  openBrowserSession: endpoint({
    operationId: 'openBrowserSession',
    method: 'post',
    path: '/api/v1/auth/session',
    access: 'anyone',
    tag: 'auth',
    summary: 'Sign in to the console: as `POST /auth/login`, with a cookie instead of tokens',
    body: signInBody,
    reply: browserSession,
    secret: true,
    setsCookie: true,
    problems: ['invalid_credentials', 'browser_session_unavailable', 'rate_limited'],
  }),
  endBrowserSession: endpoint({
    operationId: 'endBrowserSession',
    method: 'delete',
    path: '/api/v1/auth/session',
    access: 'session',
    tag: 'auth',
    summary: 'End the session of the request, and delete the cookie of the console',
    status: 204,
    reply: z.void(),
    setsCookie: true,
  }),
  listOwnSessions,
  endOwnSessions: endpoint({
    operationId: 'endOwnSessions',
    method: 'delete',
    path: '/api/v1/auth/sessions',
    access: 'session',
    tag: 'auth',
    summary: 'End all sessions of the caller, and delete the cookie of the console',
    status: 204,
    reply: z.void(),
    setsCookie: true,
  }),
  endOwnSession: endpoint({
    operationId: 'endOwnSession',
    method: 'delete',
    path: '/api/v1/auth/sessions/:id',
    access: 'session',
    tag: 'auth',
    summary: 'End a session of the caller',
    params: z.strictObject({ id }),
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
  changeOwnPassword: endpoint({
    operationId: 'changeOwnPassword',
    method: 'put',
    path: '/api/v1/auth/password',
    access: 'local-session',
    tag: 'auth',
    summary: 'Change the password of the calling local user, and end the other sessions of the user',
    body: z.strictObject({ current_password: password, new_password: password }),
    status: 204,
    reply: z.void(),
    problems: ['rate_limited'],
  }),
  acceptInvitation: endpoint({
    operationId: 'acceptInvitation',
    method: 'post',
    path: '/api/v1/auth/invitation',
    access: 'anyone',
    tag: 'auth',
    summary: 'Choose the password of an invited user, and end the sessions of the user',
    body: z.strictObject({ code: credential, password }),
    reply: z.object({ email: z.string().meta({ description: 'With which the user signs in' }) }),
    secret: true,
    problems: ['invalid_grant'],
  }),
  me: endpoint({
    operationId: 'me',
    method: 'get',
    path: '/api/v1/auth/me',
    access: 'signed-in',
    tag: 'auth',
    summary: 'Get the caller',
    reply: z.object({ user: fleetCaller, may }),
  }),
};
