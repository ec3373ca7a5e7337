export { type Authenticate, type BearerCredential, createAuthenticator, readBearer } from './bearer.ts';
export { type BrowserSessions, createBrowserSessions } from './browser-sessions.ts';
export { type Challenges, challengesOf, TokenRefused } from './challenges.ts';
export {
  type Claims,
  createJwtVerifier,
  isJwtShaped,
  isStorable,
  MAX_TOKEN_HOURS,
  type UserClaims,
  userClaims,
} from './jwt.ts';
export {
  createKeySource,
  DEVELOPMENT_PROVIDER,
  fetchKeys,
  isDevelopmentProvider,
  type KeySource,
  KeysUnavailable,
} from './key-source.ts';
export { createKnownSessions, type KnownSessions } from './known-sessions.ts';
export { hashCredential, newCredential } from './opaque-credential.ts';
export { admit, type Policy, type PolicyDecision } from './policy.ts';
export {
  commonStatus,
  type Probed,
  type ProviderStatus,
  providerHealth,
  startProviderProbes,
} from './provider-status.ts';
export {
  displayPrefix,
  hashSecretToken,
  hasTokenPrefix,
  isSecretToken,
  newSecretToken,
  type TokenPrefix,
} from './secret-token.ts';
export {
  challengeOf,
  createSignInCookie,
  refuseForeignPath,
  refuseTooManyUnfinished,
  requireChallenge,
  SIGN_IN_CODE,
  SIGN_IN_MINUTES,
  type SignInCookie,
  SignInNotBegunHere,
  type UnfinishedSignIns,
} from './sign-in-redirect.ts';
