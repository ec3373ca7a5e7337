import { hubEndpoints } from '@svc/contract/hub';
import { callerOf } from '../../identity/caller.ts';
import { presentUser, withOrganization } from '../../organizations/present.ts';
import { route } from '../request/context.ts';

export const getProfile = route(hubEndpoints.getProfile, async ({ database: { client }, principal }) => {
  const where = { id: callerOf(principal).id };
  const row = await client.user.findUniqueOrThrow({ where, include: withOrganization });
  return { profile: presentUser(row) };
});

export const updateProfile = route(
  hubEndpoints.updateProfile,
  async ({ database: { client }, principal }, { body: { name } }) => {
    const where = { id: callerOf(principal).id };
    // With `name_set`, later tokens of the identity provider do not replace the name.
    const data = name === undefined ? {} : { name, name_set: true };
    const row = await client.user.update({ where, data, include: withOrganization });
    return { profile: presentUser(row) };
  },
);
