// Permissions for resources beyond the table of routes: targets on the machine of the fleet.
import dns from 'node:dns/promises';
import os from 'node:os';
import { jest } from '@jest/globals';
import type { Api } from '@svc/testing';
import { aPair } from './certificates.ts';
import { kindsIn } from './kinds.ts';
import { invalidPathsOf, pathOf, type Shown, singulars, startResources } from './resources.ts';

const world = await startResources();
const { aName, asAdmin, asOperator, asViewer, client } = world;
const kinds = await kindsIn(world);
const strict = world.aReplica({ outboundAllow: new Set() });
const admin = await world.aToken({ role: 'admin' });
const asStrictAdmin = strict.api(`Bearer ${admin.secret}`);
afterAll(() => world.stop());

const pair = aPair();
const credentials = { ca_certificate: pair.certificate, ...pair };
const auth = { kind: 'token', token: 'a token' };

const LOCAL = [
  '127.0.0.1',
  '127.8.9.10',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  '0',
  'localhost',
  'LocalHost',
  'localhost.',
  'engine.localhost',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0.0.0.0]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
];
const localEndpoints = ['unix:///run/docker.sock', ...LOCAL.map((host) => `tcp://${host}:2375`)];
const localServers = LOCAL.map((host) => `https://${host}:6443`);

const registerHost = (as: Api, endpoint: string, given: object = {}) =>
  as.post(pathOf('hosts'), { name: aName('host'), engine: 'docker', endpoint, ...given });
const registerCluster = (as: Api, server: string) =>
  as.post(pathOf('clusters'), { name: aName('cluster'), server, auth });

describe.each(kinds)('permissions for $plural:', ({ plural, members, change, deleted }) => {
  const path = pathOf(plural);
  const tryAll = async (as: Api, id: string) => [
    (await as.post(path, { name: aName('of-role'), ...members })).status,
    (await as.put(pathOf(plural, id), change)).status,
    (await as.delete(pathOf(plural, id))).status,
  ];

  test('a viewer changes nothing, and learns nothing from attempts', async () => {
    const made = await world.make(plural, members);
    expect((await asViewer.get(pathOf(plural, made.id))).body).toEqual({ [singulars[plural]]: made });
    expect(await tryAll(asViewer, made.id)).toEqual([403, 403, 403]);
    expect(await tryAll(asViewer, 'nothing')).toEqual([403, 403, 403]);
    expect(await world.read(plural, made.id)).toEqual(made);
  });

  test('an operator manages them, except secrets, which an operator only reads', async () => {
    const made = await world.make(plural, members);
    expect((await asOperator.get(pathOf(plural, made.id))).body).toEqual({ [singulars[plural]]: made });
    expect(await tryAll(asOperator, made.id)).toEqual(plural === 'secrets' ? [403, 403, 403] : [201, 200, deleted]);
  });
});

