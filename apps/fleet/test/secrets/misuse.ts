import type { Endpoint } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { inTurn } from '@svc/testing';
import type { Call } from './caller.ts';

/** Endpoints that end a session that later calls need. */
const { logout, endBrowserSession, endOwnSessions } = fleetEndpoints;
const keptBack: readonly Endpoint[] = [logout, endBrowserSession, endOwnSessions];
const endpoints = Object.values<Endpoint>(fleetEndpoints).filter((one) => !keptBack.includes(one));

export interface Misuse {
  /**
   * Each endpoint is called with each of these kinds of bodies. At depth `short` they alternate.
   */
  readonly credentials: readonly string[];
  /** Secret values that are sent where they do not belong. */
  readonly secrets: readonly string[];
  /** A value with the format of a credential in a path. */
  readonly recognised: (secret: string) => boolean;
}

/** Calls each endpoint with secrets in the query, the headers and bodies of each kind. */
export async function misuseEndpoints(call: Call, { credentials, secrets }: Misuse): Promise<void> {
  let calls = 0;
  for (const [index, { method, path, bodyLimit, stream }] of endpoints.entries()) {
    const at = path.replace(/:\w+/g, 'nothing');
    for (const as of inTurn(credentials, { index, of: endpoints.length })) {
      const secret = secrets[calls++ % secrets.length] ?? '';
      const text = encodeURIComponent(secret);
      const headers = { Cookie: `a=${text}`, Referer: `http://x.test/?t=${text}`, 'User-Agent': secret };
      const asked = { as, headers };
      // A stream of events does not end.
      if (stream !== 'text/event-stream') await call(method, at, asked);
      await call(method, `${at}?access_token=${text}&${text}=1`, asked);
      if (bodyLimit === 0) continue;
      await call(method, at, {
        ...asked,
        body: { [secret]: 1, password: secret, refresh_token: secret, code: secret },
      });
      await call(method, at, { ...asked, text: `{"password": "${secret}` });
      await call(method, at, { ...asked, text: secret, type: 'text/plain' });
    }
  }
}

/** Sends each secret in an invalid way where a credential belongs, and where none does. */
export async function misuseSecrets(call: Call, { secrets, recognised }: Misuse): Promise<void> {
  for (const secret of secrets) {
    const wrong = [`Basic ${btoa(secret)}`, `Bearer  ${secret}`, secret, `Bearer ${secret},x`, `Bearer ${secret}x`];
    for (const authorization of wrong) {
      await call('GET', `/api/v1/nothing/${recognised(secret) ? secret : ''}`, { authorization });
    }
    await call('POST', '/api/v1/auth/login', { body: { email: secret, password: secret } });
    await call('POST', '/api/v1/auth/login', { body: { username: 'first-admin', password: `${secret}x` } });
    const text = encodeURIComponent(secret);
    await call('GET', `/api/v1/auth/oidc/callback?code=${text}&state=${text}&error_description=${text}`);
    await call('GET', '/metrics', { as: secret });
  }
}
