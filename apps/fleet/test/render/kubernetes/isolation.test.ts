// The networks of deployments in a cluster: who reaches their pods, and the names of parts of applications.
import type { WorkloadSpec } from '@svc/contract/fleet';
import { renderKubernetes } from '../../../src/render/kubernetes.ts';
import type { Cluster } from '../../../src/render/pod.ts';
import type { Rendering } from '../../../src/render/rendering.ts';
import { aCluster, aRendering, aSpec } from '../renderings.ts';
import { deploymentOf, ofKind } from './helpers.ts';
import { assertValid } from './schemas.ts';

const APPLICATION = { id: '019a0000-0000-7000-8000-0000b10ca99a', part: 'database' };
const GUEST = '019a0000-0000-7000-8000-000000009e57';
const PORTS: WorkloadSpec['ports'] = [
  { containerPort: 3306, protocol: 'TCP' },
  { containerPort: 53, protocol: 'udp' },
  { containerPort: 53, protocol: 'tcp' },
];

/** A deployment with ports on a cluster that permits policies. Kubernetes accepts its objects. */
function rendered(given: Partial<Rendering<'values'>> = {}, cluster: Partial<Cluster> = {}) {
  const rendering = aRendering(aSpec({ ports: PORTS }), given);
  const { objects } = renderKubernetes(rendering, aCluster({ network_policies: true, ...cluster }));
  for (const object of objects) assertValid(object);
  return objects;
}

const policiesOf = (objects: ReturnType<typeof rendered>) => ofKind(objects, 'NetworkPolicy').map(({ spec }) => spec);
const podOf = (objects: ReturnType<typeof rendered>) => deploymentOf(objects).template;
const fromNetwork = (network: string) => ({ from: [{ podSelector: { matchLabels: { 'fleet/network': network } } }] });

test('a deployment without an application is reached by others of its kind, and by everybody at its ports', () => {
  const objects = rendered();
  expect(policiesOf(objects)).toEqual([
    {
      podSelector: { matchLabels: { 'fleet/deployment': expect.any(String) } },
      policyTypes: ['Ingress'],
      ingress: [
        fromNetwork('alone'),
        {
          ports: [
            { port: 3306, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
      ],
    },
  ]);
  expect(podOf(objects).metadata?.labels).toMatchObject({ 'fleet/network': 'alone' });
  expect(podOf(objects).spec).not.toHaveProperty('hostname');
  expect(podOf(objects).spec).not.toHaveProperty('dnsConfig');
  expect(ofKind(objects, 'Service')).toHaveLength(1);
});

test('a deployment without ports is reached by others of its kind only', () => {
  const { objects } = renderKubernetes(aRendering(aSpec()), aCluster({ network_policies: true }));
  expect(policiesOf(objects)).toMatchObject([{ ingress: [fromNetwork('alone')] }]);
});

test('a part of an application is reached by the other parts only', () => {
  const objects = rendered({ application: APPLICATION });
  expect(policiesOf(objects)).toMatchObject([{ ingress: [fromNetwork(APPLICATION.id)] }]);
  expect(podOf(objects).metadata?.labels).toMatchObject({ 'fleet/network': APPLICATION.id });
});

test('a part is reached by everybody at the ports that it publishes, and by a deployment at the port to which it is bound', () => {
  const admission = {
    published: ['53/udp'],
    bound: [
      { deployment: GUEST, port: 3306 },
      { deployment: GUEST, port: 53 },
      { deployment: GUEST, port: 9999 },
    ],
  };
  const guest = { podSelector: { matchExpressions: [{ key: 'fleet/deployment', operator: 'In', values: [GUEST] }] } };
  expect(policiesOf(rendered({ application: APPLICATION, admission }))[0]?.ingress).toEqual([
    fromNetwork(APPLICATION.id),
    { ports: [{ port: 53, protocol: 'UDP' }] },
    { from: [guest], ports: [{ port: 3306, protocol: 'TCP' }] },
    { from: [guest], ports: [{ port: 53, protocol: 'TCP' }] },
  ]);
});

test('who is admitted changes no pod', () => {
  const admission = { published: ['3306/tcp'], bound: [{ deployment: GUEST, port: 53 }] };
  expect(podOf(rendered({ application: APPLICATION, admission }))).toEqual(
    podOf(rendered({ application: APPLICATION })),
  );
});

test('the parts of an application find each other by name, in the domain of one Service that all of them render', () => {
  const database = rendered({ application: APPLICATION }, { namespace: 'shop', object_labels: { team: 'web' } });
  const web = rendered(
    { application: { ...APPLICATION, part: 'web' }, id: GUEST },
    { namespace: 'shop', object_labels: { team: 'web' } },
  );
  const namesIn = (objects: typeof web) => ofKind(objects, 'Service').filter(({ spec }) => spec?.clusterIP === 'None');
  expect(namesIn(web)).toEqual(namesIn(database));
  expect(namesIn(web)).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'svc-app-b10ca99a',
        namespace: 'shop',
        labels: { team: 'web', 'app.kubernetes.io/managed-by': 'fleet', 'fleet/application': APPLICATION.id },
      },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: { 'fleet/network': APPLICATION.id } },
    },
  ]);
  expect(podOf(database).spec).toMatchObject({
    hostname: 'database',
    subdomain: 'svc-app-b10ca99a',
    dnsConfig: { searches: ['svc-app-b10ca99a.shop.svc.cluster.local'] },
  });
});

test('the names are in the domain that an admin has set for the cluster', () => {
  const cluster_domain = 'k8s.example.test';
  const podSettings = {
    object_labels: {},
    object_annotations: {},
    pod_label_keys: [],
    service_account: null,
    allow_service_account_tokens: false,
    pull_secrets: [],
    priority_class: null,
  };
  const { spec } = podOf(rendered({ application: APPLICATION, podSettings: { ...podSettings, cluster_domain } }));
  expect(spec?.dnsConfig?.searches).toEqual(['svc-app-b10ca99a.fleet.svc.k8s.example.test']);
});

test('pods of earlier defaults have neither a policy nor names', () => {
  const objects = rendered({ application: APPLICATION, defaults: 5 });
  expect(policiesOf(objects)).toEqual([]);
  expect(ofKind(objects, 'Service')).toHaveLength(1);
  expect(podOf(objects)).toEqual(podOf(rendered({ defaults: 5 })));
});

test('without the permission for policies, the pods are the same, and have names', () => {
  const application = APPLICATION;
  const objects = rendered({ application }, { network_policies: false });
  expect(policiesOf(objects)).toEqual([]);
  expect(podOf(objects)).toEqual(podOf(rendered({ application })));
  expect(ofKind(objects, 'Service')).toHaveLength(2);
});
