import { invisibleProblem, withoutInvisible } from '@svc/contract';
import { unavailable } from '@svc/http';
import { errors, type JWTVerifyResult, jwtVerify } from 'jose';
import { z } from 'zod';
import { TokenRefused } from './challenges.ts';
import { type KeySource, KeysUnavailable } from './key-source.ts';

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
const TOLERANCE_SECONDS = 5;
/** The default of the longest lifetime of an access token, in hours. */
export const MAX_TOKEN_HOURS = 24;

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
  sub: z.string().min(1).max(255).refine(isStorable),
  email: z.string().trim().max(320).refine(isStorable).refine(isVisible).optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  name: z.string().refine(isStorable).transform(withoutInvisible).optional().catch(undefined),
});

/** Whether a text looks like no other one. */
function isVisible(text: string): boolean {
  return invisibleProblem(text) === undefined;
}

/** Whether PostgreSQL can store a text, and stores no other one: without NUL and lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** `exp` is a NumericDate, which can have a fraction (RFC 7519, section 2). */
const claims = userClaims.extend({ exp: z.number() });

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
  readonly keys: Pick<KeySource, 'keyFor' | 'refetch'>;
  /** The longest time until the expiry of a token, in hours. */
  readonly maxHours?: number | undefined;
}): (token: string) => Promise<Claims | undefined> {
  const { keys, maxHours = MAX_TOKEN_HOURS } = options;
  const verify = (token: string) =>
    jwtVerify(token, keys.keyFor, {
      issuer: options.issuer,
      audience: [options.audience].flat(),
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: TOLERANCE_SECONDS,
    });
  return async (token) => {
    try {
      const verified = await verify(token).catch(async (error: unknown) => {
        const isOtherKey = error instanceof errors.JWSSignatureVerificationFailed;
        if (isOtherKey && (await keys.refetch())) return verify(token);
        throw error;
      });
      if (!isBearerToken(verified) || isIdToken(verified)) return undefined;
      const parsed = claims.safeParse(verified.payload);
      if (!parsed.success) return undefined;
      if (parsed.data.exp > Date.now() / 1000 + maxHours * 3600 + TOLERANCE_SECONDS) throw longLived(maxHours);
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

/** An access token that is valid in every other respect expires too late. */
const longLived = (maxHours: number) =>
  new TokenRefused(
    `The access token is valid for more than ${maxHours} hours. Request a token with a shorter lifetime, or increase OIDC_MAX_TOKEN_HOURS.`,
  );

/** Whether a token has the form of a signed JWT. */
export const isJwtShaped = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
