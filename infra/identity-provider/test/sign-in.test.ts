import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import type { IdentityProvider } from '../src/server.ts';
import { signIn } from '../src/sign-in.ts';
import { aProvider, hubAudience, introspect, jwksOf } from './provider.ts';

let provider: IdentityProvider;
beforeAll(async () => {
  provider = await aProvider();
});
afterAll(() => provider.stop());

const as = (email: string, options: { password?: string; resource?: string } = {}) =>
  signIn({ issuer: provider.issuer, email, password: 'development', ...options });

test('discovery returns the issuer, only S256, and the endpoints', async () => {
  const metadata = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
  expect(metadata).toMatchObject({
    issuer: provider.issuer,
    code_challenge_methods_supported: ['S256'],
    introspection_endpoint: expect.stringContaining(provider.issuer),
    revocation_endpoint: expect.stringContaining(provider.issuer),
    end_session_endpoint: expect.stringContaining(provider.issuer),
  });
});

test('the JWKS contains only a public signing key', async () => {
  const { keys } = await jwksOf(provider.issuer);
  expect(keys).toEqual([
    { kty: 'RSA', use: 'sig', alg: 'RS256', kid: expect.any(String), e: 'AQAB', n: expect.any(String) },
  ]);
});

test('an access token for the hub is a JWT with the claims of the user, which the JWKS verifies', async () => {
  const { accessToken } = await as('admin@example.test', { resource: hubAudience });
  const jwks = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`));
  const { payload, protectedHeader } = await jwtVerify(accessToken, jwks, {
    issuer: provider.issuer,
    audience: hubAudience,
    algorithms: ['RS256'],
    requiredClaims: ['exp', 'iat', 'sub'],
  });
  expect(protectedHeader.typ).toBe('at+jwt');
  expect(payload).toMatchObject({
    aud: hubAudience,
    sub: 'dev-admin',
    email: 'admin@example.test',
    email_verified: true,
    name: 'Ada Admin',
    role: 'admin',
  });
});

test('a JWT is valid for twelve hours', async () => {
  const { accessToken, expiresIn } = await as('user@example.test', { resource: hubAudience });
  const { exp = 0, iat = 0 } = decodeJwt(accessToken);
  expect({ lifetime: exp - iat, expiresIn }).toEqual({ lifetime: 43_200, expiresIn: 43_200 });
});

test('a wrong password and an unknown user are rejected', async () => {
  await expect(as('admin@example.test', { password: 'wrong' })).rejects.toThrow('wrong e-mail or password');
  await expect(as('nobody@example.test')).rejects.toThrow('wrong e-mail or password');
});

test('an unknown resource is rejected', async () => {
  await expect(as('admin@example.test', { resource: 'https://other.example.test' })).rejects.toThrow('invalid_target');
});

test('the ID token contains e-mail, name and role', async () => {
  const { idToken = '' } = await as('operator@example.test');
  expect(decodeJwt(idToken)).toMatchObject({
    aud: 'dashboard',
    email: 'operator@example.test',
    email_verified: true,
    name: 'Olga Operator',
    role: 'operator',
  });
});

test('an access token without a resource is opaque, and a confidential client can introspect it', async () => {
  const { accessToken } = await as('operator@example.test');
  expect(() => decodeProtectedHeader(accessToken)).toThrow();
  expect(await introspect(provider.issuer, accessToken)).toMatchObject({
    active: true,
    client_id: 'dashboard',
    iss: provider.issuer,
    sub: 'dev-operator',
    email: 'operator@example.test',
    role: 'operator',
  });
});

test('introspection of an unknown token returns only that it is not active', async () => {
  expect(await introspect(provider.issuer, 'unknown')).toEqual({ active: false });
});

test('a revoked token is no longer active', async () => {
  const { accessToken } = await as('user@example.test');
  const form = new URLSearchParams({ token: accessToken, client_id: 'dashboard' });
  const { status } = await fetch(`${provider.issuer}/token/revocation`, { method: 'POST', body: form });
  expect(status).toBe(200);
  expect(await introspect(provider.issuer, accessToken)).toEqual({ active: false });
});

test('a refresh token can be exchanged once, for a JWT for the same resource', async () => {
  const { refreshToken = '' } = await as('user@example.test', { resource: hubAudience });
  const refresh = async () => {
    const form = { grant_type: 'refresh_token', client_id: 'dashboard', refresh_token: refreshToken };
    const response = await fetch(`${provider.issuer}/token`, { method: 'POST', body: new URLSearchParams(form) });
    return (await response.json()) as { access_token: string };
  };
  expect(decodeJwt((await refresh()).access_token)).toMatchObject({ aud: hubAudience, sub: 'dev-user' });
  expect(await refresh()).toMatchObject({ error: 'invalid_grant' });
});

test('a request without PKCE is redirected to the client with an error', async () => {
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: 'dashboard',
    redirect_uri: 'http://127.0.0.1:5173/callback',
    scope: 'openid',
  });
  const response = await fetch(`${provider.issuer}/auth?${request}`, { redirect: 'manual' });
  const redirect = new URL(response.headers.get('location') ?? '');
  expect(redirect.origin).toBe('http://127.0.0.1:5173');
  expect(redirect.searchParams.get('error')).toBe('invalid_request');
});

test('an unknown redirect URI is rejected with a page that loads nothing from other servers', async () => {
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: 'dashboard',
    redirect_uri: 'https://other.example.test/callback',
    scope: 'openid',
  });
  const response = await fetch(`${provider.issuer}/auth?${request}`, { redirect: 'manual' });
  const page = await response.text();
  expect(response.status).toBe(400);
  expect(page).toContain('invalid_redirect_uri');
  expect(page).not.toMatch(/@import|https?:\/\/fonts|<script|<link/);
});

test('an unknown interaction is rejected with a page', async () => {
  const response = await fetch(`${provider.issuer}/interaction/unknown`);
  expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
    status: 400,
    type: 'text/html; charset=utf-8',
  });
});
