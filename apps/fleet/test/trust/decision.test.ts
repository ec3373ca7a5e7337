// What a fleet deploys of what a hub shows, with a policy that requires signatures.
import type { Template } from '@svc/contract';
import { aPlainTemplate, withTemplate } from '../deployments/templates/advised.ts';
import { type Body, reasonsOf, startDeploymentWorld } from '../deployments/world.ts';
import { sendChanged } from '../fake-hub.ts';
import { aPublisher, aSigner, keyringOf, signedBy } from './signed.ts';

const fleet = await startDeploymentWorld();
const { client, operator, admin, hub } = fleet;
const acme = await aPublisher(fleet);
const template = aPlainTemplate();
const { publish, reset, deployed } = withTemplate(fleet, template);
const good = await signedBy(acme.key, template, { serial: 5 });
const stranger = await aSigner();

beforeEach(async () => {
  reset();
  await acme.forget();
  await fleet.aHost();
});

const require = async (policy: object = {}) => {
  await acme.trust();
  await acme.policy({ mode: 'require', ...policy });
};

/** The reason of a refusal, or `ok`, of a plan and of a creation, which must agree. */
async function outcome(body: Body = { template: 'tool' }): Promise<string> {
  const plan = await fleet.plan({ ...body });
  const created = await fleet.deploy({ ...body });
  const codes = new Set((plan.body.refusals ?? []).map(({ code }: { code: string }) => code));
  expect(created.status === 201 ? [] : [created.body.code]).toEqual([...codes]);
  return created.status === 201 ? 'ok' : (plan.body.trust.reason ?? created.body.code);
}

