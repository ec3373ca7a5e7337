import { page } from '../shared/routing/page.tsx';

/** The pages of the hub. */
export const pages = [
  page('/', () => import('./catalog/Catalog.tsx')),
  page('/templates/:slug', () => import('./catalog/Template.tsx')),
  page('/applications', () => import('./catalog/Applications.tsx')),
  page('/applications/:slug', () => import('./catalog/Application.tsx')),
  page('/organization', () => import('./organization/Organization.tsx')),
  page('/organization/audit', () => import('./organization/Audit.tsx')),
  page('/keys', () => import('./organization/Keys.tsx')),
  page('/account', () => import('./account/Account.tsx')),
  page('/console/connect', () => import('./account/Connect.tsx')),
  page('/statistics', () => import('./administration/Statistics.tsx')),
  page('/admin/templates', () => import('./templates/Templates.tsx')),
  page('/admin/templates/new', () => import('./templates/NewTemplate.tsx')),
  page('/admin/convert', () => import('./applications/Convert.tsx')),
  page('/admin/templates/:id', () => import('./templates/EditTemplate.tsx')),
  page('/admin/applications', () => import('./applications/ManagedApplications.tsx')),
  page('/admin/applications/new', () => import('./applications/editor/NewApplication.tsx')),
  page('/admin/applications/:id', () => import('./applications/editor/EditApplication.tsx')),
  page('/admin/categories', () => import('./administration/Categories.tsx')),
  page('/admin/access', () => import('./administration/Access.tsx')),
  page('/admin/organizations', () => import('./administration/Organizations.tsx')),
  page('/admin/users', () => import('./administration/Users.tsx')),
  page('/admin/keys', () => import('./administration/ApiKeys.tsx')),
  page('/admin/service-tokens', () => import('./administration/ServiceTokens.tsx')),
  page('/admin/audit', () => import('./administration/Audit.tsx')),
];
