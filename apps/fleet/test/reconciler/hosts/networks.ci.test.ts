// Who reaches whom in the isolated networks of a real engine, for each of the programs that it can use for networks.
import { eventually, scaled } from '@svc/testing';
import { describeWithEngine, engineKind, programAt } from '@svc/testing/engine';
import { restartForAddress } from '../../../src/deployments/addresses/dependents.ts';
import { THE_FLEET } from '../../../src/identity/principal.ts';
import { type MachineWorld, SERVER, startMachineWorld } from './world.ts';

const PORT = 8080;
/** A workload that serves its own name. */
const PART = {
  ...SERVER,
  env: [],
  env_schema: [{ name: 'GREETING' }, { name: 'DATABASE' }],
  secret_refs: [],
  volume_mounts: [],
};
const APPLICATIONS = { shop: ['web', 'cache', 'database'], forum: ['forum'] };
const partOf = (name: string) => {
  const { registry_url, image_name, image_tag, command } = SERVER;
  const ports = [{ containerPort: PORT, publish: true }];
  return { name, registry_url, image_name, image_tag, command, ports, env: [{ name: 'GREETING', value: name }] };
};
/** The program of the engine's own choice, and netavark if it is installed. */
const HAS_NETAVARK = engineKind() === 'podman' && programAt('netavark') !== undefined;
const BACKENDS: [name: string, backend: 'netavark' | undefined][] = [
  ['the default program', undefined],
  ...(HAS_NETAVARK ? [['netavark', 'netavark'] as [string, 'netavark']] : []),
];
/** The time within which a part must answer another one, in seconds. */
const WITHIN = Math.ceil(scaled(1000) / 1000);