describe('with a policy that requires trust', () => {
  beforeEach(() => require());

  test('a template is deployed as its publisher signed it, and the plan states who did', async () => {
    await publish(good);
    expect((await fleet.plan({ template: 'tool' })).body.trust).toMatchObject({
      state: 'trusted',
      publisher: 'acme',
      publisher_name: 'Acme',
      key: acme.key.key.kid,
      serial: 5,
      reason: null,
    });
    expect(await outcome()).toBe('ok');
  });

  const evil: [string, () => Promise<Partial<Template>> | Partial<Template>, string][] = [
    ['another image', () => ({ ...good, image_name: 'someone/miner' }), 'content_changed'],
    ['another command', () => ({ ...good, command: ['sh', '-c', 'evil'] }), 'content_changed'],
    ['no signatures', () => ({ ...good, signatures: [] }), 'unsigned'],
    ['a malformed signature', () => ({ ...good, signatures: ['x.y.z'] }), 'signature_invalid'],
    ['the signature of a stranger', () => signedBy(stranger, template), 'unknown_key'],
    [
      'the signature of the key for another publisher',
      () => signedBy(acme.key, template, { publisher: 'zeta' }),
      'signature_invalid',
    ],
    [
      'the signature of another template',
      async () => ({ signatures: (await signedBy(acme.key, { ...template, slug: 'other-tool' })).signatures }),
      'content_changed',
    ],
  ];
  test.each(evil)('a template with %s is refused', async (_name, shown, expected) => {
    await publish({ ...template, ...(await shown()) });
    expect(await outcome()).toBe(expected);
    expect(await client.deployment.count()).toBe(0);
  });

  test('members that belong to the hub can change', async () => {
    await publish({ ...good, category_slug: 'moved', tags: ['x'], is_featured: true, min_tier: 'free' });
    expect(await outcome()).toBe('ok');
  });

  test('a member that the signature does not cover is refused with another value than its default', async () => {
    await publish(good);
    hub.behave(
      sendChanged((page) => ({
        ...page,
        templates: page.templates.map((each: Template) => ({ ...each, ports: [{ ...each.ports[0], hostPort: 22 }] })),
      })),
    );
    await admin.post('/api/v1/catalog/sync', { full: true });
    expect(await outcome()).toBe('content_changed');
  });

  test('an older serial, and other content with the same one, are refused after a later one', async () => {
    await publish(await signedBy(acme.key, { ...template, image_tag: '19' }, { serial: 6 }));
    expect(await outcome()).toBe('ok');
    await publish(good);
    expect(await outcome()).toBe('rollback');
    await publish(await signedBy(acme.key, { ...template, image_tag: '20' }, { serial: 6 }));
    expect(await outcome()).toBe('equivocation');
    await publish(await signedBy(acme.key, { ...template, image_tag: '20' }, { serial: 7 }));
    expect(await outcome()).toBe('ok');
    await publish(await signedBy(acme.key, { ...template, image_tag: '19' }, { serial: 6 }));
    expect(await outcome()).toBe('rollback');
  });

  test('a copy of an older serial stays refused, although it is stored', async () => {
    await publish(await signedBy(acme.key, template, { serial: 6 }));
    await deployed();
    await publish(good);
    const created = await operator.post('/api/v1/workloads', { name: 'old', template: 'tool' });
    expect(created.status).toBe(201);
    expect(await outcome({ workload_id: created.body.workload.id })).toBe('rollback');
  });

  test('a stored copy is verified with the present keys, and what has run can run again', async () => {
    await publish(good);
    const { id, workload_id } = await deployed();
    const keyring = await keyringOf(acme.root, { version: 2, keys: [{ ...acme.key.key, revoked: true }] });
    await admin.put('/api/v1/settings/publishers/acme/keyring', { keyring });
    expect(await outcome({ workload_id })).toBe('key_revoked');
    for (const operation of ['stop', 'start', 'restart']) expect((await fleet.ask(id, operation)).status).toBe(200);
    expect((await fleet.change(id, { replicas: 2 })).status).toBe(200);
  });

  test('an update to a template that is not trusted is refused, and the deployment stays as it is', async () => {
    await publish(good);
    const { id, version } = await deployed();
    await publish({ ...good, image_tag: '19' });
    const planned = await fleet.plan({ deployment_id: id, upgrade: true });
    expect(planned.body.trust.reason).toBe('content_changed');
    const { digest: expected } = planned.body;
    const refused = await fleet.ask(id, 'upgrade', { expected });
    expect([refused.status, refused.body.code]).toEqual([422, 'template_untrusted']);
    expect(reasonsOf(refused)).toMatchObject([{ path: 'template', message: expect.stringContaining('image_tag') }]);
    expect(await fleet.deployment(id)).toMatchObject({ version, revision: 1 });
  });

  test('an image and a secret outside the scope of the publisher are refused', async () => {
    await publish(good);
    await admin.put('/api/v1/settings/publishers/acme', { images: ['docker.io/library/*'] });
    expect(await outcome()).toBe('image_out_of_scope');
    await admin.put('/api/v1/settings/publishers/acme', { images: ['ghcr.io/*'], slugs: ['other-*'] });
    expect(await outcome()).toBe('slug_out_of_scope');
  });

  test('an exception admits exactly its content, until it expires', async () => {
    const unsigned = { ...good, signatures: (await signedBy(stranger, template)).signatures };
    await publish(unsigned);
    const { content } = (await fleet.plan({ template: 'tool' })).body.trust;
    const exception = { slug: 'tool', content, reason: 'until it is signed' };
    const except = (days: number) =>
      acme.policy({
        mode: 'require',
        exceptions: [{ ...exception, expires_at: new Date(Date.now() + days * 86_400_000).toISOString() }],
      });
    await except(1);
    expect((await fleet.plan({ template: 'tool' })).body.trust).toMatchObject({
      state: 'excepted',
      reason: 'unknown_key',
    });
    expect((await fleet.deploy({ template: 'tool' })).status).toBe(201);
    await publish({ ...unsigned, image_tag: '19' });
    expect((await fleet.deploy({ template: 'tool' })).body.code).toBe('template_untrusted');
    await publish(unsigned);
    await except(-1);
    expect((await fleet.deploy({ template: 'tool' })).body.code).toBe('template_untrusted');
    expect((await except(91)).status).toBe(400);
  });
});

test('without a keyring, nothing of the publisher is trusted', async () => {
  await acme.policy({ mode: 'require' });
  await admin.post('/api/v1/settings/publishers', { slug: 'acme', name: 'Acme', root: acme.root.key, images: ['*'] });
  await publish(good);
  expect(await outcome()).toBe('keyring_missing');
});

test('images must be named by digest if the policy says so', async () => {
  await require({ require_digest: true });
  await publish(good);
  expect(await outcome()).toBe('image_not_pinned');
  const image_digest = `sha256:${'a'.repeat(64)}`;
  await publish(await signedBy(acme.key, { ...template, image_digest }, { serial: 6 }));
  expect(await outcome()).toBe('ok');
});

test('with the mode warn, everything is deployed, and the plan states what would be refused', async () => {
  await require({ mode: 'warn' });
  await publish({ ...good, signatures: [] });
  const plan = await fleet.plan({ template: 'tool' });
  expect(plan.body).toMatchObject({ ok: true, trust: { state: 'untrusted', reason: 'unsigned' } });
  expect((await fleet.deploy({ template: 'tool' })).status).toBe(201);
});

