import type { IncomingMessage } from 'node:http';
import { onLoopback } from '@svc/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** The claims of each user who signs in. */
const PERSON = { sub: 'ada', email: 'ada@provider.test', email_verified: true, name: 'Ada', role: 'admin' };
/** The code of a sign-in without a nonce. */
export const CODE = 'without-nonce';

/**
 * An identity provider that approves each sign-in at once. Each code except `CODE` is the nonce of
 * its sign-in, and a code can be redeemed repeatedly.
 */
export async function startSmallProvider({ refreshToken = 'of-the-provider', clientId = 'fleet' } = {}) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'small', alg: 'ES256', use: 'sig' };
  let redeemed = 0;

  const tokens = async (form: URLSearchParams) => {
    redeemed += 1;
    const code = form.get('code') ?? CODE;
    const id_token = await new SignJWT({ ...PERSON, ...(code === CODE ? {} : { nonce: code }) })
      .setProtectedHeader({ alg: 'ES256', kid: 'small' })
      .setIssuer(issuer)
      .setAudience(clientId)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
    return { access_token: 'opaque', token_type: 'Bearer', expires_in: 300, refresh_token: refreshToken, id_token };
  };
  const answer = async (req: IncomingMessage) => {
    if (req.url === '/keys') return { keys: [jwk] };
    if (req.url === '/token') return tokens(new URLSearchParams(await textOf(req)));
    return {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
    };
  };
  const server = await onLoopback(async (req, res) => {
    const body = JSON.stringify(await answer(req));
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  });
  const issuer = server.url;
  return {
    issuer,
    clientId,
    /** How many codes and refresh tokens were redeemed. */
    redeemed: () => redeemed,
    stop: server.stopListening,
    startListening: server.startListening,
  };
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text;
}