describe.each(BACKENDS)('in networks of %s,', (_, networkBackend) => {
  describeWithEngine('an application of three parts', () => {
    let world: MachineWorld;
    let hostId: string;
    const ids = new Map<string, string>();
    const idOf = (name: string) => ids.get(name) ?? '';
    const isRunning = (name: string) => world.deploymentIs(idOf(name), 'running');
    const containerOf = async (name: string) => (await world.containers(idOf(name)))[0]?.name ?? '';
    const addressOf = async (name: string) => {
      const [row] = await world.database.client.$queryRaw<{ address: string }[]>`
          SELECT host(address) AS address FROM network_addresses WHERE deployment_id = ${idOf(name)}::uuid AND ordinal = 0 AND NOT joined`;
      return row?.address ?? '';
    };
    const inside = async (name: string, command: string) =>
      world.podman.byHand('exec', await containerOf(name), '/bin/sh', '-c', `${command}; true`);
    /** What a container receives from each host name or address within a second. It asks all of them at the same time. */
    const askAll = async (name: string, hosts: readonly string[]): Promise<Readonly<Record<string, string>>> => {
      const asking = hosts.map(
        (host) => `(echo "${host} $(timeout ${WITHIN} wget -qO- http://${host}:${PORT}/ 2>/dev/null)") &`,
      );
      const lines = (await inside(name, `${asking.join(' ')} wait`)).split('\n');
      return Object.fromEntries(lines.map((line) => line.trim().split(' ')).map(([host, said = '']) => [host, said]));
    };
    const ask = async (name: string, host: string) => (await askAll(name, [host]))[host] ?? '';
    const serves = (name: string) =>
      eventually(`${name} serves`, async () => (await ask(name, '127.0.0.1').catch(() => '')) === name);
    /** Whether the parts of the application know and reach each other, as soon as they serve. */
    const findEachOther = async () => {
      const parts = APPLICATIONS.shop;
      await Promise.all(parts.map(serves));
      const everyone = Object.fromEntries(parts.map((part) => [part, part]));
      const found = await Promise.all(parts.map(async (from) => [from, await askAll(from, parts)]));
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(parts.map((from) => [from, everyone])));
    };
    const deploy = async (name: string, given: object = {}) => {
      const { id } = await world.deployed(name, PART, {
        env: { GREETING: name },
        target: { host_id: hostId },
        ...given,
      });
      ids.set(name, id);
    };

    beforeAll(async () => {
      world = await startMachineWorld(undefined, networkBackend && { networkBackend });
      hostId = (await world.aHost()).id;
      await world.hostIs(hostId, 'online');
      for (const [name, parts] of Object.entries(APPLICATIONS)) {
        const body = { name, spec: { parts: parts.map(partOf) }, target: { host_id: hostId } };
        const { application } = await world.good(world.api.post('/api/v1/applications', body));
        for (const part of application.parts) ids.set(part.name, part.deployment_id);
      }
      await deploy('alone');
      for (const name of ids.keys()) await isRunning(name);
    });
    afterAll(() => world?.stop());

    test('finds its parts by name after creation', findEachOther);

    test('finds them after a replacement, a restart, a crash, and a restart of the engine', async () => {
      const before = await containerOf('database');
      await world.podman.discard(before);
      await findEachOther();
      await world.podman.byHand('restart', '--time', '1', await containerOf('database'));
      await findEachOther();
      await inside('database', 'kill -9 $(pidof httpd)').catch(() => '');
      await findEachOther();
      await world.podman.restart();
      await world.hostIs(hostId, 'online');
      await findEachOther();
    });

    test('is not reached by others, by name or address, except at its published ports', async () => {
      const addresses = await Promise.all(APPLICATIONS.shop.map(addressOf));
      expect(addresses).not.toContain('');
      const hosts = [...APPLICATIONS.shop, ...addresses];
      const nothing = Object.fromEntries(hosts.map((host) => [host, '']));
      const strangers = ['forum', 'alone'];
      const found = await Promise.all(strangers.map(async (stranger) => [stranger, await askAll(stranger, hosts)]));
      expect(Object.fromEntries(found)).toEqual({ forum: nothing, alone: nothing });
      expect((await world.fetched(idOf('web'))).trim()).toBe('web');
    });

    test('is reached by a deployment that joins its network, and not by what runs beside that', async () => {
      await deploy('guest', {
        env: { GREETING: 'guest', DATABASE: { deployment: 'shop-database', port: PORT, as: 'host' } },
      });
      await isRunning('guest');
      expect(await inside('guest', `timeout ${WITHIN} wget -qO- http://$DATABASE:${PORT}/`)).toBe('database');
      expect(await ask('guest', await addressOf('alone'))).toBe('alone');
      expect(await ask('alone', await addressOf('database'))).toBe('');
      expect((await world.fetched(idOf('guest'))).trim()).toBe('guest');
    });

    test('is isolated from other applications also while a deployment is on the default network, which the host states', async () => {
      /** A condition of the host after a check, which each replica does regularly. */
      const conditionOf = async (type: string) => {
        await world.engineRuntime.checkHost(
          await world.database.client.host.findUniqueOrThrow({ where: { id: hostId } }),
        );
        return (await world.host(hostId)).conditions.find((each: { type: string }) => each.type === type);
      };
      await eventually('the host is isolated', async () => (await conditionOf('Isolated'))?.status === 'True');
      await deploy('old');
      await isRunning('old');
      const { client } = world.database;
      await client.deployment.update({
        where: { id: idOf('old') },
        data: { defaults_version: 4, due_at: new Date(0) },
      });
      await eventually('the host names it', async () =>
        (await conditionOf('SharesDefaultNetwork'))?.message.includes('old'),
      );
      await isRunning('old');
      expect(await ask('forum', await addressOf('database'))).toBe('');
      expect(await ask('web', 'database')).toBe('database');
      const database = { id: idOf('database'), name: 'shop-database' };
      await client.$transaction((transaction) => restartForAddress({ transaction, principal: THE_FLEET }, database));
      expect((await world.deployment(idOf('guest'))).generation).toBe(1);
    });
  });
});
