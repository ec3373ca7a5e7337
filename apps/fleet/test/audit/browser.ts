import type { Api } from '@svc/testing';
import { OF_CONSOLE } from '../auth/console.ts';
import { codeIn, consoleCodeIn, consoleLogin, VERIFIER } from '../sign-in/browser.ts';

export const OIDC_LOGIN = '/api/v1/auth/oidc/login';

/** Starts a sign-in at the provider. @returns the callback request of the browser */
export async function openProviderCallback(api: Api, login = OIDC_LOGIN) {
  const begun = await api.get(login);
  if (begun.status !== 302) throw new Error(`the start of the sign-in answered ${begun.status}: ${begun.text}`);
  const { searchParams } = new URL(begun.headers.location ?? '');
  const query = new URLSearchParams({ code: searchParams.get('nonce') ?? '', state: searchParams.get('state') ?? '' });
  const cookie = String(begun.headers['set-cookie']).split(';', 1)[0] ?? '';
  return { path: `/api/v1/auth/oidc/callback?${query}`, headers: { Cookie: cookie } };
}

async function backAt(api: Api, login?: string) {
  const { path, headers } = await openProviderCallback(api, login);
  return api.get(path, headers);
}

/** Signs in at the provider. @returns the code that can be exchanged for tokens */
export const aSignInCode = async (api: Api): Promise<string> => codeIn(await backAt(api));

/** A sign-in of the console. @returns what its page sends to complete it */
export const aConsoleSignIn = async (api: Api) => ({
  body: { code: consoleCodeIn(await backAt(api, consoleLogin())), verifier: VERIFIER },
  headers: OF_CONSOLE,
});
