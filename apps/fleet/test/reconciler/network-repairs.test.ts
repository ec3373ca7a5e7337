// What the fleet does about networks of hosts, on a simulated engine.
import { eventually } from '@svc/testing';
import { startDeploymentWorld } from '../deployments/world.ts';
import { aSimulatedHost } from './simulated-host.ts';

const fleet = await startDeploymentWorld({ kept: true });
const { client } = fleet;
const { engineRuntime } = fleet.world.services;
const engine = await aSimulatedHost();
const host = await fleet.aHost({ endpoint: engine.endpoint });
engineRuntime.start();

afterAll(async () => {
  await engineRuntime.stop();
  await engine.stop();
});

interface EngineNetwork {
  readonly Name: string;
  readonly IPAM: { readonly Config: readonly { readonly Subnet: string }[] };
}
interface EngineContainer {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { IPAMConfig?: { IPv4Address: string } }>> };
}

const url = engine.endpoint.replace('tcp:', 'http:');
const ask = async (method: string, path: string, body?: object) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};
const networks = async (): Promise<EngineNetwork[]> =>
  (await ask('GET', '/networks')).filter(({ Name }: EngineNetwork) => Name.startsWith('svc-'));
const containers = async (id: string): Promise<EngineContainer[]> =>
  ask('GET', `/containers/json?all=true&filters=${JSON.stringify({ label: [`fleet/deployment=${id}`] })}`);
const addresses = async (id: string) =>
  (await containers(id)).flatMap(({ NetworkSettings }) =>
    Object.values(NetworkSettings.Networks).map(({ IPAMConfig }) => IPAMConfig?.IPv4Address),
  );
const runs = (id: string) =>
  eventually('the deployment runs', async () => (await fleet.deployment(id)).phase === 'running');
/** Checks the host now, as each replica does regularly. */
const checked = async () => engineRuntime.checkHost(await client.host.findUniqueOrThrow({ where: { id: host.id } }));
const conditions = async () => (await fleet.operator.get(`/api/v1/hosts/${host.id}`)).body.host.conditions;
const conditionIs = (type: string, expected: object | undefined) =>
  eventually(`the condition ${type}`, async () => {
    await checked();
    const found = (await conditions()).find((each: { type: string }) => each.type === type);
    return expected === undefined
      ? found === undefined
      : found !== undefined && Object.entries(expected).every(([member, value]) => found[member] === value);
  });

test('a subnet that the engine refuses is replaced by the next one', async () => {
  await ask('POST', '/networks/create', { Name: 'other', IPAM: { Config: [{ Subnet: '10.213.0.0/24' }] } });
  const { id } = await fleet.deployed({ name: 'one' });
  await runs(id);
  expect(await networks()).toMatchObject([{ IPAM: { Config: [{ Subnet: '10.213.16.0/20' }] } }]);
  expect(await addresses(id)).toEqual(['10.213.16.2']);
  expect((await client.host.findUniqueOrThrow({ where: { id: host.id } })).refused_subnets).toEqual(['10.213.0.0/20']);
  await conditionIs('Isolated', { status: 'True' });
});

test('a network that is lost is created again with its subnet, and its containers are replaced', async () => {
  const one = (await client.deployment.findFirstOrThrow({ where: { name: 'one' } })).id;
  const [before] = await containers(one);
  const [network] = await networks();
  const other = await fleet.deployed({ name: 'other' });
  await runs(other.id);
  for (const { Id } of [...(await containers(one)), ...(await containers(other.id))])
    await ask('DELETE', `/containers/${Id}?force=true`);
  await ask('DELETE', `/networks/${network?.Name}`);
  await eventually('both run again', async () =>
    (await Promise.all([one, other.id].map(async (id) => (await addresses(id)).length))).every((count) => count === 1),
  );
  await Promise.all([runs(one), runs(other.id)]);
  expect(await networks()).toEqual([expect.objectContaining({ Name: network?.Name, IPAM: network?.IPAM })]);
  expect(await addresses(one)).toEqual(['10.213.16.2']);
  expect((await containers(one))[0]?.Id).not.toBe(before?.Id);
  expect((await client.network.findFirstOrThrow()).losses).toBe(1);
});

test('an address that something else has is replaced by another one', async () => {
  const [network] = await networks();
  const Name = network?.Name ?? '';
  const [, used] = await client.$queryRaw<{ address: string }[]>`
    SELECT host(address) AS address FROM network_addresses ORDER BY address`;
  const next = (used?.address ?? '').replace(/\d+$/, (octet) => String(Number(octet) + 1));
  await fetch(`${url}/images/create?fromImage=stranger&tag=1`, { method: 'POST' });
  const stranger = {
    Image: 'stranger:1',
    HostConfig: { NetworkMode: Name },
    NetworkingConfig: { EndpointsConfig: { [Name]: { IPAMConfig: { IPv4Address: next } } } },
  };
  const { Id } = await ask('POST', '/containers/create?name=stranger', stranger);
  await ask('POST', `/containers/${Id}/start`);
  const { id } = await fleet.deployed({ name: 'third' });
  await runs(id);
  const [address] = await addresses(id);
  expect(address).not.toBe(next);
  expect(
    await client.$queryRaw`SELECT host(address) AS address FROM network_addresses WHERE deployment_id = ${id}::uuid`,
  ).toEqual([{ address }]);
  await ask('DELETE', `/containers/${Id}?force=true`);
});

test('a network with another subnet on the engine than in the database keeps that of the engine', async () => {
  const { id } = await client.deployment.findFirstOrThrow({ where: { name: 'third' } });
  const before = await addresses(id);
  await client.$executeRaw`UPDATE networks SET subnet = '10.213.48.0/20', isolation = NULL`;
  await client.$executeRaw`UPDATE network_addresses SET address = address + 32 * 256`;
  await fleet.ask(id, 'restart');
  await eventually('the row has the subnet of the engine', async () => {
    const [row] = await client.$queryRaw<{ subnet: string }[]>`SELECT subnet::text AS subnet FROM networks`;
    return row?.subnet === '10.213.16.0/20';
  });
  await eventually('it has its address', async () => `${await addresses(id)}` === `${before}`);
});

test('the host names the deployments that share the default network, until they are restarted', async () => {
  const { id } = await fleet.deployed({ name: 'old', updates: { ready_seconds: 0 } });
  await runs(id);
  // As an earlier version has created it.
  await client.deployment.update({ where: { id }, data: { defaults_version: 4, due_at: new Date(0) } });
  await conditionIs('SharesDefaultNetwork', {
    status: 'True',
    message: 'Restart these deployments to move them to isolated networks: old.',
  });
  await conditionIs('Isolated', { status: 'False', reason: 'SharesDefaultNetwork' });
  await fleet.ask(id, 'restart');
  await conditionIs('SharesDefaultNetwork', undefined);
  await conditionIs('Isolated', { status: 'True' });
});

test('the network is removed with its last deployment', async () => {
  for (const { id } of await client.deployment.findMany()) await fleet.remove(id);
  await eventually('the network is gone', async () => {
    await checked();
    return (await networks()).length === 0;
  });
  await eventually('its row is gone', async () => (await client.network.count()) === 0);
});
