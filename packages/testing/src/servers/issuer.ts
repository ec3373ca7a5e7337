import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { onLoopback } from './loopback.ts';

/** Members of a token, which can be invalid. Undefined members are removed. */
type Members = Readonly<Record<string, unknown>>;

/**
 * An issuer of access tokens on a loopback address, with discovery, keys, and tokens of any
 * content.
 */
export interface LocalIssuer {
  readonly issuer: string;
  readonly audience: string;
  /**
   * An access token of `sub` with a lifetime of five minutes. `claims` and `header` override its
   * members.
   */
  sign(sub: string, claims?: Members, header?: Members): Promise<string>;
  /** The public part of the current signing key. */
  publicKey(): JWK;
  /** Replaces the signing key. Only the new key is published. */
  rotate(): Promise<void>;
  /** Stops listening until `startListening`. `sign` still works. */
  stopListening(): Promise<void>;
  startListening(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts an issuer. With `path: '/'`, its identifier ends in a slash, like that of some providers.
 */
export async function startLocalIssuer(
  audience: string,
  { path = '' }: { readonly path?: '' | '/' } = {},
): Promise<LocalIssuer> {
  let keys = await newKeys('local');
  const server = await onLoopback((req, res) => {
    const endpoints = { authorization_endpoint: `${server.url}/authorize`, token_endpoint: `${server.url}/token` };
    const metadata = { issuer, jwks_uri: `${server.url}/keys`, ...endpoints };
    const body = req.url === '/keys' ? { keys: [keys.jwk] } : metadata;
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  const issuer = `${server.url}${path}`;
  const now = () => Math.floor(Date.now() / 1000);
  return {
    issuer,
    audience,
    sign: (sub, claims = {}, header = {}) => {
      const payload: Members = { iss: issuer, aud: audience, sub, iat: now(), exp: now() + 300, ...claims };
      const protectedHeader: Members = { alg: 'ES256', kid: keys.jwk.kid, typ: 'at+jwt', ...header };
      const crit = Array.isArray(header.crit) ? Object.fromEntries(header.crit.map((name) => [name, true])) : {};
      return new SignJWT(payload as JWTPayload) // tests also sign invalid tokens
        .setProtectedHeader(protectedHeader as unknown as JWTHeaderParameters)
        .sign(keys.privateKey, { crit });
    },
    publicKey: () => keys.jwk,
    rotate: async () => {
      keys = await newKeys(`${keys.jwk.kid}-next`);
    },
    stopListening: server.stopListening,
    startListening: server.startListening,
    close: server.stopListening,
  };
}

async function newKeys(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}
