import { z } from 'zod';
import {
  applicationChange,
  applicationInForm,
  applicationView,
  newApplication,
  ownedApplication,
} from '../applications/application.ts';
import { endpoint } from '../shared/endpoint.ts';
import { largeReads, largeRowReads, MEBIBYTE } from '../shared/reads.ts';
import { byUuid, identified, idInQuery, pagination, paging, searchIn, text, uuid, wordQuery } from '../shared/wire.ts';
import { changeMessage } from '../template/advice.ts';
import { warnings } from '../template/new-values.ts';
import { MAX_CATALOG_FILE } from './publish.ts';

/** An application has at most 512 KiB, and a documentation of 500,000 characters. */
const BODY_LIMIT = 2 * MEBIBYTE;

/** Administration of applications of the catalog. */
export const hubAdminApplicationEndpoints = {
  listAllApplications: endpoint({
    operationId: 'listAllApplications',
    method: 'get',
    path: '/api/v1/admin/applications',
    access: 'admin',
    tag: 'admin',
    summary: 'List all applications, including private ones',
    query: z.strictObject({
      ...paging,
      search: searchIn('name or description'),
      q: wordQuery(),
      org_id: uuid.optional().meta({ description: 'Only applications that this organization owns' }),
      as: uuid.optional().meta({
        description: 'Only applications that this organization sees with its API keys',
      }),
      view: applicationView,
    }),
    reads: largeRowReads,
    reply: z.object({ applications: z.array(ownedApplication), pagination }),
    problems: ['unknown_organization'],
  }),
  getManagedApplication: endpoint({
    operationId: 'getManagedApplication',
    method: 'get',
    path: '/api/v1/admin/applications/:id',
    access: 'admin',
    tag: 'admin',
    summary: 'Get an application, also a private one',
    params: byUuid,
    reads: largeReads,
    reply: z.object({ application: ownedApplication }),
    problems: ['not_found'],
  }),
  createApplication: endpoint({
    operationId: 'createApplication',
    method: 'post',
    path: '/api/v1/admin/applications',
    access: 'admin',
    tag: 'admin',
    summary: 'Create an application',
    body: newApplication,
    bodyLimit: BODY_LIMIT,
    status: 201,
    reply: z.object({ application: ownedApplication }),
    problems: ['slug_taken', 'unknown_category', 'unknown_organization'],
  }),
  readApplicationFile: endpoint({
    operationId: 'readApplicationFile',
    method: 'post',
    path: '/api/v1/admin/applications/file',
    access: 'admin',
    tag: 'admin',
    summary: 'Read the file of an application with the rules of `import` and `lint`, with nothing stored',
    body: z.strictObject({ yaml: text(MAX_CATALOG_FILE).meta({ description: 'The content of the file' }) }).meta({
      examples: [{ yaml: 'name: Wiki\ncategory: tools\nparts:\n- { name: web, image_name: library/wiki }\n' }],
    }),
    bodyLimit: BODY_LIMIT,
    reply: z.object({ application: applicationInForm, warnings }),
  }),
  updateApplication: endpoint({
    operationId: 'updateApplication',
    method: 'put',
    path: '/api/v1/admin/applications',
    access: 'admin',
    tag: 'admin',
    summary: 'Change an application; members that are left out do not change, and lists are replaced',
    query: idInQuery,
    body: applicationChange,
    bodyLimit: BODY_LIMIT,
    reply: z.object({ application: ownedApplication }),
    headers: ['If-Match'],
    problems: ['not_found', 'version_conflict', 'slug_taken', 'unknown_category', 'unknown_organization'],
  }),
  deleteApplication: endpoint({
    operationId: 'deleteApplication',
    method: 'delete',
    path: '/api/v1/admin/applications',
    access: 'admin',
    tag: 'admin',
    summary: 'Delete an application of the catalog. What fleets run of it stays',
    query: idInQuery,
    body: identified.extend({ message: changeMessage }),
    status: 204,
    reply: z.void(),
    headers: ['If-Match'],
    problems: ['not_found', 'version_conflict'],
  }),
};
