import { challengeOf, hashCredential, hashSecretToken, newSecretToken, SignInNotBegunHere } from '@svc/auth';
import { hubEndpoints } from '@svc/contract/hub';
import { callerOf } from '../../identity/caller.ts';
import { isOpen, TOKEN_PREFIX, verifySessionToken } from '../../identity/sessions.ts';
import { presentUser, withOrganization } from '../../organizations/present.ts';
import { route } from '../request/context.ts';
import { SESSION_HOURS } from './opening.ts';

/** The program that began the sign-in completes it. */
export const exchangeSignInCode = route(
  hubEndpoints.exchangeSignInCode,
  async ({ database, provider }, { body: { code, verifier } }) => {
    const token = newSecretToken(TOKEN_PREFIX);
    const { client } = database;
    const completed = await client.$executeRaw`
      UPDATE sessions SET browser_hash = ${hashSecretToken(token)}, challenge = NULL,
        expires_at = now() + make_interval(hours => ${SESSION_HOURS}::int)
      WHERE browser_hash = ${hashCredential(code)} AND challenge = ${challengeOf(verifier)} AND has_token
        AND ${isOpen}`;
    const principal = completed > 0 ? await verifySessionToken(database, provider, token) : undefined;
    if (!principal) throw new SignInNotBegunHere();
    const where = { id: callerOf(principal).id };
    const row = await client.user.findUniqueOrThrow({ where, include: withOrganization });
    return {
      access_token: token,
      token_type: 'Bearer' as const,
      expires_in: SESSION_HOURS * 3600,
      user: presentUser(row),
    };
  },
);
