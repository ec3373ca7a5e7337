import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { profile } from '../shared/organization.ts';
import { challenge, finishOidcLoginBody } from '../shared/sign-in/begun-sign-in.ts';
import { connectProgram, signInCode } from '../shared/sign-in/connected-program.ts';
import { listOwnSessions } from '../shared/sign-in/own-sessions.ts';
import { byUuid, line } from '../shared/wire.ts';
import { hubAccesses } from './access.ts';

const authConfig = z
  .object({
    issuer: z.string().meta({ description: 'The identity provider whose access tokens the hub accepts' }),
    audience: z.string().meta({ description: 'The audience of these tokens' }),
    console: z.boolean().meta({ description: '`GET /auth/oidc/login` starts a sign-in of the console' }),
    browser_session_refusal: z
      .string()
      .nullable()
      .meta({ description: 'Why the console cannot have a session; null if it can' }),
  })
  .meta({ id: 'AuthConfig' });

const browserSession = z
  .object({
    user: profile.nullable().meta({ description: 'null: nobody is signed in, or the caller is no user' }),
    may: z
      .array(z.enum(hubAccesses))
      .meta({ description: 'What the caller may do: the kinds of access that admit the caller' }),
  })
  .meta({ id: 'BrowserSession' });

/** Sign-in to the console and of programs, sessions and sign-out. */
export const hubAuthEndpoints = {
  getAuthConfig: endpoint({
    operationId: 'getAuthConfig',
    method: 'get',
    path: '/api/v1/auth/config',
    access: 'anyone',
    tag: 'auth',
    summary: 'Get how callers can sign in',
    reply: authConfig,
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
        description: 'The path of this service to which the browser is redirected after the sign-in',
      }),
      challenge: challenge.optional().meta({ description: 'Required: the challenge of a verifier of the page' }),
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
    problems: ['invalid_grant', 'oidc_not_configured', 'browser_session_unavailable'],
  }),
  finishOidcLogin: endpoint({
    operationId: 'finishOidcLogin',
    method: 'post',
    path: '/api/v1/auth/oidc/session',
    access: 'anyone',
    tag: 'auth',
    summary: 'Complete a sign-in of the console, and set its cookie',
    body: finishOidcLoginBody,
    reply: browserSession,
    secret: true,
    setsCookie: true,
    problems: ['invalid_grant', 'browser_session_unavailable'],
  }),
  connectProgram,
  exchangeSignInCode: endpoint({
    operationId: 'exchangeSignInCode',
    method: 'post',
    path: '/api/v1/auth/exchange',
    access: 'anyone',
    tag: 'auth',
    summary: 'Exchange the code of a program for a token, once and within one minute',
    body: z.strictObject(signInCode),
    reply: z
      .object({
        access_token: z
          .string()
          .meta({ description: 'The token of a session, `svcu_…`, which this response shows once' }),
        token_type: z.literal('Bearer'),
        expires_in: z.int().meta({ description: 'Lifetime of the token in seconds' }),
        user: profile,
      })
      .meta({ id: 'ProgramSession' }),
    secret: true,
    problems: ['invalid_grant'],
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
    params: byUuid,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
};
