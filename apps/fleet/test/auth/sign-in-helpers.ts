import type { World } from '../world.ts';

export const LOGIN = '/api/v1/auth/login';
export const FREE_FAILURES = 5;

/** Helpers for tests of sign-ins and of their failures. */
export function signInHelpers({ nobody, database }: Pick<World, 'nobody' | 'database'>) {
  const sql = database.client;
  let addresses = 0;
  return {
    /** A client address from which no request has come yet. */
    anAddress: () => ({ 'X-Forwarded-For': `198.18.${++addresses >> 8}.${addresses & 255}` }),
    /**
     * Fails as often as needed for the next attempt to be rejected, and for the wait to outlast a
     * slow machine.
     */
    failUntilBlocked: async (from: Readonly<Record<string, string>>, body: object) => {
      for (let failures = 0; failures <= FREE_FAILURES; failures++) {
        expect((await nobody.post(LOGIN, body, from)).body.code).toBe('invalid_credentials');
      }
      await sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour'`;
    },
    /** Ends the wait of all blocked callers. */
    waitIsOver: () =>
      sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = now() WHERE blocked_until IS NOT NULL`,
  };
}
