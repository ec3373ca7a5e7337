import { page } from '../shared/routing/page.tsx';

/** The pages of the hub. */
export const pages = [
  page('/', () => import('./pages/Catalog.tsx')),
  page('/templates/:slug', () => import('./pages/Template.tsx')),
  page('/organization', () => import('./pages/Organization.tsx')),
  page('/keys', () => import('./pages/Keys.tsx')),
  page('/account', () => import('./pages/Account.tsx')),
  page('/statistics', () => import('./pages/admin/Statistics.tsx')),
  page('/admin/templates', () => import('./pages/admin/Templates.tsx')),
  page('/admin/templates/new', () => import('./pages/admin/NewTemplate.tsx')),
  page('/admin/templates/:id', () => import('./pages/admin/EditTemplate.tsx')),
  page('/admin/categories', () => import('./pages/admin/Categories.tsx')),
  page('/admin/access', () => import('./pages/admin/Access.tsx')),
  page('/admin/organizations', () => import('./pages/admin/Organizations.tsx')),
  page('/admin/users', () => import('./pages/admin/Users.tsx')),
  page('/admin/keys', () => import('./pages/admin/ApiKeys.tsx')),
  page('/admin/audit', () => import('./pages/admin/Audit.tsx')),
];