test('by default nothing is verified, and signed templates are deployed as before', async () => {
  await publish({ ...good, image_tag: '19' });
  expect((await fleet.plan({ template: 'tool' })).body).toMatchObject({ ok: true, trust: { state: 'off' } });
  expect((await fleet.deploy({ template: 'tool' })).status).toBe(201);
});

test('the policy applies only to targets with its labels', async () => {
  await require({ targets: { zone: 'production' } });
  await publish({ ...good, signatures: [] });
  const guarded = await fleet.aHost({ labels: { zone: 'production' } });
  const other = await fleet.aHost({ labels: { zone: 'test' } });
  const on = (host_id: string) => fleet.deploy({ template: 'tool', target: { host_id } });
  expect((await on(guarded.id)).body.code).toBe('template_untrusted');
  expect((await on(other.id)).status).toBe(201);
});

test('a placement chooses a target to which the policy does not apply for what it refuses, if there is one', async () => {
  await require({ targets: { zone: 'production' } });
  await publish({ ...good, signatures: [] });
  await client.host.deleteMany();
  const labels = { zone: 'production' };
  await fleet.aHost({ labels, cpus: 4 });
  const other = await fleet.aHost({ labels: { zone: 'test' }, cpus: 16 });
  await fleet.aHost({ labels, cpus: 64 });
  const placed = await fleet.deploy({ template: 'tool' });
  expect([placed.status, placed.body.deployment?.target.host_id]).toEqual([201, other.id]);
  await client.host.update({ where: { id: other.id }, data: { cpu_millis: 1 } });
  expect((await fleet.deploy({ template: 'tool' })).body.code).toBe('template_untrusted');
});

test.each([
  ['allow', 'ok', 'ok'],
  ['admin', 'by_hand_refused', 'ok'],
  ['refuse', 'by_hand_refused', 'by_hand_refused'],
])('with by_hand %s, an operator gets %s and an admin %s', async (by_hand, ofOperator, ofAdmin) => {
  await require({ by_hand });
  const workload_id = (await fleet.aWorkload()).id;
  const deploy = async (as: typeof admin) => {
    const { status, body } = await as.post('/api/v1/deployments', { name: fleet.aName('by-hand'), workload_id });
    return status === 201 ? 'ok' : body.code;
  };
  expect([await deploy(operator), await deploy(admin)]).toEqual([ofOperator, ofAdmin]);
});

test.each([
  ['any', 'ok', 'ok'],
  ['admin', 'override_refused', 'ok'],
  ['none', 'override_refused', 'override_refused'],
])(
  'with overrides %s, an operator who changes the image gets %s and an admin %s',
  async (overrides, ofOperator, ofAdmin) => {
    await require({ overrides });
    await publish(good);
    const make = (given: object) =>
      operator.post('/api/v1/workloads', { name: fleet.aName('own'), template: 'tool', ...given });
    const changed = (await make({ image_tag: '19' })).body.workload.id;
    const larger = (await make({ memory_request: '2Gi', env: [{ name: 'A', value: 'b' }] })).body.workload.id;
    const deploy = async (as: typeof admin, workload_id: string) => {
      const { status, body } = await as.post('/api/v1/deployments', { name: fleet.aName('own'), workload_id });
      return status === 201 ? 'ok' : body.code;
    };
    expect([await deploy(operator, changed), await deploy(admin, changed)]).toEqual([ofOperator, ofAdmin]);
    expect(await deploy(operator, larger)).toBe('ok');
  },
);

test('a dry run counts what a policy would refuse, by reason, and changes nothing', async () => {
  await acme.trust();
  await publish(good);
  await deployed({ name: 'signed' });
  await fleet.deployed({ name: 'by-hand', workload: {} });
  await publish({ ...good, signatures: [] });
  const plan = await admin.post('/api/v1/settings/trust/plan', { mode: 'require', by_hand: 'refuse' });
  expect(plan.body).toMatchObject({
    templates: { total: 2, refused: 2 },
    deployments: { total: 2, refused: 1 },
    reasons: [
      { reason: 'by_hand_refused', templates: 0, deployments: 1 },
      { reason: 'unsigned', templates: 2, deployments: 0 },
    ],
  });
  const refused = plan.body.refusals.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`);
  expect(refused.toSorted()).toEqual(['deployment by-hand', 'template other', 'template tool']);
  expect((await admin.get('/api/v1/settings/trust')).body.mode).toBe('off');
});
