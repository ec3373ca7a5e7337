// A hub, or a bundle, that shows applications that their publisher has not signed, and a cluster that records every request.
import type { Application } from '@svc/contract';
import { aTemplate } from '../a-template.ts';
import { anApplication } from '../an-application.ts';
import { aBundle, importBundle } from '../catalog/bundles.ts';
import { aPlainTemplate } from '../deployments/templates/advised.ts';
import { aClusterWorld } from '../reconciler/clusters/world.ts';
import { aSigner, keyringOf, signedApplicationBy, signedBy } from './signed.ts';

const world = aClusterWorld();
const [root, key, stranger] = await Promise.all([aSigner(), aSigner(), aSigner()]);
const EVIL = 'evil.example.test';
const part = (name: string, given: object = {}) => ({
  name,
  registry_url: 'registry.example.test',
  image_name: `team/${name}`,
  image_tag: '6',
  ...given,
});
const evilPart = (name: string) => part(name, { registry_url: EVIL, image_name: 'miner' });
const wiki = anApplication({
  name: 'Wiki',
  inputs: [{ name: 'title', label: '', type: 'text', choices: [], required: false, default: 'Pages' }],
});
/** An application with parts as a hub sends them. */
const withParts = (parts: readonly object[], given: object = {}): Application =>
  anApplication({ ...wiki, ...given, parts: parts as Application['parts'] }); // `anApplication` adds the defaults
const PARTS = [part('database'), part('web', { env: [{ name: 'TITLE', value: `\${inputs.title}` }] })];
const signed = (parts: readonly object[], serial: number, by = key) =>
  signedApplicationBy(by, withParts(parts), { serial });
const good = await signed(PARTS, 6);

