import { hashCredential, newCredential } from '@svc/auth';
import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, notFound, Problem } from '@svc/http';
import { creatorOf } from '../../identity/authority.ts';
import { endInvitation } from '../../identity/local-user.ts';
import { lockUser } from '../../identity/users.ts';
import { changeRoute } from '../request/change.ts';
import { findUser } from '../users.ts';

/** The hours for which an invitation is valid. */
const INVITATION_HOURS = 24;

export const inviteUser = changeRoute(fleetEndpoints.inviteUser, async (context, { params }) => {
  const { transaction, principal, recording } = context;
  const { id, email, source } = await findUser(transaction, params.id);
  recording.objectName = email ?? undefined;
  if (source === 'oidc') throw invalid([{ path: 'id', message: 'is of a user who signs in at the identity provider' }]);
  const locked = await lockUser(transaction, id);
  if (!locked) throw notFound(); // removed concurrently
  if (locked.password_hash !== null) throw passwordExists();
  const { created_by_user, created_by_token } = await creatorOf(transaction, principal);
  await endInvitation(transaction, id);
  const code = newCredential();
  const [invitation] = await transaction.$queryRaw<{ expires_at: Date }[]>`
    INSERT INTO invitations (user_id, code_hash, expires_at, created_by_user, created_by_token, by_temporary_admin)
    VALUES (${id}::uuid, ${hashCredential(code)}, now() + make_interval(hours => ${INVITATION_HOURS}::int),
      ${created_by_user}::uuid, ${created_by_token}::uuid, ${principal.kind === 'temporary-admin'})
    RETURNING expires_at`;
  if (!invitation) throw new Error('INSERT of an invitation returned no row');
  return { invitation: { code, expires_at: invitation.expires_at } };
});

const passwordExists = () =>
  new Problem(
    'password_exists',
    'The user has a password, which an invitation does not replace. Set a new password for the user.',
  );

export const withdrawInvitation = changeRoute(
  fleetEndpoints.withdrawInvitation,
  async ({ transaction, recording }, { params }) => {
    const { id, email } = await findUser(transaction, params.id);
    recording.objectName = email ?? undefined;
    await lockUser(transaction, id);
    const withdrawn = await transaction.$executeRaw`
      DELETE FROM invitations WHERE user_id = ${id}::uuid AND expires_at > now()`;
    if (withdrawn === 0) throw notFound();
    return undefined;
  },
);
