import { Problem, unavailable } from '@svc/http';
import { GrantRefused, ProviderUnavailable } from './errors.ts';

/**
 * Translates errors of the provider: GrantRefused to `invalid_grant`, ProviderUnavailable to
 * `unavailable`.
 */
export async function translateProviderErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof GrantRefused) {
      throw new Problem('invalid_grant', 'The identity provider did not confirm the sign-in. Start it again.', {
        cause,
      });
    }
    if (cause instanceof ProviderUnavailable)
      throw unavailable('The identity provider is unavailable. Start the sign-in again later.', cause);
    throw cause;
  }
}

/** 401: a callback without the sign-in that it completes. */
export class SignInExpired extends Problem {
  constructor() {
    super('invalid_grant', 'The sign-in has expired, or was started in another browser. Start it again.');
  }
}
