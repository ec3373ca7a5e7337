import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { eventually, freePort } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { aMachineWorld, SERVER } from './world.ts';

const WEB = { ...SERVER, volume_mounts: [], secret_refs: [] };
/** An address of the documentation range, which no machine has. */
const ABSENT = '203.0.113.9';
const own = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** Whether a port accepts connections at an address. */
async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describeWithEngine('the port of a deployment on a real engine', () => {
  const world = aMachineWorld();
  let id: string;
  const change = (body: object) => world().good(world().api.put(`/api/v1/hosts/${world().hostId}`, body));

  test('can be reached only at the loopback address if the host declares no address', async () => {
    ({ id } = await world().deployed('web', WEB, { updates: { ready_seconds: 0 } }));
    const { endpoints } = await world().deploymentIs(id, 'running');
    const [{ address }] = endpoints;
    const port = Number(address.split(':')[1]);
    expect(endpoints).toEqual([
      {
        ...{ container_port: 8080, protocol: 'TCP', address: `127.0.0.1:${port}`, scope: 'loopback', scheme: null },
        ...{ instance: expect.any(String), ready: true, current: true },
      },
    ]);
    expect(await world().fetched(id)).toBe('hello \n');
    for (const other of ['127.0.0.2', ...(own === undefined ? [] : [own])]) {
      expect(await accepts(other, port)).toBe(false);
    }
  });

  test('is reported if the host does not have the declared address', async () => {
    await change({ network_types: ['mesh'], addresses: { mesh: ABSENT } });
    expect((await world().deployment(id)).phase).toBe('running'); // until its next change
    await world().ask(id, 'restart');
    // The old instance still serves at its address.
    const failed = await world().deploymentIs(id, 'degraded', 'AddressNotAvailable');
    expect(failed.message).toContain(ABSENT);
    expect(await world().host(world().hostId)).toMatchObject({ unverified_addresses: ['mesh'] });
  });

  test('binds to the declared address, which is then verified', async () => {
    const mesh = own ?? '127.0.0.2';
    await change({ addresses: { mesh } });
    await world().ask(id, 'restart');
    const { endpoints } = await world().deploymentIs(id, 'running');
    expect(endpoints[0]).toMatchObject({
      address: expect.stringMatching(`^${mesh}:`),
      scope: own === undefined ? 'loopback' : 'mesh',
    });
    expect(await world().fetched(id)).toBe('hello \n');
    expect(await accepts('127.0.0.1', Number(endpoints[0].address.split(':')[1]))).toBe(false);
    await eventually('the address is verified', async () => {
      const { addresses, unverified_addresses } = await world().host(world().hostId);
      return addresses.mesh === mesh && unverified_addresses.length === 0;
    });
  });

  test('is the requested port of the host, at no other address, and waits for it while another process uses it', async () => {
    const mesh = own ?? '127.0.0.2';
    const port = await freePort();
    await change({ open_ports: [String(port)] });
    await world().good(world().api.put(`/api/v1/deployments/${id}`, { host_ports: { '8080/tcp': port } }));
    const { endpoints } = await world().deploymentIs(id, 'running');
    expect(endpoints.map(({ address }: { address: string }) => address)).toEqual([`${mesh}:${port}`]);
    expect(await world().fetched(id)).toBe('hello \n');
    expect(await accepts('127.0.0.1', port)).toBe(false);

    await world().ask(id, 'stop');
    await world().deploymentIs(id, 'stopped');
    const other = createServer().listen(port, mesh);
    await once(other, 'listening');
    await world().ask(id, 'start');
    await world().deploymentIs(id, 'retrying', 'PortConflict');
    other.close();
    await once(other, 'close');
    const again = await world().deploymentIs(id, 'running');
    expect(again.endpoints[0].address).toBe(`${mesh}:${port}`);
  });
});
