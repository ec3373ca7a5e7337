// The networks of applications, and who joins them.
import { removeDeployment } from '../../src/deployments/store.ts';
import { receivedBy } from '../deployments/values/variables.ts';
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;

interface Container {
  readonly kind: string;
  readonly body: {
    readonly Labels: Readonly<Record<string, string>>;
    readonly HostConfig: { readonly NetworkMode: string; readonly ExtraHosts?: readonly string[] };
    readonly NetworkingConfig: {
      readonly EndpointsConfig: Readonly<Record<string, { readonly IPAMConfig: { readonly IPv4Address: string } }>>;
    };
  };
}

const bodyOf = async (id: string) => {
  const { body } = await operator.get(`/api/v1/deployments/${id}/manifest`);
  const container = body.manifest.find(({ kind }: Container) => kind === 'Container') as Container;
  return { ...container.body, bindings: body.bindings };
};
const addressesOf = ({ NetworkingConfig }: Container['body']) =>
  Object.values(NetworkingConfig.EndpointsConfig).map(({ IPAMConfig }) => IPAMConfig.IPv4Address);
const idOf = async (application: { readonly id: string }, part: string) =>
  (await fleet.part(application.id, part)).deployment_id;

test('the parts of an application are in one network, and know each other by name', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const { application: other } = await fleet.created({ name: 'shop' });
  const [database, web] = [await idOf(application, 'database'), await idOf(application, 'web')];
  const bodies = await Promise.all([database, web].map(bodyOf));
  expect(bodies.map(addressesOf)).toEqual([['10.213.16.2'], ['10.213.16.3']]);
  expect(new Set(bodies.map(({ HostConfig }) => HostConfig.NetworkMode)).size).toBe(1);
  for (const { HostConfig } of bodies)
    expect(HostConfig.ExtraHosts).toEqual(['database:10.213.16.2', 'web:10.213.16.3']);
  expect(addressesOf(await bodyOf(await idOf(other, 'web')))).toEqual(['10.213.16.67']);
  await fleet.runs(application.id, 'database');
  expect((await receivedBy(fleet, web)).env.database__connection__host).toBe('10.213.16.2');
});

test('a restart of a part keeps its network and its address', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const id = await idOf(application, 'database');
  const before = await bodyOf(id);
  await operator.post(`/api/v1/deployments/${id}/restart`, {});
  const after = await bodyOf(id);
  expect(after.NetworkingConfig).toEqual(before.NetworkingConfig);
  expect(after.HostConfig.ExtraHosts).toEqual(before.HostConfig.ExtraHosts);
});

test('a deployment that is bound to a part joins the network of the application', async () => {
  const host = await fleet.aMeshHost();
  await fleet.created();
  const ADDRESS = { deployment: 'blog-database', port: 3306, as: 'host:port' };
  const guest = await fleet.deployed({
    name: 'guest',
    workload: { env_schema: [{ name: 'ADDRESS' }] },
    env: { ADDRESS },
    target: { host_id: host.id },
  });
  const body = await bodyOf(guest.id);
  expect(addressesOf(body)).toEqual(['10.213.0.2', '10.213.16.4']);
  expect(body.HostConfig.ExtraHosts).toBeUndefined();
  expect(body.bindings).toMatchObject([
    { address: '10.213.16.2:3306', note: expect.stringContaining('joins the network') },
  ]);
  expect((await receivedBy(fleet, guest.id)).env.ADDRESS).toBe('10.213.16.2:3306');
});

test('a new part keeps the addresses of the others, and its removal changes nothing of theirs', async () => {
  await fleet.aMeshHost();
  const { application } = await fleet.created();
  const digestOf = async () => (await bodyOf(await idOf(application, 'web'))).Labels['fleet/body'];
  const cache = { name: 'cache', image_name: 'library/redis', image_tag: '8' };
  const change = async (parts: readonly object[]) => {
    const answer = await operator.put(`/api/v1/applications/${application.id}`, { spec: { ...GHOST, parts } });
    expect({ status: answer.status, errors: answer.body.errors }).toEqual({ status: 200, errors: undefined });
  };
  const first = await digestOf();
  await change([...GHOST.parts, cache]);
  expect((await bodyOf(await idOf(application, 'web'))).HostConfig.ExtraHosts).toEqual([
    ...['cache:10.213.16.4', 'database:10.213.16.2', 'web:10.213.16.3'],
  ]);
  const second = await digestOf();
  expect(second).not.toBe(first);
  const added = await idOf(application, 'cache');
  await client.$transaction((transaction) => removeDeployment(transaction, added));
  expect(await client.networkAddress.count({ where: { deployment_id: added } })).toBe(0);
  expect(await digestOf()).toBe(second);
});
