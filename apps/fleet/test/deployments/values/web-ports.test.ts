// The ports with web pages of a deployment.
import { type Body, startDeploymentWorld } from '../world.ts';

const fleet = await startDeploymentWorld();

const at = (container_port: number, protocol = 'TCP') => ({
  container_port,
  protocol,
  address: `10.1.2.3:2${container_port}`,
  scope: 'mesh',
});

const ENDPOINTS = [at(22), at(3000), at(3000, 'UDP'), at(8443)];

/** The addresses and schemes of a deployment that an engine runs. */
async function shown(given: Body) {
  await fleet.aHost();
  const { id } = await fleet.deployed(given);
  await fleet.client.deployment.update({ where: { id }, data: { endpoints: ENDPOINTS } });
  const { endpoints } = await fleet.deployment(id);
  const { body } = await fleet.operator.get('/api/v1/deployments?view=summary');
  expect(body.deployments[0].endpoints).toEqual(endpoints);
  return endpoints.map(({ container_port, protocol, scheme }: Body) => [container_port, protocol, scheme]);
}

const NONE = [
  [22, 'TCP', null],
  [3000, 'TCP', null],
  [3000, 'UDP', null],
  [8443, 'TCP', null],
];

test('no port has a web page unless the workload says so', async () => {
  expect(await shown({})).toEqual(NONE);
  expect(await shown({ workload: { env: [{ name: 'SVC_HEALTH_CHECK', value: 'tcp:3000' }] } })).toEqual(NONE);
});

const BOTH = [
  [8443, 'TCP', 'https'],
  [3000, 'TCP', 'http'],
  [22, 'TCP', null],
  [3000, 'UDP', null],
];

test('SVC_HTTP_PORTS names the ports with web pages, which come first in its order', async () => {
  expect(await shown({ workload: { env: [{ name: 'SVC_HTTP_PORTS', value: '8443/https, 3000' }] } })).toEqual(BOTH);
});

test('a health check over HTTP also names a port', async () => {
  const env = [
    { name: 'SVC_HEALTH_CHECK', value: 'http:3000/health' },
    { name: 'SVC_HTTP_PORTS', value: '8443/https' },
  ];
  expect(await shown({ workload: { env } })).toEqual(BOTH);
});

test.each([
  ['its default', {}],
  ['a text', { SVC_HTTP_PORTS: '8443/https,3000' }],
  ['a plain value', { SVC_HTTP_PORTS: { value: '8443/https,3000', plain: true } }],
])('a deployment can set the ports with web pages: %s', async (what, env) => {
  const default_value = what === 'its default' ? '8443/https,3000' : '22';
  expect(await shown({ workload: { env_schema: [{ name: 'SVC_HTTP_PORTS', default_value }] }, env })).toEqual(BOTH);
});

test('a value that is not a list of ports is refused', async () => {
  await fleet.aHost();
  const { id: workload_id } = await fleet.aWorkload({ env_schema: [{ name: 'SVC_HTTP_PORTS' }] });
  const { status, body } = await fleet.deploy({ workload_id, env: { SVC_HTTP_PORTS: 'all' } });
  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: [{ path: 'env.SVC_HTTP_PORTS', message: expect.stringContaining('separated by commas') }],
  });
});
