import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { route } from '../context.ts';
import { presentCaller, presentTemporaryAdmin } from '../presenters/caller.ts';
import { ACCESS_TOKEN_SECONDS } from './access-tokens.ts';
import type { TokenPair } from './sessions.ts';
import { countAttempt, forgetFailures } from './throttle.ts';

const session = (pair: TokenPair, name: string) => ({
  ...pair,
  token_type: 'Bearer' as const,
  expires_in: ACCESS_TOKEN_SECONDS,
  user: presentTemporaryAdmin(name),
});

export const login = route(fleetEndpoints.login, async ({ database, sessions, address }, { body }) => {
  const attempt = { account: body.username, address };
  await countAttempt(database, attempt);
  const { temporaryAdmin } = sessions;
  if (!temporaryAdmin?.matches(body.username, body.password)) {
    throw new Problem('invalid_credentials', 'The username or the password is wrong.');
  }
  await forgetFailures(database, attempt);
  return session(await sessions.open(temporaryAdmin), temporaryAdmin.username);
});

export const refresh = route(fleetEndpoints.refresh, async ({ sessions }, { body }) => {
  const pair = await sessions.refresh(body.refresh_token);
  return session(pair, sessions.temporaryAdmin?.username ?? '');
});

export const logout = route(fleetEndpoints.logout, async ({ sessions, principal }) => {
  if (principal.kind === 'temporary-admin') await sessions.end(principal.sessionId);
  return undefined;
});

export const me = route(fleetEndpoints.me, async ({ principal }) => {
  if (principal.kind === 'anonymous') throw new Error('the policy admits nobody without a name');
  return { user: presentCaller(principal) };
});
