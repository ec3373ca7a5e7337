import { page } from '../shared/routing/page.tsx';

/** The pages of the fleet. */
export const pages = [
  page('/', () => import('./Overview.tsx')),
  page('/deployments', () => import('./deployments/Deployments.tsx')),
  page('/deployments/:id', () => import('./deployments/Deployment.tsx')),
  page('/deployments/:id/change', () => import('./deployments/ChangeDeployment.tsx')),
  page('/catalog', () => import('./catalog/Catalog.tsx')),
  page('/catalog/:slug', () => import('./catalog/Template.tsx')),
  page('/deploy/:slug', () => import('./deployments/Deploy.tsx')),
  page('/workloads', () => import('./catalog/Workloads.tsx')),
  page('/workloads/:id', () => import('./catalog/Workload.tsx')),
  page('/hosts', () => import('./targets/Hosts.tsx')),
  page('/hosts/new', () => import('./targets/NewHost.tsx')),
  page('/hosts/:id', () => import('./targets/Host.tsx')),
  page('/clusters', () => import('./targets/Clusters.tsx')),
  page('/clusters/new', () => import('./targets/NewCluster.tsx')),
  page('/clusters/:id', () => import('./targets/Cluster.tsx')),
  page('/storage', () => import('./storage/Storage.tsx')),
  page('/secrets', () => import('./storage/Secrets.tsx')),
  page('/users', () => import('./administration/Users.tsx')),
  page('/tokens', () => import('./administration/Tokens.tsx')),
  page('/audit', () => import('./administration/Audit.tsx')),
  page('/settings', () => import('./administration/Settings.tsx')),
  page('/sync', () => import('./administration/Sync.tsx')),
  page('/account', () => import('./account/Account.tsx')),
];
