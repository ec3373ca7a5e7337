// A kubeconfig can name a program that is run for a credential: the fleet takes its parts, and never one of those.
import { aPair } from './certificates.ts';
import { KUBECONFIG } from './kubeconfig.ts';
import { pathOf, startResources } from './resources.ts';

const world = await startResources();
const { asAdmin, client } = world;
afterAll(() => world.stop());

const tokenAuth = { kind: 'token', token: 'of-a-service-account' };
const certificateAuth = { kind: 'client_certificate', ...aPair() };

test.each([
  { ca_certificate: KUBECONFIG, auth: tokenAuth },
  { auth: { kind: 'token', token: KUBECONFIG } },
  { auth: KUBECONFIG },
  { auth: { kind: 'exec', command: '/bin/sh' } },
  { auth: { kind: 'kubeconfig', kubeconfig: KUBECONFIG } },
  { auth: tokenAuth, kubeconfig: KUBECONFIG },
  { auth: { ...tokenAuth, exec: { command: '/bin/sh' } } },
  { auth: { ...certificateAuth, certificate: KUBECONFIG } },
  { auth: { ...certificateAuth, key: KUBECONFIG } },
  { auth: tokenAuth, server: KUBECONFIG },
  { auth: tokenAuth, namespace: KUBECONFIG },
  { auth: tokenAuth, gpu_resource_name: KUBECONFIG },
  { auth: tokenAuth, default_storage_class: KUBECONFIG },
  { auth: tokenAuth, labels: { config: KUBECONFIG } },
  { auth: tokenAuth, name: KUBECONFIG },
])('a kubeconfig can run programs, and is taken nowhere, case %#', async (given) => {
  const before = await client.cluster.count();
  const said = { name: world.aName('kubeconfig'), server: 'https://cluster.example.test', ...given };
  const { status, text } = await asAdmin.post(pathOf('clusters'), said);
  expect(status).toBe(400);
  expect(text).not.toContain('touch');
  expect(await client.cluster.count()).toBe(before);
});
