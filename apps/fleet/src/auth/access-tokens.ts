import { errors, jwtVerify, SignJWT } from 'jose';
import type { SigningKey } from './signing-keys.ts';

/** Seconds for which an access token is good; it is checked against its session at each request all the same. */
export const ACCESS_TOKEN_SECONDS = 600;
const ISSUER = 'fleet';

/** An access token of a session, as every replica knows it again. */
export const signAccessToken = ({ kid, privateKey }: SigningKey, sessionId: string): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'at+jwt' })
    .setIssuer(ISSUER)
    .setAudience(ISSUER)
    .setSubject(sessionId)
    .setIssuedAt()
    .setExpirationTime(`${ACCESS_TOKEN_SECONDS}s`)
    .sign(privateKey);

/** The session of an access token; undefined for a token that this key did not sign or that is past its time. */
export async function sessionOf({ kid, publicKey }: SigningKey, token: string): Promise<string | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      audience: ISSUER,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'sub'],
    });
    return protectedHeader.kid === kid ? payload.sub : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