describe('a target on the machine of the fleet', () => {
  const forbidden = ({ status, body }: Shown) => [status, body.code];

  describe('can be registered only by an admin:', () => {
    // Eight registrations run concurrently: a connection to some of the addresses fails only after seconds, and the
    // fleet refuses requests that wait too long for one of its connections to the database.
    const byAdmin = new Map<string, Shown>();
    const registered = (address: string) => {
      const answer = byAdmin.get(address);
      if (!answer) throw new Error(`${address} was not registered`);
      return answer;
    };
    beforeAll(async () => {
      const waiting = [
        ...localEndpoints.map((endpoint) => [endpoint, () => registerHost(asAdmin, endpoint)] as const),
        ...localServers.map((server) => [server, () => registerCluster(asAdmin, server)] as const),
      ];
      const registerWaiting = async () => {
        for (let next = waiting.pop(); next; next = waiting.pop()) byAdmin.set(next[0], await next[1]());
      };
      await Promise.all(Array.from({ length: 8 }, registerWaiting));
    });

    test.each(localEndpoints)('a host at %s', async (endpoint) => {
      const before = await client.host.count();
      expect(forbidden(await registerHost(asOperator, endpoint))).toEqual([403, 'insufficient_scope']);
      expect(await client.host.count()).toBe(before);
      const { status, body } = registered(endpoint);
      expect({ status, endpoint: body.host?.endpoint }).toEqual({ status: 201, endpoint });
    });

    test.each(localServers)('a cluster at %s', async (server) => {
      expect(forbidden(await registerCluster(asOperator, server))).toEqual([403, 'insufficient_scope']);
      expect(registered(server).status).toBe(201);
    });
  });

  test('cannot become the address of an existing target through an operator', async () => {
    const host = await world.aHost();
    const cluster = await world.aCluster();
    for (const endpoint of localEndpoints) {
      const answer = await asOperator.put(pathOf('hosts', host.id), { endpoint });
      expect({ endpoint, answer: forbidden(answer) }).toEqual({ endpoint, answer: [403, 'insufficient_scope'] });
    }
    for (const server of localServers) {
      const answer = await asOperator.put(pathOf('clusters', cluster.id), { server, auth });
      expect({ server, answer: forbidden(answer) }).toEqual({ server, answer: [403, 'insufficient_scope'] });
    }
    expect(await world.read('hosts', host.id)).toEqual(host);
    expect(await world.read('clusters', cluster.id)).toEqual(cluster);
    expect((await asAdmin.put(pathOf('hosts', host.id), { endpoint: 'unix:///run/podman.sock' })).status).toBe(200);
  });

  test('cannot get other credentials from an operator', async () => {
    const { body } = await registerHost(asAdmin, 'tcp://127.0.0.1:2376', { credentials });
    const cluster = (await registerCluster(asAdmin, 'https://localhost:6443')).body;
    for (const answer of [
      await asOperator.put(pathOf('hosts', body.host.id), { credentials }),
      await asOperator.put(pathOf('clusters', cluster.cluster.id), { auth }),
    ]) {
      expect(forbidden(answer)).toEqual([403, 'insufficient_scope']);
    }
  });
});

test.each([
  '169.254.169.254',
  '169.254.1.1',
  '2852039166',
  '[fe80::1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
])('nobody can register a link-local or metadata address: %s', async (address) => {
  for (const as of [asAdmin, asOperator]) {
    const host = await registerHost(as, `tcp://${address}:80`);
    expect(host.status).toBe(400);
    expect(invalidPathsOf(host)).toEqual(['endpoint']);
    expect((await registerHost(as, `tcp://${address}:80`, { credentials })).status).toBe(400);
    const cluster = await registerCluster(as, `https://${address}`);
    expect(cluster.status).toBe(400);
    expect(invalidPathsOf(cluster)).toEqual(['server']);
  }
});

describe('if only public https addresses are allowed,', () => {
  const refusedFor = (answer: Shown) => [answer.status, /add ([\w ]+) to OUTBOUND_ALLOW\./.exec(answer.text)?.[1]];

  test.each([
    ['unix:///run/docker.sock', null, 'unix'],
    ['tcp://127.0.0.1:2375', null, 'http and loopback'],
    ['tcp://[::1]:2376', credentials, 'loopback'],
    ['tcp://10.1.2.3:2375', null, 'http and private'],
    ['tcp://192.168.1.2:2376', credentials, 'private'],
    ['tcp://[fd12::1]:2376', credentials, 'private'],
    ['tcp://[::ffff:172.16.0.1]:2376', credentials, 'private'],
    ['tcp://100.64.0.1:2376', credentials, 'private'],
    ['tcp://engine.example.test:2375', null, 'http'],
  ])('a host at %s is rejected with the setting that would allow it', async (endpoint, tls, needs) => {
    expect(refusedFor(await registerHost(asStrictAdmin, endpoint, { credentials: tls }))).toEqual([400, needs]);
  });

  test.each([
    ['https://10.1.2.3', 'private'],
    ['https://127.0.0.1:6443', 'loopback'],
    ['https://[::ffff:10.0.0.1]', 'private'],
  ])('a cluster at %s is rejected with the setting that would allow it', async (server, needs) => {
    expect(refusedFor(await registerCluster(asStrictAdmin, server))).toEqual([400, needs]);
  });

  test('public addresses can be registered, and are used with TLS', async () => {
    const { status, body } = await registerHost(asStrictAdmin, 'tcp://engine.example.test:2376', { credentials });
    expect(status).toBe(201);
    const plain = await asStrictAdmin.put(pathOf('hosts', body.host.id), { credentials: null });
    expect(refusedFor(plain)).toEqual([400, 'http']);
    const inside = { endpoint: 'tcp://10.0.0.1:2376', credentials };
    expect(refusedFor(await asStrictAdmin.put(pathOf('hosts', body.host.id), inside))).toEqual([400, 'private']);
    expect(await world.read('hosts', body.host.id)).toEqual(body.host);
    expect((await registerCluster(asStrictAdmin, 'https://cluster.example.test')).status).toBe(201);
  });
});

