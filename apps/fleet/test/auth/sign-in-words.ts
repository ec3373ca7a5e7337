import type { World } from '../world.ts';

export const LOGIN = '/api/v1/auth/login';
export const FREE_FAILURES = 5;

/** How tests speak of signing in, and of failing to. */
export function signInWords({ nobody, database }: Pick<World, 'nobody' | 'database'>) {
  const sql = database.client;
  let addresses = 0;
  return {
    /** An address from which nobody has called yet. */
    anAddress: () => ({ 'X-Forwarded-For': `192.0.2.${++addresses}` }),
    /** Fails as often as it takes for the next try to be refused, and for the wait to outlast a slow machine. */
    failUntilBlocked: async (from: Readonly<Record<string, string>>, body: object) => {
      for (let failures = 0; failures <= FREE_FAILURES; failures++) {
        expect((await nobody.post(LOGIN, body, from)).body.code).toBe('invalid_credentials');
      }
      await sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = blocked_until + interval '1 hour'`;
    },
    /** Everybody who is blocked has waited. */
    waitIsOver: () =>
      sql.$executeRaw`UPDATE sign_in_failures SET blocked_until = now() WHERE blocked_until IS NOT NULL`,
  };
}
