// Isolated networks as the two engines create and report them.
import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import type { HostNetwork } from '../../src/render/allocation.ts';
import { renderDocker } from '../../src/render/docker.ts';
import { aHost, aRendering } from '../render/renderings.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import { aScript, running } from './world.ts';

afterEach(endAll);

const ID = '019a0000-0000-7000-8000-0000decade01';
const OWN: HostNetwork = {
  id: '019a0000-0000-7000-8000-0000000000a1',
  application_id: '019a0000-0000-7000-8000-00000000000a',
  subnet: '10.213.16.0/26',
  losses: 0,
  addresses: ['10.213.16.2'],
  names: [
    { name: 'database', address: '10.213.16.3' },
    { name: 'web', address: '10.213.16.2' },
  ],
};
const JOINED: HostNetwork = {
  ...OWN,
  id: '019a0000-0000-7000-8000-0000000000b2',
  application_id: null,
  subnet: '10.213.0.0/20',
  addresses: ['10.213.0.9'],
  names: [],
};
const NAME = 'svc-app-000000a1';
const OTHER = 'svc-alone-000000b2';

type Kind = 'docker' | 'podman';
interface Sent {
  readonly call: string;
  readonly body: unknown;
}

const HEADERS = {
  docker: { 'Api-Version': '1.43' },
  podman: { 'Api-Version': '1.41', 'Libpod-Api-Version': '4.3.1' },
} as const;

/** How each engine describes a network that exists. */
const described = (kind: Kind, body: Record<string, unknown>) => {
  const labels = body.labels ?? body.Labels;
  return kind === 'podman'
    ? { subnets: body.subnets, options: body.options, labels }
    : { Driver: 'bridge', IPAM: body.IPAM, Labels: labels };
};

interface Given {
  readonly networks?: readonly HostNetwork[];
  /** What a creation of a network answers. */
  readonly refusal?: { readonly status: number; readonly message: string };
  /** What the engine does with the body of a network. */
  readonly kept?: (body: Record<string, unknown>) => Record<string, unknown>;
  /** The networks that were created before. */
  readonly known?: readonly string[];
  readonly start?: { readonly status: number; readonly message: string };
}

/** Reconciles a new deployment on an engine without containers. */
async function reconciled(kind: Kind, { networks = [OWN], refusal, kept = (body) => body, known, start }: Given = {}) {
  const sent: Sent[] = [];
  const existing = new Map<string, object>();
  const endpoint = await serve(
    anEngine((req, res) => {
      let text = '';
      req.on('data', (chunk) => {
        text += chunk;
      });
      req.on('end', () => {
        const { pathname } = new URL(req.url ?? '', 'http://engine');
        const path = pathname.replace(/^\/v[\d.]+/, '');
        const body = text === '' ? {} : JSON.parse(text);
        if (req.method !== 'GET') sent.push({ call: `${req.method} ${path}`, body });
        const send = (status: number, answer: object) => res.writeHead(status).end(JSON.stringify(answer));
        if (path.endsWith('/networks/create')) {
          if (refusal) return send(refusal.status, { message: refusal.message });
          existing.set(body.name ?? body.Name, described(kind, kept(body)));
          return send(200, {});
        }
        const [, name = ''] = /\/networks\/([^/]+)(?:\/json)?$/.exec(path) ?? [];
        if (name !== '' && req.method === 'GET') return send(existing.has(name) ? 200 : 404, existing.get(name) ?? {});
        if (path === '/containers/json') return send(200, []);
        if (path === '/containers/create') return send(201, { Id: 'c1' });
        if (path.endsWith('/start') && start) return send(start.status, { message: start.message });
        if (path.startsWith('/images/')) return send(200, { Id: 'sha256:1' });
        if (req.method === 'GET') return send(404, { message: 'No such container' });
        return res.writeHead(204).end();
      });
    }, HEADERS[kind]),
  );
  const rendering = aRendering(aScript(''), { id: ID });
  const manifest = renderDocker(rendering, { ...aHost(rendering, kind), networks });
  const client = clientOf(endpoint, { engine: kind });
  const wanted = running(manifest, known ? { networks: known } : {});
  return { seen: await reconcile(client, wanted, { deploymentId: ID, generation: 7 }), sent };
}

const callsOf = (sent: readonly Sent[]) => sent.map(({ call }) => call);

test('Podman receives the network by its own API, with isolation and without a name server', async () => {
  const { seen, sent } = await reconciled('podman');
  expect(sent[0]).toEqual({
    call: 'POST /libpod/networks/create',
    body: {
      name: NAME,
      driver: 'bridge',
      network_interface: 'svc-000000a1',
      subnets: [{ subnet: '10.213.16.0/26' }],
      dns_enabled: false,
      options: { isolate: 'true' },
      labels: { 'app.kubernetes.io/managed-by': 'fleet', 'fleet/network': OWN.id },
    },
  });
  expect(seen.networks).toEqual([{ id: OWN.id, isolated: true }]);
  expect(seen.actions[0]).toBe(`created the network ${NAME}`);
});

