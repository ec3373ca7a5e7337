import { z } from 'zod';
import { timestamp } from './timestamp.ts';
import { id } from './wire.ts';

/** The maximum number of sessions of a user. A further sign-in deletes the one that was used least recently. */
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

/** The open sessions of the caller. */
export const ownSessions = z.object({
  sessions: z.array(ownSession).meta({ description: `Newest first, at most ${MAX_SESSIONS}` }),
});
