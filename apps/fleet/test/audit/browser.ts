import type { Api } from '@svc/testing';

export const OIDC_LOGIN = '/api/v1/auth/oidc/login';

/** Starts a sign-in at the provider. @returns the callback request of the browser */
export async function openProviderCallback(api: Api) {
  const begun = await api.get(OIDC_LOGIN);
  if (begun.status !== 302) throw new Error(`the start of the sign-in answered ${begun.status}: ${begun.text}`);
  const { searchParams } = new URL(begun.headers.location ?? '');
  const query = new URLSearchParams({ code: searchParams.get('nonce') ?? '', state: searchParams.get('state') ?? '' });
  const cookie = String(begun.headers['set-cookie']).split(';', 1)[0] ?? '';
  return { path: `/api/v1/auth/oidc/callback?${query}`, headers: { Cookie: cookie } };
}

/** Signs in at the provider. @returns the code that can be exchanged for tokens */
export async function aSignInCode(api: Api): Promise<string> {
  const { path, headers } = await openProviderCallback(api);
  const back = await api.get(path, headers);
  if (back.status !== 302) throw new Error(`the end of the sign-in answered ${back.status}: ${back.text}`);
  return new URL(back.headers.location ?? '', 'http://fleet.test').searchParams.get('code') ?? '';
}
