import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { timestamp } from '../timestamp.ts';
import { id } from '../wire.ts';

/**
 * The maximum number of sessions of a user. A further sign-in deletes the one that was used least
 * recently.
 */
export const MAX_SESSIONS = 100;

const ownSession = z
  .object({
    id,
    current: z.boolean().meta({ description: 'The session of this request' }),
    kind: z.enum(['browser', 'tokens']).meta({ description: '`browser`: a session of the console' }),
    user_agent: z.string().nullable().meta({ description: 'The `User-Agent` of the sign-in' }),
    source: z.string().nullable().meta({ description: 'The address from which the caller signed in' }),
    created_at: timestamp,
    last_used_at: timestamp.nullable().meta({ description: 'Accurate to a minute' }),
    expires_at: timestamp,
  })
  .meta({ id: 'OwnSession' });

export const listOwnSessions = endpoint({
  operationId: 'listOwnSessions',
  method: 'get',
  path: '/api/v1/auth/sessions',
  access: 'session',
  tag: 'auth',
  summary: 'List the open sessions of the caller',
  reply: z.object({
    sessions: z.array(ownSession).meta({ description: `Newest first, at most ${MAX_SESSIONS}` }),
  }),
});
