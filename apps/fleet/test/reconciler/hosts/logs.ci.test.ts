import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { aMachineWorld, SLEEPER } from './world.ts';

const TICKING = "trap 'exit 0' TERM; i=0; while :; do i=$((i+1)); echo tick $i; sleep 1 & wait $!; done";

describeWithEngine('the log of a deployment', () => {
  const world = aMachineWorld();
  let proxy: EngineProxy;
  let server: Server;
  let id: string;
  let silent: string;

  beforeAll(async () => {
    const { app, api, good, podman, hostId, hostIs, deployed, deploymentIs } = world();
    proxy = await startEngineProxy(podman.endpoint);
    await good(api.put(`/api/v1/hosts/${hostId}`, { endpoint: proxy.endpoint }));
    await hostIs(hostId, 'online');
    const target = { target: { host_id: hostId } };
    ({ id } = await deployed('ticking', { ...SLEEPER, command: ['/bin/sh', '-c', TICKING] }, target));
    ({ id: silent } = await deployed('silent', SLEEPER, target));
    await deploymentIs(id, 'running');
    await deploymentIs(silent, 'running');
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await proxy?.stop();
  });

  const followed = async (of: string): Promise<IncomingMessage> => {
    const { secret } = await world().aToken({ role: 'viewer' });
    const { port } = server.address() as AddressInfo; // the server listens
    const path = `/api/v1/deployments/${of}/logs?follow=true&tail=1`;
    const asked = get({ port, host: '127.0.0.1', path, headers: { Authorization: `Bearer ${secret}` } });
    const [answer] = await once(asked, 'response');
    return answer;
  };
  const disconnect = async (answer: IncomingMessage) => {
    answer.destroy();
    await eventually('the requests to the engine have ended', async () => proxy.underWay() === 0);
  };

  test('contains only the last lines with tail', async () => {
    const lines = await eventually('there are more than two lines', async () => {
      const all = (await world().api.get(`/api/v1/deployments/${id}/logs`)).text.trimEnd().split('\n');
      return all.length > 2 && all;
    });
    const { text } = await world().api.get(`/api/v1/deployments/${id}/logs?tail=2`);
    expect(text).toMatch(/^tick (\d+)\ntick \d+\n$/);
    expect(text).not.toContain(`${lines[0]}\n`);
  });

  test('is followed, and the request to the engine ends when the client disconnects', async () => {
    const answer = await followed(id);
    expect(answer.statusCode).toBe(200);
    let text = '';
    for await (const chunk of answer) {
      text += chunk;
      if (text.split('\n').length > 3) break;
    }
    expect(text).toMatch(/^tick \d+\ntick \d+\ntick \d+\n/);
    await disconnect(answer);
  });

  test('is followed while it is idle, and the request to the engine ends when the client disconnects', async () => {
    const answer = await followed(silent);
    expect(answer.statusCode).toBe(200);
    await eventually('the engine receives a request', async () => proxy.underWay() > 0);
    await disconnect(answer);
  });

  test('gets 404 without a container, 400 for an unknown instance, and 503 while the host is unreachable', async () => {
    const { api, ask, deploymentIs } = world();
    const path = `/api/v1/deployments/${silent}/logs`;
    expect(await api.get(`${path}?instance=another`)).toMatchObject({ status: 400 });
    await proxy.stopListening();
    expect(await api.get(path)).toMatchObject({
      status: 503,
      body: { detail: 'The socket of its endpoint does not exist on the machine of this service.' },
    });
    await proxy.startListening();
    await ask(silent, 'stop');
    await deploymentIs(silent, 'stopped');
    expect(await api.get(path)).toMatchObject({
      status: 404,
      body: { detail: expect.stringMatching(/^The deployment is stopped\. Its logs are gone/) },
    });
  });
});
