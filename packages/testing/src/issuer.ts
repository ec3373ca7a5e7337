import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** An issuer of access tokens on loopback: real discovery, real keys, tokens of any content. */
export interface LocalIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** An access token of `sub`, good for five minutes unless `claims` say otherwise. A claim that is undefined is left out. */
  sign(sub: string, claims?: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

export async function startLocalIssuer(audience: string): Promise<LocalIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'local', alg: 'ES256', use: 'sig' };
  const server = createServer((req, res) => {
    const body = req.url === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` };
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  const issuer = `http://127.0.0.1:${port}`;
  const now = () => Math.floor(Date.now() / 1000);
  return {
    issuer,
    audience,
    sign: (sub, claims = {}) =>
      new SignJWT({ iss: issuer, aud: audience, sub, iat: now(), exp: now() + 300, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'local', typ: 'at+jwt' })
        .sign(privateKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
