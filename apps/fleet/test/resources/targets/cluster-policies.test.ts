// The policies of a cluster, which only admins change.
import { pathOf, type Shown, startResources } from '../resources.ts';

const world = await startResources();
const { aName, aCluster, aRoomyCluster, aDeployment, aWorkload, asAdmin, asOperator, client, read } = world;
afterAll(() => world.stop());

const DEFAULTS = {
  object_labels: {},
  object_annotations: {},
  pod_label_keys: [],
  service_account: null,
  allow_service_account_tokens: false,
  pull_secrets: [],
  priority_class: null,
  cluster_domain: 'cluster.local',
  uses_limit_range: false,
};
const POLICIES = {
  object_labels: { 'cost-center': '4711' },
  object_annotations: { 'example.com/owner': 'the platform team, room 7' },
  pod_label_keys: ['team', 'example.com/tier'],
  service_account: 'apps',
  allow_service_account_tokens: true,
  pull_secrets: ['mirror', 'other'],
  priority_class: 'low',
  cluster_domain: 'k8s.example.test',
  uses_limit_range: true,
};
const SERVER = 'https://cluster.example.test:6443';

const put = (as: typeof asAdmin, id: string, body: object) => as.put(pathOf('clusters', id), body);
const register = (as: typeof asAdmin, given: object) =>
  as.post(pathOf('clusters'), {
    name: aName('policed'),
    server: SERVER,
    auth: { kind: 'token', token: 'x' },
    ...given,
  });
const forbidden = ({ status, body }: Shown) => [status, body.code];
const errorsOf = ({ body }: Shown) => body.errors.map(({ path }: { path: string }) => path).sort();

test('a cluster has no policies at first, and those that an admin sets', async () => {
  const { id, ...made } = await aCluster();
  expect(made).toMatchObject({ ...DEFAULTS, fleet_account: null });
  expect((await put(asAdmin, id, POLICIES)).body.cluster).toMatchObject(POLICIES);
  expect(await read('clusters', id)).toMatchObject(POLICIES);
  expect((await put(asAdmin, id, { labels: { team: 'ml' } })).body.cluster).toMatchObject(POLICIES);
  expect((await put(asAdmin, id, DEFAULTS)).body.cluster).toMatchObject(DEFAULTS);
  expect((await register(asAdmin, POLICIES)).body.cluster).toMatchObject(POLICIES);
});

test('repeated keys and names are stored once', async () => {
  const given = { pod_label_keys: ['team', 'team'], pull_secrets: ['a', 'b', 'a'] };
  expect((await register(asAdmin, given)).body.cluster).toMatchObject({
    pod_label_keys: ['team'],
    pull_secrets: ['a', 'b'],
  });
});

describe('an operator', () => {
  test.each(Object.entries(POLICIES))('does not set %s of a cluster', async (member, value) => {
    const { id } = await aCluster();
    expect(forbidden(await put(asOperator, id, { [member]: value }))).toEqual([403, 'insufficient_scope']);
    expect(forbidden(await register(asOperator, { [member]: value }))).toEqual([403, 'insufficient_scope']);
    expect(await read('clusters', id)).toMatchObject(DEFAULTS);
  });

  test('registers a cluster without policies, and sends back those that an admin has set', async () => {
    const made = await register(asOperator, DEFAULTS);
    expect(made.status).toBe(201);
    const { id } = made.body.cluster;
    await put(asAdmin, id, POLICIES);
    const present = await read('clusters', id);
    expect((await put(asOperator, id, { ...present, network_types: ['mesh'] })).body.cluster).toMatchObject({
      ...POLICIES,
      network_types: ['mesh'],
    });
    expect(forbidden(await put(asOperator, id, { priority_class: null }))).toEqual([403, 'insufficient_scope']);
  });
});

