export { type Bearer, createVerificationCache } from './bearer.ts';
export { type Check, testProvider } from './checks.ts';
export { SignInExpired, translateProviderErrors } from './problems.ts';
export {
  type Claims,
  createProvider,
  GrantRefused,
  type Provider,
  type ProviderSettings,
  ProviderUnavailable,
  type SignedIn,
} from './provider.ts';
export { shownInConsole } from './shown-in-console.ts';
