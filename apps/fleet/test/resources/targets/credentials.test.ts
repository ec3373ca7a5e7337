// Credentials of hosts and clusters: accepted, stored sealed, never shown, never sent elsewhere.
import { type Canary, leaks } from '../../secrets/encoded-forms.ts';
import { aPair } from '../certificates.ts';
import { KUBECONFIG } from '../kubeconfig.ts';
import { invalidPathsOf, pathOf, type Shown, startResources } from '../resources.ts';

const world = await startResources();
const { aCluster, aHost, asAdmin, client, sealer } = world;
afterAll(() => world.stop());

const pair = aPair();
const second = aPair();
const { certificate, key } = pair;
const credentials = { ca_certificate: second.certificate, certificate, key };
const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.of-a-service-account.c2lnbmF0dXJl';
const tokenAuth = { kind: 'token', token: TOKEN };
const certificateAuth = { kind: 'client_certificate', certificate, key };

/** The lines of a key that occur in no other key. */
const bodyOf = (pem: string) => pem.split('\n')[1] ?? '';
const canaries: readonly Canary[] = [
  { name: 'key', value: bodyOf(key) },
  { name: 'second key', value: bodyOf(second.key) },
  { name: 'certificate', value: bodyOf(certificate) },
  { name: 'token', value: TOKEN },
];

const storedOf = async (table: 'hosts' | 'clusters', id: string): Promise<Shown> => {
  const [row] = await client.$queryRawUnsafe<Shown[]>(`SELECT * FROM ${table} WHERE id = '${id}'`);
  return row;
};
const openedOf = async (table: 'hosts' | 'clusters', id: string) =>
  JSON.parse(await sealer.open({ table, column: 'sealed', row: id }, (await storedOf(table, id)).sealed));

describe.each([
  ['hosts', { engine: 'docker', endpoint: 'tcp://engine.example.test:2376', credentials }],
  ['clusters', { server: 'https://cluster.example.test', auth: tokenAuth }],
  ['clusters', { server: 'https://cluster.example.test', auth: certificateAuth }],
] as const)('credentials of %s', (plural, request) => {
  test('are in no response, and sealed in the database', async () => {
    const name = world.aName('sealed');
    const made = await asAdmin.post(pathOf(plural), { name, ...request });
    expect(made.status).toBe(201);
    const [{ id }] = Object.values<Shown>(made.body);
    const answers = {
      made: made.text,
      read: (await asAdmin.get(pathOf(plural, id))).text,
      listed: (await asAdmin.get(`${pathOf(plural)}?search=${name}`)).text,
      changed: (await asAdmin.put(pathOf(plural, id), { ...request, labels: { a: 'b' } })).text,
      again: (await asAdmin.post(pathOf(plural), { name, ...request })).text,
      refused: (await asAdmin.post(pathOf(plural), { name, ...request, unknown: 1 })).text,
      row: JSON.stringify(await storedOf(plural, id)),
    };
    expect(leaks(canaries, answers)).toEqual([]);
    expect(JSON.stringify(await openedOf(plural, id))).toContain(
      JSON.stringify(Object.values(request).at(-1)).slice(1, -1),
    );
  });

  test('are sealed for the address with which they were given', async () => {
    const { id } = await world.make(plural, request);
    const address = 'endpoint' in request ? request.endpoint : request.server;
    expect((await openedOf(plural, id)).address).toBe(address);
  });
});

test('a host shows whether it has credentials, and a cluster shows their kind', async () => {
  const { id, has_credentials } = await aHost({ credentials });
  expect(has_credentials).toBe(true);
  expect((await asAdmin.put(pathOf('hosts', id), { credentials: null })).body.host.has_credentials).toBe(false);
  expect(await storedOf('hosts', id)).toMatchObject({ sealed: null, key_id: null });
  const cluster = await aCluster();
  const { body } = await asAdmin.put(pathOf('clusters', cluster.id), { auth: certificateAuth });
  expect(cluster.auth_kind).toBe('token');
  expect(body.cluster.auth_kind).toBe('client_certificate');
  expect((await asAdmin.put(pathOf('clusters', cluster.id), { auth: null })).status).toBe(400);
});

