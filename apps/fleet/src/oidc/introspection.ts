import { z } from 'zod';
import { subject } from './claims.ts';
import type { Members } from './reach.ts';
import type { ProviderSettings } from './settings.ts';

const activeToken = z.looseObject({
  active: z.literal(true),
  // A refresh token is active too: only this tells it from an access token.
  token_type: z.string().regex(/^(?:bearer|access_token)$/i),
  token_use: z.enum(['access_token', 'access']).optional(),
  sub: subject,
  iss: z.string().optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  aud: z.union([z.string().transform((one) => [one]), z.array(z.string())]).default([]),
  client_id: z.string().optional(),
});

/** What introspection tells of an access token that is good here, and until when; undefined of any other (RFC 7662). */
export function readIntrospection(
  said: Members,
  settings: ProviderSettings,
  now: number,
): { readonly said: Members; readonly until: number } | undefined {
  const token = activeToken.safeParse(said);
  if (!token.success) return undefined;
  const { iss = settings.issuer, exp = Number.POSITIVE_INFINITY, nbf = 0, aud, client_id } = token.data;
  const until = exp * 1000;
  if (iss !== settings.issuer || until <= now || nbf * 1000 > now + 5000) return undefined;
  const isForUs =
    aud.length > 0
      ? aud.some((one) => one === settings.audience || one === settings.clientId)
      : client_id === settings.clientId;
  return isForUs ? { said, until } : undefined;
}
