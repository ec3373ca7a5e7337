// Each way in which another image than the signed one could reach a host, which records every request.
import { eventually } from '@svc/testing';
import { aPlainTemplate } from '../deployments/templates/advised.ts';
import { type Body, startDeploymentWorld } from '../deployments/world.ts';
import { aRecordingHost, digestOf } from './recording-host.ts';
import { aPublisher, keyringOf, signedBy } from './signed.ts';

const fleet = await startDeploymentWorld({ kept: true });
const { admin, client } = fleet;
const { engineRuntime } = fleet.world.services;
const acme = await aPublisher(fleet);

const REPOSITORY = 'registry.example.test/team/web';
const [signedDigest, movedDigest] = [digestOf('1'), digestOf('2')];
const aWeb = (slug: string, given: object = {}) =>
  aPlainTemplate({ slug, registry_url: 'registry.example.test', image_name: 'team/web', image_tag: '6', ...given });
const templates = {
  pinned: aWeb('pinned', { image_digest: signedDigest }),
  tagged: aWeb('tagged', { required_network_types: ['mesh'] }),
  client: aWeb('client', { env_schema: [{ name: 'SERVER' }] }),
};
const evil = aWeb('evil', { image_name: 'team/miner' });

let host: Awaited<ReturnType<typeof aRecordingHost>>;
const ids = { pinned: '', tagged: '', followed: '', byHand: '', lost: '' };

const require = (policy: object = {}) =>
  acme.policy({ mode: 'require', by_hand: 'refuse', overrides: 'none', ...policy });
let version = 1;
/** The publisher revokes its key, or lists it again. */
const issueKeyring = async (key: object = {}) => {
  version += 1;
  const keyring = await keyringOf(acme.root, { version, keys: [{ ...acme.key.key, ...key }] });
  expect((await admin.put('/api/v1/settings/publishers/acme/keyring', { keyring })).status).toBe(200);
};

/** Waits until a deployment runs its latest generation. */
const runs = (id: string) =>
  eventually('the deployment runs', () => fleet.deployment(id), {
    until: ({ phase, rollout, generation, observed_generation, image }) =>
      phase === 'running' &&
      observed_generation === generation &&
      rollout?.state !== 'progressing' &&
      image.digest !== null,
  });
const ask = async (id: string, operation: string, body?: Body) => {
  const { status, body: answered } = await fleet.ask(id, operation, body);
  return status === 200 ? 'ok' : answered.code;
};
const planOf = async (id: string) => (await fleet.plan({ deployment_id: id, upgrade: true })).body;
/** The reasons against the update of a deployment, in its plan and in the request, which must agree. */
async function updateOf(id: string): Promise<string> {
  const { digest: expected, trust, refusals } = await planOf(id);
  const code = await ask(id, 'upgrade', { expected });
  expect([code]).toEqual(refusals.length === 0 ? ['ok'] : refusals.map((refusal: { code: string }) => refusal.code));
  return refusals.length === 0 ? 'ok' : (trust.reason ?? code);
}

beforeAll(async () => {
  host = await aRecordingHost('1');
  engineRuntime.start();
  await fleet.aHost({ endpoint: host.endpoint, network_types: ['mesh'], addresses: { mesh: '10.1.2.3' } });
  const updates = { ready_seconds: 0 };
  await acme.trust();
  ids.byHand = (await fleet.deployed({ name: 'by-hand', workload: { ...imageOf(templates.tagged) }, updates })).id;
  ids.lost = (await fleet.deployed({ name: 'lost', workload: { ...imageOf(templates.tagged) }, updates })).id;
  await require();
  await fleet.publish(...(await Promise.all(Object.values(templates).map((each) => signedBy(acme.key, each)))), evil);
  ids.pinned = (await fleet.deployed({ name: 'pinned', template: 'pinned', updates })).id;
  ids.tagged = (await fleet.deployed({ name: 'tagged', template: 'tagged', updates })).id;
  ids.followed = (await fleet.deployed({ name: 'followed', template: 'tagged', updates })).id;
  for (const id of Object.values(ids)) await runs(id);
  host.moveTags('2');
});
afterAll(async () => {
  await engineRuntime.stop();
  await host?.stop();
});

const imageOf = ({ registry_url, image_name, image_tag }: typeof evil) => ({ registry_url, image_name, image_tag });

test('a tag that moves after the signature changes nothing of a template with a digest', async () => {
  expect(await ask(ids.pinned, 'check-image')).toBe('not_supported');
  for (const operation of ['restart', 'stop', 'start']) expect(await ask(ids.pinned, operation)).toBe('ok');
  expect((await runs(ids.pinned)).image).toMatchObject({ digest: signedDigest });
});

