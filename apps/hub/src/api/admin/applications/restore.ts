import { hubEndpoints } from '@svc/contract/hub';
import { revisedApplications } from '../../../catalog/revisions/content.ts';
import { restoreContent } from '../../../catalog/revisions/restore.ts';
import { catalogChangeRoute } from '../../request/change.ts';
import { presentApplication, withCategory } from '../applications.ts';

export const restoreApplication = catalogChangeRoute(
  hubEndpoints.restoreApplication,
  ({ ifMatch }, { params: { id }, body }) => {
    const matches = ifMatch();
    return async (transaction) => {
      await restoreContent(transaction, revisedApplications, { ...body, id }, matches);
      const restored = await transaction.application.findUniqueOrThrow({ where: { id }, include: withCategory });
      return { id, reply: { application: presentApplication(restored) } };
    };
  },
  ({ body }) => body.message,
);