test('private addresses can be registered by everyone who may register hosts', async () => {
  expect((await registerHost(asOperator, 'tcp://10.1.2.3:2376', { credentials })).status).toBe(201);
  expect((await registerCluster(asOperator, 'https://192.168.7.7:6443')).status).toBe(201);
});

describe('an address of a network interface of the machine of the fleet', () => {
  const OWN = '192.168.77.20';
  beforeEach(() => {
    const addresses = [{ address: OWN }] as os.NetworkInterfaceInfo[]; // other members are not read
    jest.spyOn(os, 'networkInterfaces').mockReturnValue({ eth0: addresses });
    const lookup = async (name: string) => [{ address: name === 'engine.example.test' ? OWN : name, family: 4 }];
    jest.spyOn(dns, 'lookup').mockImplementation(lookup as never);
  });
  afterEach(() => jest.restoreAllMocks());

  test.each([OWN, `[::ffff:${OWN}]`, 'engine.example.test'])(
    'can be registered only by an admin: %s',
    async (address) => {
      const register = {
        host: (as: Api) => registerHost(as, `tcp://${address}:2376`, { credentials }),
        cluster: (as: Api) => registerCluster(as, `https://${address}:6443`),
      };
      for (const send of Object.values(register)) {
        const { status, body } = await send(asOperator);
        expect({ status, code: body.code }).toEqual({ status: 403, code: 'insufficient_scope' });
        expect((await send(asAdmin)).status).toBe(201);
      }
    },
  );

  test.each([OWN, 'engine.example.test'])('can be set only by an admin: %s', async (address) => {
    const host = (await registerHost(asOperator, 'tcp://10.1.2.3:2376', { credentials })).body.host;
    const cluster = (await registerCluster(asOperator, 'https://10.1.2.3:6443')).body.cluster;
    const changes = [
      [pathOf('hosts', host.id), { endpoint: `tcp://${address}:2376`, credentials }],
      [pathOf('clusters', cluster.id), { server: `https://${address}:6443`, auth }],
    ] as const;
    for (const [path, change] of changes) {
      const { status, body } = await asOperator.put(path, change);
      expect({ status, code: body.code }).toEqual({ status: 403, code: 'insufficient_scope' });
      expect((await asAdmin.put(path, change)).status).toBe(200);
    }
  });

  test('of an existing target is allowed when an admin sets the same address again', async () => {
    const endpoint = 'tcp://10.1.2.3:2376';
    const { id } = (await registerHost(asOperator, endpoint, { credentials })).body.host;
    const byAdmin = async () => (await client.host.findUniqueOrThrow({ where: { id } })).by_admin;
    await asOperator.put(pathOf('hosts', id), { endpoint, credentials });
    expect(await byAdmin()).toBe(false);
    await asAdmin.put(pathOf('hosts', id), { endpoint });
    expect(await byAdmin()).toBe(true);
  });
});
