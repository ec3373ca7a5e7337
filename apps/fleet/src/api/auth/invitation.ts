import { hashCredential } from '@svc/auth';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { type Inviter, isByPresentAdmin } from '../../identity/authority.ts';
import { endSessions, hashPassword } from '../../identity/local-user.ts';
import { lockUser } from '../../identity/users.ts';
import { runAudited } from '../request/change.ts';
import { route } from '../request/context.ts';

export const acceptInvitation = route(fleetEndpoints.acceptInvitation, async (context, { body }) => {
  const { database, passwords, recording, settings } = context;
  const code_hash = hashCredential(body.code);
  // Only the holder of a code can make the fleet hash a password.
  const [invited] = await database.client.$queryRaw<{ id: string; email: string; name: string }[]>`
    SELECT u.id, u.email, u.name FROM invitations i JOIN users u ON u.id = i.user_id
    WHERE i.code_hash = ${code_hash} AND i.expires_at > now()`;
  if (!invited) throw invalidInvitation();
  const { id, email, name } = invited;
  const password_hash = await hashPassword(passwords, {
    path: 'password',
    password: body.password,
    about: [email, name],
  });
  recording.setActor({ actor: email, user_id: id });
  return runAudited(context, fleetEndpoints.acceptInvitation, async (transaction) => {
    const user = await lockUser(transaction, id);
    // The user was removed or blocked, or has chosen a password, concurrently.
    if (!user || user.blocked_at !== null || user.password_hash !== null) throw invalidInvitation();
    const [accepted] = await transaction.$queryRaw<Inviter[]>`
      DELETE FROM invitations WHERE code_hash = ${code_hash} AND expires_at > now()
      RETURNING created_by_user, created_by_token, by_temporary_admin`;
    if (!accepted || !(await isByPresentAdmin(transaction, accepted, settings))) throw invalidInvitation();
    await transaction.user.update({ where: { id }, data: { password_hash, updated_at: new Date() } });
    await endSessions(transaction, id);
    return { email };
  });
});

const invalidInvitation = () =>
  new Problem(
    'invalid_grant',
    'The invitation is unknown, was used, has expired, or is of an admin who is no longer one. Ask an admin for another one.',
  );
