import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

export type Members = Readonly<Record<string, unknown>>;

/** A key pair of an issuer. */
export interface Signer {
  readonly kid: string;
  readonly publicKey: JWK;
  /** Signs a token that is valid for five minutes. A member that is undefined is omitted. */
  sign(claims: Members, header?: Members): Promise<string>;
}

export async function aSigner(kid: string, alg = 'ES256'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return {
    kid,
    publicKey: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    sign: (claims, header = {}) => prepared(claims, { alg, kid, ...header }).sign(privateKey),
  };
}

/** A token signed by HMAC with any bytes as key. */
export const signBySecret = (secret: string, claims: Members, header: Members) =>
  prepared(claims, { alg: 'HS256', ...header }).sign(new TextEncoder().encode(secret));

/** A token without a signature. */
export const unsigned = (claims: Members) => `${encoded({ alg: 'none' })}.${encoded(timed(claims))}.`;

const prepared = (claims: Members, header: Members) =>
  new SignJWT(timed(claims) as JWTPayload) // a test may need an invalid token
    .setProtectedHeader(header as unknown as JWTHeaderParameters);

const timed = (claims: Members): Members => {
  const now = Math.floor(Date.now() / 1000);
  return { iat: now, exp: now + 300, ...claims };
};

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
