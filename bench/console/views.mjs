import { settle } from './browser.mjs';

/**
 * What the screenshots show. Main views are also shown on a phone. `prepare` brings an open page
 * into its state.
 */
export const viewsOf = ({ hosts, deployments, cluster }) => [
  { service: 'fleet', name: 'sign-in', title: 'Sign-in', path: '/', visitor: true, isMain: true },
  { service: 'fleet', name: 'overview', title: 'Overview', path: '/', isMain: true },
  { service: 'fleet', name: 'catalog', title: 'Catalog', path: '/catalog', isMain: true },
  { service: 'fleet', name: 'template', title: 'Template', path: '/catalog/vllm-openai' },
  {
    ...{ service: 'fleet', name: 'deploy', title: 'Deploy, with the plan', path: '/deploy/vllm-openai', isMain: true },
    prepare: (page) =>
      page
        .getByText(/^Runs on/)
        .first()
        .waitFor(),
  },
  {
    ...{ service: 'fleet', name: 'deploy-rejected', title: 'Deploy, rejected with reasons' },
    path: '/deploy/postgresql',
    prepare: async (page) => {
      await page.getByLabel(/^Name/).fill('shop-database');
      await page.getByText(/reasons? to correct/).waitFor();
      await page.getByText('Choose another name.').first().waitFor();
    },
  },
  { service: 'fleet', name: 'deployments', title: 'Deployments', path: '/deployments', isMain: true },
  {
    ...{ service: 'fleet', name: 'deployment', title: 'Deployment', isMain: true },
    path: `/deployments/${deployments['shop-sessions']}`,
  },
  {
    ...{ service: 'fleet', name: 'deployment-failing', title: 'Deployment that fails', isMain: true },
    path: `/deployments/${deployments['checkout-api']}`,
  },
  {
    ...{ service: 'fleet', name: 'deployment-log', title: 'Live log' },
    path: `/deployments/${deployments['shop-sessions']}?tab=log`,
  },
  {
    ...{ service: 'fleet', name: 'deployment-events', title: 'Events of a deployment' },
    path: `/deployments/${deployments['checkout-api']}?tab=events`,
  },
  {
    ...{ service: 'fleet', name: 'deployment-history', title: 'History of a deployment' },
    path: `/deployments/${deployments['research-notebook']}?tab=history`,
  },
  {
    ...{ service: 'fleet', name: 'deployment-manifest', title: 'Manifest' },
    path: `/deployments/${deployments['shop-sessions']}?tab=manifest`,
  },
  {
    ...{ service: 'fleet', name: 'deployment-change', title: 'Change of a deployment' },
    path: `/deployments/${deployments['shop-sessions']}/change`,
    prepare: async (page) => {
      await page.getByLabel('Replicas').fill('5');
      await page.getByText(/would change/).waitFor();
    },
  },
  { service: 'fleet', name: 'hosts', title: 'Hosts', path: '/hosts', isMain: true },
  {
    ...{ service: 'fleet', name: 'host', title: 'Host with its GPU map', isMain: true },
    path: `/hosts/${hosts['ams-gpu-1']}`,
  },
  { service: 'fleet', name: 'host-new', title: 'New host', path: '/hosts/new' },
  { service: 'fleet', name: 'clusters', title: 'Clusters', path: '/clusters' },
  { service: 'fleet', name: 'cluster', title: 'Cluster', path: `/clusters/${cluster}` },
  { service: 'fleet', name: 'workloads', title: 'Workloads', path: '/workloads' },
  { service: 'fleet', name: 'storage', title: 'Storage', path: '/storage' },
  { service: 'fleet', name: 'secrets', title: 'Secrets', path: '/secrets' },
  { service: 'fleet', name: 'users', title: 'Users', path: '/users' },
  { service: 'fleet', name: 'tokens', title: 'MCP tokens', path: '/tokens' },
  { service: 'fleet', name: 'audit', title: 'Audit log', path: '/audit' },
  { service: 'fleet', name: 'sync', title: 'Catalog sync', path: '/sync' },
  { service: 'fleet', name: 'settings', title: 'Settings of the identity provider', path: '/settings' },
  { service: 'fleet', name: 'settings-hub', title: 'Settings of the hub', path: '/settings?tab=hub' },
  { service: 'fleet', name: 'account', title: 'Account', path: '/account' },
  {
    ...{ service: 'fleet', name: 'palette', title: 'Command palette', path: '/' },
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('shop');
      await page.getByRole('option', { name: /shop-cache deployment/ }).waitFor();
    },
  },
  {
    ...{ service: 'fleet', name: 'delete', title: 'Deletion, with what is lost' },
    path: `/deployments/${deployments['shop-database']}`,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { service: 'hub', name: 'catalog', title: 'Public catalog', path: '/', visitor: true, isMain: true },
  { service: 'hub', name: 'template', title: 'Template', path: '/templates/vllm-openai', visitor: true, isMain: true },
  { service: 'hub', name: 'organization', title: 'Organization', path: '/organization' },
  { service: 'hub', name: 'keys', title: 'API keys', path: '/keys' },
  { service: 'hub', name: 'account', title: 'Account', path: '/account' },
  { service: 'hub', name: 'statistics', title: 'Statistics', path: '/statistics', isMain: true },
  { service: 'hub', name: 'templates', title: 'Templates', path: '/admin/templates' },
  {
    ...{
      service: 'hub',
      name: 'template-form',
      title: 'Form of a template, with its preview',
      path: '/admin/templates?q=qdrant',
    },
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Qdrant', exact: true }).click();
      await settle(page);
    },
  },
  { service: 'hub', name: 'categories', title: 'Categories', path: '/admin/categories' },
  { service: 'hub', name: 'access', title: 'Access matrix', path: '/admin/access', isMain: true },
  {
    ...{
      service: 'hub',
      name: 'access-view',
      title: 'What an organization sees, and why',
      path: '/admin/access?tab=view',
    },
    prepare: async (page) => {
      await page.getByRole('main').getByRole('combobox').selectOption({ label: 'Harbour Logistics' });
      await page.getByRole('row').nth(3).waitFor();
    },
  },
  { service: 'hub', name: 'organizations', title: 'Organizations', path: '/admin/organizations' },
  { service: 'hub', name: 'users', title: 'Users', path: '/admin/users' },
  { service: 'hub', name: 'admin-keys', title: 'All API keys', path: '/admin/keys' },
  { service: 'hub', name: 'service-tokens', title: 'Service tokens', path: '/admin/service-tokens' },
  { service: 'hub', name: 'webhooks', title: 'Webhooks', path: '/admin/webhooks' },
  { service: 'hub', name: 'audit', title: 'Audit log', path: '/admin/audit' },
];
