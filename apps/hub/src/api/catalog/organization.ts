import { hubEndpoints } from '@svc/contract/hub';
import { route } from '../request/context.ts';

export const getOwnOrganization = route(hubEndpoints.getOwnOrganization, async ({ principal }) => {
  if (principal.kind !== 'organization') throw new Error('the policy admits API keys only');
  return { organization: principal.organization };
});