test.each<[object, string[]]>([
  [{ object_labels: { 'fleet/deployment': 'x' } }, ['object_labels.fleet/deployment']],
  [{ object_labels: { 'app.kubernetes.io/name': 'x' } }, ['object_labels.app.kubernetes.io/name']],
  [{ object_labels: { 'pod-template-hash': 'x' } }, ['object_labels.pod-template-hash']],
  [{ object_labels: { 'a..b/team': 'x' } }, ['object_labels.a..b/team']],
  [{ object_labels: { team: 'not a label' } }, ['object_labels.team']],
  [{ object_annotations: { 'fleet/generation': '7' } }, ['object_annotations.fleet/generation']],
  [{ object_annotations: { note: 'x'.repeat(1025) } }, ['object_annotations.note']],
  [
    { pod_label_keys: ['team', 'fleet/deployment', 'app.kubernetes.io/name'] },
    ['pod_label_keys.1', 'pod_label_keys.2'],
  ],
  [{ service_account: 'Not A Name' }, ['service_account']],
  [{ pull_secrets: ['fine', '../secrets'] }, ['pull_secrets.1']],
  [{ priority_class: '' }, ['priority_class']],
  [{ cluster_domain: 'Cluster.local' }, ['cluster_domain']],
  [{ cluster_domain: 'cluster..local' }, ['cluster_domain']],
  [{ cluster_domain: 'x'.repeat(101) }, ['cluster_domain']],
])('the policies %p are refused', async (given, paths) => {
  const { status, ...answer } = await register(asAdmin, given);
  expect({ status, paths: errorsOf(answer) }).toEqual({ status: 400, paths });
});

describe('the account of the fleet', () => {
  const claims = (sub: string) => `x.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.x`;
  const token = (account: string, namespace = 'fleet') => ({
    kind: 'token',
    token: claims(`system:serviceaccount:${namespace}:${account}`),
  });
  const conditionOf = ({ conditions }: Shown) => {
    const found = conditions.find(({ type }: { type: string }) => type === 'AccountSeparate');
    return found && [found.status, found.reason];
  };

  test('is refused for pods, also as the default of the namespace whose token pods can have', async () => {
    const auth = token('fleet');
    expect(errorsOf(await register(asAdmin, { auth, service_account: 'fleet' }))).toEqual(['service_account']);
    const { cluster } = (await register(asAdmin, { auth, service_account: 'apps' })).body;
    expect([cluster.fleet_account, conditionOf(cluster)]).toEqual([
      'system:serviceaccount:fleet:fleet',
      ['True', 'OtherAccount'],
    ]);
    expect(errorsOf(await put(asAdmin, cluster.id, { service_account: 'fleet' }))).toEqual(['service_account']);
    const ofDefault = { auth: token('default'), allow_service_account_tokens: true };
    expect(errorsOf(await register(asAdmin, ofDefault))).toEqual(['service_account']);
    expect((await register(asAdmin, { auth: token('default') })).status).toBe(201);
  });

  test('is refused if other credentials, or another namespace, make it that of the pods', async () => {
    const elsewhere = { auth: token('apps', 'elsewhere'), service_account: 'apps' };
    const { id } = (await register(asAdmin, elsewhere)).body.cluster;
    expect(errorsOf(await put(asAdmin, id, { auth: token('apps') }))).toEqual(['service_account']);
    expect(errorsOf(await put(asAdmin, id, { namespace: 'elsewhere' }))).toEqual(['service_account']);
    expect((await put(asAdmin, id, { auth: token('fleet') })).body.cluster.fleet_account).toBe(
      'system:serviceaccount:fleet:fleet',
    );
  });

  test('is unknown for an opaque token, which a condition states if pods use an account', async () => {
    const { id, ...made } = await aCluster();
    expect(conditionOf(made)).toBeUndefined();
    expect(conditionOf((await put(asAdmin, id, { service_account: 'apps' })).body.cluster)).toEqual([
      'Unknown',
      'NotKnown',
    ]);
  });

  test('that a check finds to be that of the pods is shown, and refuses new deployments, but not other changes', async () => {
    const { id } = await aRoomyCluster({ service_account: 'apps' });
    await client.cluster.update({ where: { id }, data: { fleet_account: 'system:serviceaccount:fleet:apps' } });
    expect(conditionOf(await read('clusters', id))).toEqual(['False', 'AccountOfFleet']);
    const { id: workload_id } = await aWorkload();
    const body = { name: aName('refused'), workload_id, target: { cluster_id: id } };
    const refused = await asAdmin.post(pathOf('deployments'), body);
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [{ path: 'target', message: expect.stringMatching(/is the account of the fleet itself/) }],
    ]);
    expect((await put(asAdmin, id, { labels: { team: 'ml' } })).status).toBe(200);
    expect((await put(asAdmin, id, { service_account: 'others' })).status).toBe(200);
    expect((await asAdmin.post(pathOf('deployments'), body)).status).toBe(201);
  });
});

