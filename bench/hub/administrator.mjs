// An administrator of the hubs of a bench, who signs in at the development identity provider.
import { startIdentityProvider } from '@svc/identity-provider/server';
import { signIn } from '@svc/identity-provider/sign-in';
import { idOf } from './data.mjs';
import { AUDIENCE } from './processes.mjs';
import { textOf } from './words.mjs';

const PASSWORD = 'development';

/**
 * Starts an identity provider. `subject` is that of an administrator, and `token` is valid for
 * twelve hours.
 */
export async function startProvider() {
  const settings = { port: 0, host: '127.0.0.1', audiences: [AUDIENCE], password: PASSWORD };
  const provider = await startIdentityProvider({ ...settings, redirectUris: ['http://127.0.0.1/callback'] });
  try {
    const { issuer } = provider;
    const email = 'admin@example.test';
    const { accessToken: token } = await signIn({ issuer, email, password: PASSWORD, resource: AUDIENCE });
    return { issuer, subject: 'dev-admin', token, stop: provider.stop };
  } catch (error) {
    await provider.stop();
    throw error;
  }
}

let edits = 0;

/** An edit of a template by an administrator: a description that no edit had before. */
export function editOf(token, number) {
  edits += 1;
  const body = { id: idOf(number), description: `${textOf(number).description} Edit ${edits}.` };
  return { method: 'PUT', path: '/api/v1/admin/templates', key: token, body };
}