test('a network whose option for isolation Podman has dropped is used, and reported as not isolated', async () => {
  const { seen, sent } = await reconciled('podman', { kept: (body) => ({ ...body, options: {} }) });
  expect(seen.networks).toEqual([{ id: OWN.id, isolated: false }]);
  expect(callsOf(sent)).toContain('POST /containers/create');
});

test('Docker receives the network by its API', async () => {
  const { seen, sent } = await reconciled('docker');
  expect(sent[0]).toEqual({
    call: 'POST /networks/create',
    body: {
      Name: NAME,
      Driver: 'bridge',
      IPAM: { Config: [{ Subnet: '10.213.16.0/26' }] },
      Options: { 'com.docker.network.bridge.name': 'svc-000000a1' },
      Labels: { 'app.kubernetes.io/managed-by': 'fleet', 'fleet/network': OWN.id },
    },
  });
  expect(seen.networks).toEqual([{ id: OWN.id, isolated: true }]);
});

const OWN_ENDPOINT = { IPAMConfig: { IPv4Address: '10.213.16.2' }, MacAddress: '02:42:0a:d5:10:02' };
const OTHER_ENDPOINT = { IPAMConfig: { IPv4Address: '10.213.0.9' }, MacAddress: '02:42:0a:d5:00:09' };

test('a container has its addresses and the names of its application, and Docker connects it to another network before it starts', async () => {
  const podman = await reconciled('podman', { networks: [OWN, JOINED] });
  const docker = await reconciled('docker', { networks: [OWN, JOINED] });
  const bodyIn = (sent: readonly Sent[]) => sent.find(({ call }) => call === 'POST /containers/create')?.body;
  const HostConfig = { NetworkMode: NAME, ExtraHosts: ['database:10.213.16.3', 'web:10.213.16.2'] };
  expect(bodyIn(podman.sent)).toMatchObject({
    HostConfig,
    NetworkingConfig: { EndpointsConfig: { [NAME]: OWN_ENDPOINT, [OTHER]: OTHER_ENDPOINT } },
  });
  expect(bodyIn(docker.sent)).toMatchObject({
    HostConfig,
    NetworkingConfig: { EndpointsConfig: { [NAME]: OWN_ENDPOINT } },
  });
  expect(docker.sent.slice(-3)).toMatchObject([
    { call: 'POST /containers/create' },
    { call: `POST /networks/${OTHER}/connect`, body: { Container: 'c1', EndpointConfig: OTHER_ENDPOINT } },
    { call: 'POST /containers/c1/start' },
  ]);
});

describe.each<[Kind, number, string]>([
  ['podman', 500, 'subnet 10.213.16.0/26 is already used on the host or by another config'],
  ['docker', 403, 'invalid pool request: Pool overlaps with other one on this address space'],
])('%s, which answers %s %s', (kind, status, message) => {
  test('refuses the subnet, and nothing is created', async () => {
    const { seen, sent } = await reconciled(kind, { refusal: { status, message } });
    expect(seen).toMatchObject({
      phase: 'retrying',
      reason: 'NetworkFailed',
      networkFailure: { problem: 'subnet_refused', network: OWN.id },
    });
    expect(callsOf(sent)).not.toContain('POST /containers/create');
  });
});

test.each<[Kind, number, string]>([
  [
    'podman',
    500,
    'cni plugin bridge failed: failed to allocate for range 0: requested IP address 10.213.16.2 is not available in range set 10.213.16.1-10.213.16.62',
  ],
  ['podman', 500, 'IPAM error: requested ip address 10.213.16.2 is already allocated to container ID 123'],
  ['docker', 403, 'Address already in use'],
])('an address that something else has is reported by %s (%s %s)', async (kind, status, message) => {
  const { seen } = await reconciled(kind, { start: { status, message } });
  expect(seen).toMatchObject({ reason: 'NetworkFailed', networkFailure: { problem: 'address_taken' } });
});

test('a network that existed before is not created at once, because its containers must be replaced', async () => {
  const { seen, sent } = await reconciled('podman', { known: [OWN.id] });
  expect(seen).toMatchObject({ reason: 'NetworkFailed', networkFailure: { problem: 'lost', network: OWN.id } });
  expect(sent).toEqual([]);
});

test('a network of somebody else with the name is left as it is', async () => {
  const { seen, sent } = await reconciled('docker', { kept: (body) => ({ ...body, Labels: {} }) });
  expect(seen).toMatchObject({ phase: 'retrying', reason: 'NetworkFailed' });
  expect(seen.networkFailure).toBeUndefined();
  expect(callsOf(sent)).toEqual(['POST /networks/create']);
});