describe('a change of the address', () => {
  test.each(['tcp://elsewhere.example.test:2376', 'tcp://engine.example.test:2377', 'unix:///run/docker.sock'])(
    'of a host requires its credentials again: %s',
    async (endpoint) => {
      const host = await aHost({ credentials });
      const answer = await asAdmin.put(pathOf('hosts', host.id), { endpoint });
      expect(answer.status).toBe(400);
      expect(invalidPathsOf(answer)).toEqual(['credentials']);
      expect(await world.read('hosts', host.id)).toEqual(host);
      const moved = await asAdmin.put(pathOf('hosts', host.id), { endpoint, credentials });
      expect(moved).toMatchObject({ status: 200, body: { host: { endpoint } } });
      expect((await openedOf('hosts', host.id)).address).toBe(endpoint);
    },
  );

  test('of a cluster requires `auth` again', async () => {
    const cluster = await aCluster();
    for (const server of ['https://elsewhere.example.test:6443', 'https://cluster.example.test:6443/elsewhere']) {
      const answer = await asAdmin.put(pathOf('clusters', cluster.id), { server });
      expect(answer.status).toBe(400);
      expect(invalidPathsOf(answer)).toEqual(['auth']);
    }
    expect(await world.read('clusters', cluster.id)).toEqual(cluster);
    const server = 'https://elsewhere.example.test:6443';
    expect((await asAdmin.put(pathOf('clusters', cluster.id), { server, auth: tokenAuth })).status).toBe(200);
    expect((await openedOf('clusters', cluster.id)).address).toBe(server);
  });

  test('discards the results of the last check', async () => {
    const host = await world.aRoomyHost();
    const cluster = await world.aRoomyCluster();
    const endpoint = 'tcp://elsewhere.example.test:2376';
    const moved = await asAdmin.put(pathOf('hosts', host.id), { endpoint });
    expect(moved.body.host.reachability).toBe('unknown');
    const server = 'https://elsewhere.example.test';
    const other = await asAdmin.put(pathOf('clusters', cluster.id), { server, auth: tokenAuth });
    expect(other.body.cluster.reachability).toBe('unknown');
  });
});