const received = (): string[] => {
  const images = world().server.requests.flatMap(({ body }) => body.match(/"image":"[^"]*"/g) ?? []);
  return [...new Set(images)].sort();
};

const show = async (shown: Application) => {
  world().hub.publishApplications(shown);
  await world().sync.run();
};

const other = aTemplate({ slug: 'other' });
let time = Date.now();
let count = 0;
let running = '';

/** What a fleet answers in each way in which it can come to run what is shown. */
async function attempt() {
  const { api, clusterId } = world();
  const body = { application: 'wiki', name: `attempt-${++count}`, target: { cluster_id: clusterId } };
  const created = await api.post('/api/v1/applications', body);
  const plan = await api.post('/api/v1/applications/plan', { ...body, name: 'planned' });
  const upgrade = await api.post('/api/v1/applications/plan', { application_id: running, upgrade: true });
  const upgraded = await api.post(`/api/v1/applications/${running}/upgrade`, { expected: upgrade.body.digest });
  expect([created.status, upgraded.status]).toEqual([422, 422]);
  const of = ({ code, path }: { code: string; path: string }) => [code, path];
  return {
    created: created.body.code,
    upgraded: upgraded.body.code,
    reason: plan.body.trust.reason,
    refused: plan.body.refusals.map((each: { part: string | null; code: string; path: string }) => [
      each.part,
      ...of(each),
    ]),
  };
}
const refusedBecause = (reason: string, parts: readonly (string | null)[]) => ({
  created: 'template_untrusted',
  upgraded: 'template_untrusted',
  reason,
  refused: parts.map((name) => [name, 'template_untrusted', 'application']),
});

beforeAll(async () => {
  const { api, good: succeed } = world();
  const images = ['registry.example.test/*', `${EVIL}/*`];
  await succeed(api.post('/api/v1/settings/publishers', { slug: 'acme', name: 'Acme', root: root.key, images }));
  const keyring = await keyringOf(root, { keys: [key.key] });
  world().hub.setPublishers({ slug: 'acme', name: 'Acme', keyring, transitions: [] });
  await succeed(api.put('/api/v1/settings/trust', { mode: 'require', by_hand: 'refuse', overrides: 'none' }));
  await show(good);
  const target = { cluster_id: world().clusterId };
  const created = await succeed(api.post('/api/v1/applications', { name: 'wiki', application: 'wiki', target }));
  running = created.application.id;
  for (const { deployment_id } of created.application.parts) await world().deploymentIs(deployment_id, 'running');
});

const attacks: [string, () => Promise<Application>, string, (string | null)[]][] = [
  [
    'an injected part',
    async () => ({ ...good, ...only(withParts([...PARTS, evilPart('miner')])) }),
    'uncovered_member',
    ['miner'],
  ],
  [
    "a changed part's image",
    async () => ({ ...good, ...only(withParts([part('database'), evilPart('web')])) }),
    'content_changed',
    ['web'],
  ],
  [
    'a changed variable, with which no part has a new revision',
    async () => ({
      ...good,
      ...only(
        withParts([PARTS[0] ?? {}, part('web', { env: [{ name: 'TITLE', value: `${EVIL} \${inputs.title}` }] })]),
      ),
    }),
    'content_changed',
    ['web'],
  ],
  ['no signatures', async () => ({ ...withParts([evilPart('web')]), signatures: [] }), 'unsigned', [null]],
  ['an older serial', () => signed([evilPart('web')], 5), 'rollback', [null]],
  ['two contents with one serial', () => signed([evilPart('web')], 6), 'equivocation', [null]],
  ['the key of a stranger', () => signed([evilPart('web')], 7, stranger), 'unknown_key', [null]],
  [
    'the statement about a template',
    async () => {
      const template = aTemplate({ slug: 'wiki', name: 'Wiki', registry_url: EVIL, image_name: 'miner' });
      return { ...withParts([evilPart('web')]), signatures: (await signedBy(key, template, { serial: 7 })).signatures };
    },
    'signature_invalid',
    [null],
  ],
  [
    'the statement about another application',
    async () => {
      const other = await signedApplicationBy(key, withParts([evilPart('web')], { slug: 'other' }), { serial: 7 });
      return { ...withParts([evilPart('web')]), signatures: other.signatures };
    },
    'content_changed',
    [null],
  ],
];

const only = ({ parts }: Application) => ({ parts });

test.each(attacks)('nothing of %s reaches the cluster', async (_name, make, reason, parts) => {
  await show(await make());
  expect(await attempt()).toEqual(refusedBecause(reason, parts));
});

test('the statement about an application makes no template trusted', async () => {
  const template = aPlainTemplate({ slug: 'wiki', name: 'Wiki', registry_url: EVIL, image_name: 'miner' });
  world().hub.publish({ ...template, signatures: good.signatures });
  await world().sync.run();
  const target = { cluster_id: world().clusterId };
  const { body } = await world().api.post('/api/v1/deployments', { name: 'as-template', template: 'wiki', target });
  expect(body.code).toBe('template_untrusted');
});

test('nothing that a request or a file describes reaches the cluster', async () => {
  const target = { cluster_id: world().clusterId };
  const spec = { parts: [evilPart('web')] };
  const { api } = world();
  const described = await api.post('/api/v1/applications', { name: 'by-hand', spec, target });
  expect([described.status, described.body.code]).toEqual([422, 'by_hand_refused']);
  const changed = await api.put(`/api/v1/applications/${running}`, { spec });
  expect([changed.status, changed.body.code]).toEqual([422, 'by_hand_refused']);
});

test.each(attacks)('nothing of %s in a bundle reaches the cluster', async (_name, make, reason, parts) => {
  time += 1000;
  const bundle = aBundle({
    templates: [other],
    applications: [await make()],
    checked_at: new Date(time).toISOString(),
  });
  expect((await importBundle(world().api, bundle, '?force=true')).status).toBe(200);
  expect(await attempt()).toEqual(refusedBecause(reason, parts));
});

test('what the cluster received is only what the publisher signed, which still runs', async () => {
  expect(received()).toEqual([
    '"image":"registry.example.test/team/database:6"',
    '"image":"registry.example.test/team/web:6"',
  ]);
  expect(JSON.stringify(world().server.requests)).not.toContain(EVIL);
  const { body } = await world().api.get('/api/v1/applications');
  expect(body.applications.map(({ name, phase }: { name: string; phase: string }) => [name, phase])).toEqual([
    ['wiki', 'running'],
  ]);
});
