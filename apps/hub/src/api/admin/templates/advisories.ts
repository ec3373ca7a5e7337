import { hubEndpoints } from '@svc/contract/hub';
import * as advisories from '../../../catalog/revisions/advisories.ts';
import { catalogChangeRoute } from '../../request/change.ts';

// Their audit entries name the template, so that they are found with its other changes.

export const createAdvisory = catalogChangeRoute(
  hubEndpoints.createAdvisory,
  (_context, { params: { id }, body }) =>
    async (transaction) => ({
      id,
      reply: { advisory: await advisories.createAdvisory(transaction, id, body) },
    }),
);

export const updateAdvisory = catalogChangeRoute(
  hubEndpoints.updateAdvisory,
  (_context, { params: { id, advisory_id: advisoryId }, body }) =>
    async (transaction) => ({
      id,
      reply: { advisory: await advisories.updateAdvisory(transaction, { id, advisoryId }, body) },
    }),
);

export const withdrawAdvisory = catalogChangeRoute(
  hubEndpoints.withdrawAdvisory,
  (_context, { params: { id, advisory_id: advisoryId } }) =>
    async (transaction) => {
      await advisories.withdrawAdvisory(transaction, { id, advisoryId });
      return { id, reply: undefined };
    },
);