const notPem = ['', 'x', KUBECONFIG, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', key];
/** Incomplete combinations, which would otherwise be stored. */
const morePem = [
  certificate + key,
  key + certificate,
  certificate + KUBECONFIG,
  certificate.replace('\n', `\n${key}-----BEGIN CERTIFICATE-----\n`),
  '-----BEGIN CERTIFICATE-----'.repeat(3000),
];

describe('an invalid certificate or key is rejected by name, and not repeated:', () => {
  const refused = async (plural: 'hosts' | 'clusters', given: object, paths: readonly string[]) => {
    const request =
      plural === 'hosts' ? { engine: 'podman', endpoint: 'tcp://a.example.test:1' } : { server: 'https://a' };
    const made = await asAdmin.post(pathOf(plural), {
      name: world.aName('bad'),
      ...request,
      auth: undefined,
      ...given,
    });
    expect(made.status).toBe(400);
    expect(invalidPathsOf(made)).toEqual(paths);
    const { id } = plural === 'hosts' ? await aHost() : await aCluster();
    const changed = await asAdmin.put(pathOf(plural, id), given);
    expect(changed.status).toBe(400);
    expect(invalidPathsOf(changed)).toEqual(paths);
    expect(leaks(canaries, { made: made.text, changed: changed.text })).toEqual([]);
    expect(made.text + changed.text).not.toContain('touch');
  };

  test.each([...notPem, ...morePem])('as a certificate, case %#', async (pem) => {
    await refused('hosts', { credentials: { ...credentials, certificate: pem } }, ['credentials.certificate']);
    await refused('hosts', { credentials: { ...credentials, ca_certificate: pem } }, ['credentials.ca_certificate']);
    await refused('clusters', { ca_certificate: pem, auth: tokenAuth }, ['ca_certificate']);
    await refused('clusters', { auth: { ...certificateAuth, certificate: pem } }, ['auth.certificate']);
  });

  test.each(['', 'x', KUBECONFIG, certificate, second.key])('as a key, case %#', async (pem) => {
    await refused('hosts', { credentials: { ...credentials, key: pem } }, ['credentials.key']);
    await refused('clusters', { auth: { ...certificateAuth, key: pem } }, ['auth.key']);
  });
});

test('errors of the credentials and of the address are reported together', async () => {
  const metadata = { endpoint: 'tcp://169.254.169.254:80', server: 'https://169.254.169.254' };
  const bad = { ...credentials, key: 'x', ca_certificate: 'y' };
  const host = await aHost();
  const cluster = await aCluster();
  const ofHost = { endpoint: metadata.endpoint, credentials: bad };
  const ofCluster = { server: metadata.server, ca_certificate: 'y', auth: { ...certificateAuth, key: 'x' } };
  const answers = [
    await asAdmin.post(pathOf('hosts'), { name: world.aName('bad'), engine: 'docker', ...ofHost }),
    await asAdmin.put(pathOf('hosts', host.id), ofHost),
    await asAdmin.post(pathOf('clusters'), { name: world.aName('bad'), ...ofCluster }),
    await asAdmin.put(pathOf('clusters', cluster.id), ofCluster),
  ];
  const ofHosts = ['credentials.ca_certificate', 'credentials.key', 'endpoint'];
  const ofClusters = ['auth.key', 'ca_certificate', 'server'];
  expect(answers.map(invalidPathsOf)).toEqual([ofHosts, ofHosts, ofClusters, ofClusters]);
});

test('a certificate chain is accepted if its first certificate matches the key', async () => {
  const chain = certificate + second.certificate;
  expect((await aHost({ credentials: { ...credentials, certificate: chain } })).has_credentials).toBe(true);
  const turned = { ...credentials, certificate: second.certificate + certificate };
  const request = { name: world.aName('chain'), engine: 'docker', endpoint: 'tcp://engine.example.test:1' };
  const answer = await asAdmin.post(pathOf('hosts'), { ...request, credentials: turned });
  expect(answer.status).toBe(400);
  expect(invalidPathsOf(answer)).toEqual(['credentials.key']);
});

test.each([
  ['has expired', aPair('fleet', '260102000000Z'), /^has expired on 2026-01-02T00:00:00.000Z/],
  ['is not valid yet', aPair('fleet', '490102000000Z', '490101000000Z'), /^is not valid before 2049-01-01/],
])('a client certificate that %s is refused, also when it is changed', async (_, invalid, message) => {
  const host = { engine: 'docker', endpoint: 'tcp://engine.example.test:2376' };
  const cluster = { server: 'https://cluster.example.test' };
  const ofHost = { credentials: { ...credentials, ...invalid } };
  const ofCluster = { auth: { kind: 'client_certificate', ...invalid } };
  const answers = [
    await asAdmin.post(pathOf('hosts'), { name: world.aName('invalid'), ...host, ...ofHost }),
    await asAdmin.put(pathOf('hosts', (await aHost()).id), { endpoint: host.endpoint, ...ofHost }),
    await asAdmin.post(pathOf('clusters'), { name: world.aName('invalid'), ...cluster, ...ofCluster }),
    await asAdmin.put(pathOf('clusters', (await aCluster()).id), ofCluster),
  ];
  for (const { status, body } of answers) {
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: [{ path: expect.stringMatching(/\.certificate$/), message: expect.stringMatching(message) }],
    });
  }
});
