import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { refuseUnrecordable } from '../audit/gate.ts';
import { hashCredential } from '../auth/session-tokens.ts';
import { refuseWithoutRole } from '../auth/sessions.ts';
import { presentCaller, presentSession } from './auth/sign-in.ts';
import { change } from './change.ts';
import { route } from './context.ts';

export const getAuthConfig = route(fleetEndpoints.getAuthConfig, async (context) => {
  const { database, settings, sessions, providers, publicUrl } = context;
  const oidc = await settings.oidc();
  const { issuer, client_id, audience } = oidc;
  const local = await database.client.user.findFirst({ where: { source: 'local' }, select: { id: true } });
  return {
    local: local !== null,
    temporary_admin: sessions.temporaryAdmin !== undefined,
    oidc:
      issuer !== null && client_id !== null && providers.of(oidc)
        ? { issuer, client_id, audience, redirect: publicUrl !== undefined }
        : null,
  };
});

/** No entry of its own: it goes on with what a sign-in began. */
export const refresh = route(fleetEndpoints.refresh, async ({ database, recording, sessions }, { body }) => {
  if (recording.token) await refuseUnrecordable(database);
  const { pair, person } = await sessions.refresh(body.refresh_token);
  return presentSession(pair, person);
});

export const exchangeSignInCode = change(
  fleetEndpoints.exchangeSignInCode,
  async ({ transaction, sessions }, { body }) => {
    const [row] = await transaction.$queryRaw<{ session_id: string }[]>`
      DELETE FROM sign_in_codes WHERE code_hash = ${hashCredential(body.code)} AND expires_at > now()
      RETURNING session_id`;
    const person = row && (await sessions.personIn(transaction, row.session_id));
    if (!row || !person) throw new Problem('invalid_grant', 'The code is no longer good: sign in again.');
    refuseWithoutRole(person); // the mapping may have changed since the callback
    return presentSession(await sessions.tokensOf(transaction, row.session_id), person);
  },
);

export const logout = change(fleetEndpoints.logout, async ({ transaction, principal }) => {
  const sessionId = 'sessionId' in principal ? principal.sessionId : undefined;
  if (sessionId !== undefined) {
    await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${sessionId}::uuid`;
  }
  return undefined;
});

export const me = route(fleetEndpoints.me, async ({ principal }) => {
  if (principal.kind === 'anonymous') throw new Error('the policy admits nobody without a name');
  return { user: presentCaller(principal) };
});
