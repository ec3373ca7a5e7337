import { fleetEndpoints } from '@svc/contract/fleet';
import { requireWritableAuditLog } from '../audit/gate.ts';
import { accessOf } from '../identity/policy.ts';
import { presentCaller, presentSession, redeemSignInCode } from '../identity/sign-in.ts';
import { changeRoute } from './request/change.ts';
import { route } from './request/context.ts';

export const getAuthConfig = route(fleetEndpoints.getAuthConfig, async (context) => {
  const { database, settings, sessions, providers, publicUrl, browserSessions } = context;
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
    browser_session_refusal: browserSessions.refusal ?? null,
  };
});

/** A refresh without an MCP token has no audit entry, since it continues a recorded sign-in. */
export const refresh = route(fleetEndpoints.refresh, async ({ database, recording, sessions }, { body }) => {
  if (recording.token) await requireWritableAuditLog(database);
  const { pair, person } = await sessions.refresh(body.refresh_token);
  return presentSession(pair, person);
});

export const exchangeSignInCode = changeRoute(
  fleetEndpoints.exchangeSignInCode,
  async ({ transaction, sessions }, { body }) => {
    const person = await redeemSignInCode({ sessions }, transaction, body);
    return presentSession(await sessions.issueTokens(transaction, person.sessionId), person);
  },
);

export const logout = changeRoute(fleetEndpoints.logout, async ({ transaction, principal }) => {
  const sessionId = 'sessionId' in principal ? principal.sessionId : undefined;
  if (sessionId !== undefined) {
    await transaction.$executeRaw`UPDATE sessions SET ended_at = now() WHERE id = ${sessionId}::uuid`;
  }
  return undefined;
});

export const me = route(fleetEndpoints.me, async ({ policy, principal }) => {
  if (principal.kind === 'anonymous') throw new Error('the policy must not admit anonymous callers here');
  return { user: presentCaller(principal), may: accessOf(policy, principal) };
});
