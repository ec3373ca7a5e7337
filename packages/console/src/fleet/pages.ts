import { page } from '../shared/routing/page.tsx';

/** The pages of the fleet. */
export const pages = [
  page('/', () => import('./pages/Overview.tsx')),
  page('/deployments', () => import('./pages/Deployments.tsx')),
  page('/deployments/:id', () => import('./pages/Deployment.tsx')),
  page('/deployments/:id/change', () => import('./pages/ChangeDeployment.tsx')),
  page('/catalog', () => import('./pages/Catalog.tsx')),
  page('/catalog/:slug', () => import('./pages/Template.tsx')),
  page('/deploy/:slug', () => import('./pages/Deploy.tsx')),
  page('/workloads', () => import('./pages/Workloads.tsx')),
  page('/workloads/:id', () => import('./pages/Workload.tsx')),
  page('/hosts', () => import('./pages/Hosts.tsx')),
  page('/hosts/new', () => import('./pages/NewHost.tsx')),
  page('/hosts/:id', () => import('./pages/Host.tsx')),
  page('/clusters', () => import('./pages/Clusters.tsx')),
  page('/clusters/new', () => import('./pages/NewCluster.tsx')),
  page('/clusters/:id', () => import('./pages/Cluster.tsx')),
  page('/storage', () => import('./pages/Storage.tsx')),
  page('/secrets', () => import('./pages/Secrets.tsx')),
  page('/users', () => import('./pages/Users.tsx')),
  page('/tokens', () => import('./pages/Tokens.tsx')),
  page('/audit', () => import('./pages/Audit.tsx')),
  page('/settings', () => import('./pages/Settings.tsx')),
  page('/sync', () => import('./pages/Sync.tsx')),
  page('/account', () => import('./pages/Account.tsx')),
];
