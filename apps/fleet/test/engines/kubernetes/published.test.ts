// The addresses of a Service that its cluster publishes.
import { afterEach, expect, test } from '@jest/globals';
import { reconcile } from '../../../src/engines/kubernetes/reconcile.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from './world.ts';

afterEach(endAll);

const spec = { ports: [{ containerPort: 8080, protocol: 'TCP' }], required_network_types: ['public'] };
const port = { container_port: 8080, protocol: 'TCP' };

/** An address of all instances, which are current. */
const ALL = { instance: null, ready: true, current: true };

/** A running deployment with a published Service, to which the cluster then adds members. */
async function aPublished(public_service_type: 'NodePort' | 'LoadBalancer', members: object) {
  const server = await anApiServer();
  const deployment = aDeployment(spec, {}, { public_service_type });
  const client = clientOf(server);
  const wanted = running(deployment.manifest());
  const first = await reconcileTo(client, { wanted, fence: deployment.fence(), phase: 'running' });
  const service = server.object('services', deployment.name);
  const { spec: own, status } = members as { spec?: object; status?: object };
  server.put('services', { ...service, spec: { ...service.spec, ...own }, ...(status && { status }) });
  for (const pod of server.objects('pods')) {
    server.put('pods', { ...pod, status: { ...(pod.status as object), hostIP: '10.0.0.7' } });
  }
  const internal = { ...port, ...ALL, address: `${deployment.name}.fleet.svc:8080`, scope: 'cluster' };
  return { first, internal, found: await reconcile(client, wanted, deployment.fence()) };
}

test('a Service with a load balancer has the address of the load balancer, once it has one', async () => {
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { hostname: 'lb.example.test' }, {}] } };
  const { first, internal, found } = await aPublished('LoadBalancer', { status });
  expect(first.endpoints).toEqual([internal]);
  expect(found.endpoints).toEqual([
    internal,
    { ...port, ...ALL, address: '203.0.113.9:8080', scope: 'public' },
    { ...port, ...ALL, address: 'lb.example.test:8080', scope: 'public' },
  ]);
});

test('a Service with node ports has the address of the node of a pod', async () => {
  const ports = [{ name: 'p8080-tcp', port: 8080, protocol: 'TCP', nodePort: 30_123 }];
  const { first, internal, found } = await aPublished('NodePort', { spec: { ports } });
  expect(first.endpoints).toEqual([internal]);
  expect(found.endpoints).toEqual([internal, { ...port, ...ALL, address: '10.0.0.7:30123', scope: 'public' }]);
});
