import { hubEndpoints } from '@svc/contract/hub';
import { revisedTemplates } from '../../../catalog/revisions/content.ts';
import { restoreContent } from '../../../catalog/revisions/restore.ts';
import { catalogChangeRoute } from '../../request/change.ts';
import { presentTemplate, withCategory } from '../templates.ts';

export const restoreTemplate = catalogChangeRoute(
  hubEndpoints.restoreTemplate,
  ({ ifMatch }, { params: { id }, body }) => {
    const matches = ifMatch();
    return async (transaction) => {
      await restoreContent(transaction, revisedTemplates, { ...body, id }, matches);
      const restored = await transaction.template.findUniqueOrThrow({ where: { id }, include: withCategory });
      return { id, reply: { template: presentTemplate(restored) } };
    };
  },
  ({ body }) => body.message,
);
