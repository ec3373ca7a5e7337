import { hubEndpoints } from '@svc/contract/hub';
import { route } from './request/context.ts';

export const getAuthConfig = route(hubEndpoints.getAuthConfig, async ({ provider, publicUrl, browserSessions }) => ({
  issuer: provider.issuer,
  audience: provider.audience,
  console: provider.signIn !== undefined && publicUrl !== undefined && browserSessions.refusal === undefined,
  browser_session_refusal: browserSessions.refusal ?? null,
}));
