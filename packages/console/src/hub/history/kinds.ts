import { href } from '../../shared/routing/href.ts';

/** What has a history in the hub. */
export type Kind = 'template' | 'application';

/** The operations on the history of a kind. Those of both kinds have the same requests. */
export const operations = {
  template: {
    list: 'listRevisions',
    get: 'getRevision',
    compare: 'compareRevisions',
    restore: 'restoreTemplate',
    listDeleted: 'listDeletedTemplates',
    remove: 'deleteTemplate',
  },
  application: {
    list: 'listApplicationRevisions',
    get: 'getApplicationRevision',
    compare: 'compareApplicationRevisions',
    restore: 'restoreApplication',
    listDeleted: 'listDeletedApplications',
    remove: 'deleteApplication',
  },
} as const;

/** The page of an object, also of a deleted one, of which it shows the history. */
export const pageOf = (kind: Kind, id: string): string =>
  kind === 'template' ? href('/admin/templates/:id', { id }) : href('/admin/applications/:id', { id });
