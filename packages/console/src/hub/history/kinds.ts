import { href } from '../../shared/routing/href.ts';

/** What has a history in the hub. */
export type Kind = 'template' | 'application';

/** The operations on objects of a kind, their history and their advisories. Those of both kinds have the same requests. */
export const operations = {
  template: {
    list: 'listRevisions',
    get: 'getRevision',
    compare: 'compareRevisions',
    restore: 'restoreTemplate',
    listDeleted: 'listDeletedTemplates',
    update: 'updateTemplate',
    remove: 'deleteTemplate',
    publishAdvisory: 'createAdvisory',
    replaceAdvisory: 'updateAdvisory',
    withdrawAdvisory: 'withdrawAdvisory',
  },
  application: {
    list: 'listApplicationRevisions',
    get: 'getApplicationRevision',
    compare: 'compareApplicationRevisions',
    restore: 'restoreApplication',
    listDeleted: 'listDeletedApplications',
    update: 'updateApplication',
    remove: 'deleteApplication',
    publishAdvisory: 'createApplicationAdvisory',
    replaceAdvisory: 'updateApplicationAdvisory',
    withdrawAdvisory: 'withdrawApplicationAdvisory',
  },
} as const;

/** The page of an object, also of a deleted one, of which it shows the history. */
export const pageOf = (kind: Kind, id: string): string =>
  kind === 'template' ? href('/admin/templates/:id', { id }) : href('/admin/applications/:id', { id });
