import { hashCredential, newCredential } from '@svc/auth';
import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, notFound } from '@svc/http';
import { lockUser } from '../../identity/users.ts';
import { changeRoute } from '../change.ts';
import { findUser } from '../users.ts';

/** The hours for which an invitation is valid. */
const INVITATION_HOURS = 24;

export const inviteUser = changeRoute(fleetEndpoints.inviteUser, async ({ transaction }, { params }) => {
  const { id, source } = await findUser(transaction, params.id);
  if (source === 'oidc') throw invalid([{ path: 'id', message: 'is of a user who signs in at the identity provider' }]);
  if (!(await lockUser(transaction, id))) throw notFound(); // removed concurrently
  const code = newCredential();
  const [invitation] = await transaction.$queryRaw<{ expires_at: Date }[]>`
    INSERT INTO invitations (user_id, code_hash, expires_at)
    VALUES (${id}::uuid, ${hashCredential(code)}, now() + make_interval(hours => ${INVITATION_HOURS}::int))
    ON CONFLICT (user_id) DO UPDATE SET code_hash = excluded.code_hash, expires_at = excluded.expires_at
    RETURNING expires_at`;
  if (!invitation) throw new Error('INSERT of an invitation returned no row');
  return { invitation: { code, expires_at: invitation.expires_at } };
});

export const withdrawInvitation = changeRoute(
  fleetEndpoints.withdrawInvitation,
  async ({ transaction }, { params }) => {
    const { id } = await findUser(transaction, params.id);
    await lockUser(transaction, id);
    const withdrawn = await transaction.$executeRaw`
      DELETE FROM invitations WHERE user_id = ${id}::uuid AND expires_at > now()`;
    if (withdrawn === 0) throw notFound();
    return undefined;
  },
);