test('an update to another image of a tag is verified with the present keys and the present policy', async () => {
  expect(await ask(ids.tagged, 'check-image')).toBe('ok');
  await eventually(
    'the update is known',
    async () => (await fleet.deployment(ids.tagged)).update?.to_digest === movedDigest,
  );
  await require({ require_digest: true });
  expect(await updateOf(ids.tagged)).toBe('image_not_pinned');
  await require();
  await issueKeyring({ revoked: true });
  expect(await updateOf(ids.tagged)).toBe('key_revoked');
  await eventually(
    'the update of the same image is known',
    async () => (await fleet.deployment(ids.byHand)).update !== null,
  );
  expect(await updateOf(ids.byHand)).toBe('by_hand_refused');
});

test('an automatic update to another image is held', async () => {
  expect((await fleet.change(ids.followed, { updates: { from: 'image' } })).status).toBe(200);
  const { update } = await eventually('the update is held', () => fleet.deployment(ids.followed), {
    until: (shown) => shown.update?.held != null,
  });
  expect(update.held).toMatchObject({ reason: 'TemplateUntrusted', message: expect.stringContaining('key_revoked') });
  expect((await fleet.change(ids.followed, { updates: { from: 'manual' } })).status).toBe(200);
});

test('what runs can be scaled, stopped, started and restarted with a revoked key, and keeps its image', async () => {
  expect((await fleet.change(ids.tagged, { replicas: 2 })).status).toBe(200);
  for (const operation of ['restart', 'stop', 'start']) expect(await ask(ids.tagged, operation)).toBe('ok');
  expect((await runs(ids.tagged)).image).toMatchObject({ digest: signedDigest });
  expect(host.requests.filter((asked) => asked.includes(movedDigest))).toEqual([]);
});

test('an update that is trusted runs exactly the image that was found, and the earlier one can run again', async () => {
  await issueKeyring();
  expect(await updateOf(ids.tagged)).toBe('ok');
  expect((await runs(ids.tagged)).image).toMatchObject({ digest: movedDigest });
  await issueKeyring({ revoked: true });
  expect(await ask(ids.tagged, 'rollback')).toBe('ok');
  expect((await runs(ids.tagged)).image).toMatchObject({ digest: signedDigest });
  await issueKeyring();
});

test('what was never started is verified when it is started, and can be changed and deleted before', async () => {
  await acme.policy({ mode: 'off' });
  const { id } = await fleet.deployed({ name: 'never', template: 'evil', desired_state: 'stopped' });
  await require();
  expect(await ask(id, 'start')).toBe('template_untrusted');
  expect(await ask(id, 'restart')).toBe('template_untrusted');
  expect((await fleet.change(id, { replicas: 2 })).status).toBe(200);
  expect((await fleet.change(id, { labels: { a: 'b' } })).status).toBe(200);
  expect((await fleet.remove(id)).status).toBe(200);
});

test('addresses and composed values bring no image past the policy', async () => {
  const [port] = templates.tagged.ports;
  const address = { deployment: 'tagged', port: port?.containerPort };
  const forms = [address, { compose: `http://\${at}/`, with: { at: address } }];
  for (const SERVER of forms) {
    const { status, body } = await fleet.deploy({ template: 'client', env: { SERVER } });
    expect([status, body.errors]).toEqual([201, undefined]);
  }
  await fleet.publish({ ...(await signedBy(acme.key, templates.client)), ...imageOf(evil) });
  for (const SERVER of forms) {
    const { status, body } = await fleet.deploy({ template: 'client', env: { SERVER } });
    expect([status, body.code]).toEqual([422, 'template_untrusted']);
  }
});

test('an orphan is verified before its deployment is created again, and continues to run', async () => {
  const { host_id } = await client.deployment.findUniqueOrThrow({ where: { id: ids.lost } });
  await client.deployment.delete({ where: { id: ids.lost } });
  const orphans = `/api/v1/hosts/${host_id}/orphans`;
  const found = await eventually(
    'the orphan is found',
    async () => {
      await admin.post(`/api/v1/hosts/${host_id}/check`);
      return (await admin.get(orphans)).body.orphans.find(({ id }: { id: string }) => id === ids.lost);
    },
    { until: (orphan) => orphan !== undefined },
  );
  const refused = await fleet.operator.post(`${orphans}/${found.id}/adopt`, {});
  expect([refused.status, refused.body.code]).toEqual([422, 'by_hand_refused']);
  expect((await host.creationsOf(ids.lost)).map(({ removedAt }) => removedAt)).toEqual([null]);
});

test('the host has received only images that the publisher has signed', () => {
  expect(host.images()).toEqual([`${REPOSITORY}:6`, `${REPOSITORY}@${signedDigest}`, `${REPOSITORY}@${movedDigest}`]);
});
