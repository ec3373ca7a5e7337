export { type Authenticate, type BearerCredential, createAuthenticator, readBearer } from './bearer.ts';
export { type Challenges, challengesOf } from './challenges.ts';
export { type Claims, createJwtVerifier, isJwtShaped } from './jwt.ts';
export { createKeySource, fetchKeys, type KeySource, KeysUnavailable } from './key-source.ts';
export { admit, type Policy, type PolicyDecision } from './policy.ts';
export { displayPrefix, hashSecretToken, isSecretToken, newSecretToken, type TokenPrefix } from './secret-token.ts';