describe('a token of the account', () => {
  const anAgent = () => aWorkload({ service_account_token: true });

  test('is refused where no admin has allowed it, and the plan names what to change', async () => {
    const { id, name } = await aRoomyCluster();
    const { id: workload_id } = await anAgent();
    const target = { cluster_id: id };
    const { body } = await asAdmin.post(`${pathOf('deployments')}/plan`, { workload_id, target });
    expect(body).toMatchObject({ ok: false, refusals: [{ code: 'no_placement', path: 'target' }] });
    expect(body.placement.candidates[0].obstacles).toEqual([
      {
        code: 'token_not_allowed',
        message: 'gives pods no token of their account, which the workload requests',
        remedies: [{ object: 'target', field: 'allow_service_account_tokens', values: [] }],
      },
    ]);
    const { id: host_id } = await world.aRoomyHost();
    const onHost = await asAdmin.post(`${pathOf('deployments')}/plan`, { workload_id, target: { host_id } });
    expect(onHost.body.placement.candidates[0].obstacles).toMatchObject([
      { code: 'token_not_allowed', remedies: [{ object: 'workload', field: 'service_account_token' }] },
    ]);
    await put(asAdmin, id, { allow_service_account_tokens: true, service_account: 'apps' });
    const allowed = await asAdmin.post(`${pathOf('deployments')}/plan`, { workload_id, target });
    expect(allowed.body).toMatchObject({
      ok: true,
      service_account: { name: 'apps', token: true, is_new_token: true },
      placement: { candidates: [{ name, fits: true }] },
    });
    expect(JSON.stringify(allowed.body.manifest)).toContain('"automountServiceAccountToken":true');
  });

  test('cannot be forbidden while a deployment has one', async () => {
    const { id } = await aRoomyCluster({ allow_service_account_tokens: true });
    const { id: workload_id } = await anAgent();
    const made = await aDeployment({ workload_id, target: { cluster_id: id } });
    const again = await asAdmin.post(`${pathOf('deployments')}/plan`, { workload_id, target: { cluster_id: id } });
    expect(again.body.service_account).toEqual({ name: 'default', token: true, is_new_token: false });
    const { status, body } = await put(asAdmin, id, { allow_service_account_tokens: false });
    expect([status, body.code, body.errors]).toEqual([409, 'in_use', [{ path: 'deployment', message: made.name }]]);
    await asAdmin.post(`${pathOf('deployments', made.id)}/stop`, {});
    expect((await put(asAdmin, id, { allow_service_account_tokens: false })).status).toBe(200);
    const start = await asAdmin.post(`${pathOf('deployments', made.id)}/start`, {});
    expect([start.status, start.body.code]).toEqual([422, 'no_placement']);
  });

  test('is not in the plan of a workload that does not request it', async () => {
    const { id } = await aRoomyCluster({ allow_service_account_tokens: true });
    const { id: workload_id } = await aWorkload();
    const { body } = await asAdmin.post(`${pathOf('deployments')}/plan`, { workload_id, target: { cluster_id: id } });
    expect(body.service_account).toEqual({ name: 'default', token: false, is_new_token: false });
    const { id: host_id } = await world.aRoomyHost();
    const onHost = await asAdmin.post(`${pathOf('deployments')}/plan`, { workload_id, target: { host_id } });
    expect(onHost.body.service_account).toBeNull();
  });
});
