import type { hubEndpoints } from '@svc/contract/hub';
import type { Kind } from '../../catalog/kinds.ts';
import * as advisories from '../../catalog/revisions/advisories.ts';
import { catalogChangeRoute } from './change.ts';

// The operations on advisories about objects of a kind, whose declarations are the same for all kinds. Their audit entries name
// the object, so that they are found with its other changes.

export const createOf = (endpoint: typeof hubEndpoints.createAdvisory, kind: Kind) =>
  catalogChangeRoute(endpoint, (_context, { params: { id }, body }) => async (transaction) => ({
    id,
    reply: { advisory: await advisories.createAdvisory(transaction, kind, id, body) },
  }));

export const updateOf = (endpoint: typeof hubEndpoints.updateAdvisory, kind: Kind) =>
  catalogChangeRoute(
    endpoint,
    (_context, { params: { id, advisory_id: advisoryId }, body }) =>
      async (transaction) => ({
        id,
        reply: { advisory: await advisories.updateAdvisory(transaction, kind, { id, advisoryId }, body) },
      }),
  );

export const withdrawOf = (endpoint: typeof hubEndpoints.withdrawAdvisory, kind: Kind) =>
  catalogChangeRoute(endpoint, (_context, { params: { id, advisory_id: advisoryId } }) => async (transaction) => {
    await advisories.withdrawAdvisory(transaction, kind, { id, advisoryId });
    return { id, reply: undefined };
  });
