import { unavailable } from '@svc/http';
import { errors, type JWTVerifyGetKey, type JWTVerifyResult, jwtVerify } from 'jose';
import { z } from 'zod';
import { KeysUnavailable } from './key-source.ts';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
const TOLERANCE_SECONDS = 5;
const MAX_LIFETIME_SECONDS = 24 * 3600;

/** Members that ID tokens have (OpenID Connect Core, sections 2 and 3.1.3.6). */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash'];

/**
 * The types of tokens that can be bearer tokens: JWTs without a more specific type, and access
 * tokens (RFC 9068).
 */
const BEARER_TYPE = /^(?:application\/)?(?:at\+)?jwt$/i;

/**
 * Whether a token can be a bearer token. Tokens of other types, such as `dpop+jwt` and
 * `logout+jwt`, have another purpose (RFC 8725, section 3.11). So have logout tokens and other
 * event tokens without a type, which have the claim `events` (RFC 8417). A token with the claim
 * `cnf` requires a proof of possession (RFC 7800), which the services cannot verify.
 */
const isBearerToken = ({ payload, protectedHeader: { typ } }: JWTVerifyResult): boolean =>
  (typ === undefined || BEARER_TYPE.test(typ)) && !('cnf' in payload) && !('events' in payload);

/**
 * Whether a token is recognizably an ID token: access tokens have a `typ` header (RFC 9068), and
 * Keycloak sets a claim `typ`.
 */
const isIdToken = ({ payload, protectedHeader }: JWTVerifyResult): boolean =>
  payload.typ === 'ID' ||
  (!/^(?:application\/)?at\+jwt$/i.test(protectedHeader.typ ?? '') &&
    payload.typ !== 'Bearer' &&
    ID_TOKEN_CLAIMS.some((claim) => claim in payload));

/**
 * The claims that identify and describe a user. Invalid claims that only describe the user are
 * ignored.
 */
export const userClaims = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1).max(255),
  email: z.string().max(320).optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
});

const claims = userClaims.extend({ exp: z.int() });

export type UserClaims = z.infer<typeof userClaims>;

/** The claims of an access token with valid signature, issuer, audience and times. */
export type Claims = z.infer<typeof claims>;

/**
 * Verifies access tokens of one issuer (RFC 9068, RFC 8725). Resolves to undefined for an invalid
 * token. Rejects with 503 if the keys of the issuer are not available.
 */
export function createJwtVerifier(options: {
  readonly issuer: string;
  /** A token must be for one of them. */
  readonly audience: string | readonly string[];
  readonly keys: JWTVerifyGetKey;
}): (token: string) => Promise<Claims | undefined> {
  return async (token) => {
    try {
      const verified = await jwtVerify(token, options.keys, {
        issuer: options.issuer,
        audience: [options.audience].flat(),
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: TOLERANCE_SECONDS,
      });
      if (verified.protectedHeader.kid === undefined) return undefined;
      if (!isBearerToken(verified) || isIdToken(verified)) return undefined;
      const parsed = claims.safeParse(verified.payload);
      if (!parsed.success || parsed.data.exp > Date.now() / 1000 + MAX_LIFETIME_SECONDS + TOLERANCE_SECONDS)
        return undefined;
      return parsed.data;
    } catch (error) {
      if (error instanceof KeysUnavailable)
        throw unavailable('The keys of the identity provider are not available.', error);
      if (error instanceof errors.JOSEError) return undefined;
      // jose rejects some keys, such as RSA keys below 2048 bits. This is an error of the issuer,
      // not of the caller.
      if (error instanceof TypeError) throw unavailable('A key of the identity provider is not usable.', error);
      throw error;
    }
  };
}

/** Whether a token has the form of a signed JWT. */
export const isJwtShaped = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
