import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { challenge, verifier } from './begun-sign-in.ts';

/**
 * A person lets a program on the own machine act as this person (RFC 8252 with PKCE). The program
 * sends the challenge of a verifier to the console, and exchanges the code and the verifier for a
 * session.
 */
export const connectProgram = endpoint({
  operationId: 'connectProgram',
  method: 'post',
  path: '/api/v1/auth/connect',
  access: 'session',
  tag: 'auth',
  summary: 'Let a program have a session of the caller. Only the console can call it, after the person has agreed',
  body: z.strictObject({ challenge }),
  status: 201,
  reply: z.object({
    code: z.string().meta({ description: 'For `POST /auth/exchange`, once and within one minute' }),
  }),
  secret: true,
  problems: ['browser_session_unavailable'],
});

/** The code of a sign-in with the verifier of the challenge with which it began. */
export const signInCode = {
  code: z.string().max(4096, 'must have at most 4096 characters'),
  verifier,
};
