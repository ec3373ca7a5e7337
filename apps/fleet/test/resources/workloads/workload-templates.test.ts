// Workloads that are made from a template: what they copy from it, and how they compare to it
// later.
import { templateDefaults, templateExamples } from '@svc/contract';
import { workloadDefaults, workloadMembers } from '@svc/contract/fleet';
import { aTemplate } from '../../a-template.ts';
import { startFakeHub } from '../../fake-hub.ts';
import { invalidPathsOf, pathOf, type Shown, startResources } from '../resources.ts';

const hub = await startFakeHub();
const world = await startResources({ hub });
const { aName, asAdmin, client, make, read } = world;
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

type Template = ReturnType<typeof aTemplate>;

const synced = async () => {
  const { status, body } = await world.asOperator.post('/api/v1/catalog/sync');
  if (status !== 200) throw new Error(`the sync answered ${status}: ${JSON.stringify(body)}`);
};
const published = async (template: Template) => {
  hub.publish(template);
  await synced();
  return template;
};
const aPublished = (given: Partial<Template> = {}) => published(aTemplate(given));
const aWorkloadOf = ({ slug }: Template, given: object = {}) => make('workloads', { template: slug, ...given });
const stateOf = async ({ id }: Shown) => (await read('workloads', id)).template_state;
const put = (id: string, body: object) => asAdmin.put(pathOf('workloads', id), body);
const runs = (row: object) =>
  Object.fromEntries(workloadMembers.map((member) => [member, row[member as keyof object]]));

test('a workload copies every member of the template that specifies what runs, and shows the template', async () => {
  const template = await aPublished({ ...templateExamples, version: '3.1.4', min_tier: 'pro' });
  const workload = await aWorkloadOf(template);
  expect(runs(workload)).toEqual(runs(template));
  expect(workload).toMatchObject({
    template_id: template.id,
    template_slug: template.slug,
    template_version: '3.1.4',
    template_state: 'current',
    min_tier: 'pro',
    revision: 1,
  });
});

test('members of the request override those of the template individually', async () => {
  const template = await aPublished();
  const overrides = { image_tag: '19', env: [], registry_url: null, registry_credentials: null, node_selector: {} };
  expect(runs(await aWorkloadOf(template, overrides))).toEqual({ ...runs(template), ...overrides });
});

test('a workload of an unknown template is a 404, and one of a template without an image is rejected', async () => {
  const name = aName('nothing');
  expect((await asAdmin.post(pathOf('workloads'), { name, template: 'nowhere' })).body.code).toBe('not_found');
  const { slug } = await aPublished({ image_name: '', volume_mounts: [{ name: 'a', mountPath: '/' }] });
  const answer = await asAdmin.post(pathOf('workloads'), { name, template: slug });
  expect(answer.status).toBe(400);
  expect(invalidPathsOf(answer)).toEqual(['image_name', 'volume_mounts.0.mountPath']);
  const request = { name, template: slug, image_name: 'team/app', volume_mounts: [] };
  expect((await asAdmin.post(pathOf('workloads'), request)).status).toBe(201);
});

test('a template that was stored before most members were declared gives a workload their defaults', async () => {
  const template = await aPublished();
  const { id, image_name } = template;
  const isDeclaredLater = (member: string) => member in templateDefaults && member !== 'image_name';
  const document = Object.fromEntries(Object.entries(template).filter(([member]) => !isDeclaredLater(member)));
  await client.catalogTemplate.update({ where: { id }, data: { document } });
  const workload = await aWorkloadOf(template);
  expect(runs(workload)).toEqual({ ...workloadDefaults, image_name });
  await published({ ...template, ...workloadDefaults, image_name });
  expect(await stateOf(workload)).toBe('current');
});

test.each<[string, object, string, RegExp]>([
  ['a quantity', { cpu_request: 'abc' }, 'cpu_request', /Kubernetes quantity .*; the template has "abc"$/],
  ['a protocol', { ports: [{ containerPort: 80, protocol: 'QUIC' }] }, 'ports.0.protocol', /has "QUIC"$/],
  ['an effect', { tolerations: [{ key: 'a', effect: 'Warn' }] }, 'tolerations.0.effect', /one of: .* has "Warn"$/],
  ['a label key', { node_selector: { 'a b.c': 'd' } }, 'node_selector.a b.c', /label key .* has "d"$/],
  ['an empty quantity of jobs', { concurrent_jobs: 0 }, 'concurrent_jobs', /at least 1; the template has 0$/],
])(
  'a template with %s that this fleet does not support is mirrored, and a workload of it is a 422',
  async (_, given, path, message) => {
    const template = await aPublished(given);
    const shown = await asAdmin.get(`/api/v1/catalog/templates/${template.slug}`);
    expect(shown).toMatchObject({ status: 200, body: given });
    const answer = await asAdmin.post(pathOf('workloads'), { name: aName('new'), template: template.slug });
    expect(answer).toMatchObject({ status: 422, body: { code: 'unsupported_value' } });
    expect(answer.body.errors).toEqual([{ path, message: expect.stringMatching(message) }]);
    expect(answer.body.detail).toContain(path);
    const { id } = await world.aWorkload({ image_name: 'team/own' });
    expect((await put(id, { template: template.slug })).body.code).toBe('unsupported_value');
    const [member = ''] = Object.keys(given);
    // A member of `given`.
    const overridden = { [member]: templateDefaults[member as keyof typeof templateDefaults] };
    expect(runs(await aWorkloadOf(template, overridden))).toMatchObject(overridden);
  },
);

test('the errors for values that are not supported are bounded in number and length', async () => {
  const protocol = 'Q'.repeat(10_000);
  const { slug } = await aPublished({ ports: Array.from({ length: 200 }, () => ({ containerPort: 80, protocol })) });
  const { body } = await asAdmin.post(pathOf('workloads'), { name: aName('new'), template: slug });
  expect(body.code).toBe('unsupported_value');
  expect(body.errors).toHaveLength(20);
  expect(JSON.stringify(body).length).toBeLessThan(20_000);
});

describe('the template state of a workload', () => {
  test.each<[string, Partial<Template>]>([
    ['another icon', { icon_url: 'https://example.test/new.png' }],
    ['another description', { description: 'better said', documentation: '# New' }],
    ['another name', { name: 'A new name' }],
    ['other tags', { tags: ['new', 'newer'] }],
    ['another version', { version: '2.0.0' }],
    ['another tier', { min_tier: 'enterprise' }],
    ['another category', { category_id: aTemplate().category_id, category_name: 'New' }],
    ['its featured state', { is_featured: true, is_public: false }],
    ['its download count', { download_count: 4711 }],
  ])('stays current after a change of %s', async (_, change) => {
    const template = await aPublished();
    const workload = await aWorkloadOf(template);
    await published({ ...template, ...change });
    const [row] = await client.$queryRaw<{ document: object }[]>`
      SELECT document FROM catalog_templates WHERE id = ${template.id}::uuid`;
    expect(row?.document).toMatchObject(change);
    expect(await stateOf(workload)).toBe('current');
  });

  test('is outdated after a change of what runs, and current again once that is reverted', async () => {
    const template = await aPublished();
    const workload = await aWorkloadOf(template, { image_tag: 'of-our-own' });
    await published({ ...template, image_tag: '19' });
    expect(await stateOf(workload)).toBe('outdated');
    expect((await read('workloads', workload.id)).image_tag).toBe('of-our-own');
    await published(template);
    expect(await stateOf(workload)).toBe('current');
  });

  test('is withdrawn while the hub does not show the template, and the workload does not change', async () => {
    const template = await aPublished();
    const workload = await aWorkloadOf(template);
    hub.withdraw(template);
    await synced();
    expect(await read('workloads', workload.id)).toEqual({ ...workload, template_state: 'withdrawn' });
    expect((await put(workload.id, { image_tag: '19' })).body.workload).toMatchObject({ template_state: 'withdrawn' });
    expect((await put(workload.id, { template: template.slug })).status).toBe(404);
    await published(template);
    expect(await stateOf(workload)).toBe('current');
  });

  test('follows the template by its ID, not by its slug', async () => {
    const template = await aPublished();
    const workload = await aWorkloadOf(template);
    await published({ ...template, slug: `${template.slug}-moved` });
    const stranger = await aPublished({ slug: template.slug, image_name: 'somebody/else' });
    expect(await stateOf(workload)).toBe('current');
    await published({ ...template, slug: `${template.slug}-moved`, image_tag: '19' });
    expect(await stateOf(workload)).toBe('outdated');
    hub.withdraw(template);
    await synced();
    expect(await stateOf(workload)).toBe('withdrawn');
    expect((await aWorkloadOf(stranger)).image_name).toBe('somebody/else');
  });

  test('belongs to each revision', async () => {
    const template = await aPublished();
    const { id } = await aWorkloadOf(template);
    await published({ ...template, image_tag: '19' });
    await put(id, { template: template.slug });
    const { revisions } = (await asAdmin.get(`${pathOf('workloads', id)}/revisions`)).body;
    expect(revisions.map(({ template_state }: Shown) => template_state)).toEqual(['current', 'outdated']);
  });
});

describe('a change of a workload with `template`', () => {
  test('copies the current members of the template, and members of the request override them', async () => {
    const template = await aPublished();
    const { id } = await aWorkloadOf(template, { memory_request: '7Gi' });
    await put(id, { image_tag: 'pinned' });
    await published({ ...template, image_tag: '19', memory_request: '2Gi', cpu_request: '2', version: '2.0.0' });
    const { body } = await put(id, { template: template.slug, gpu_count: 1 });
    expect(body.workload).toMatchObject({
      image_tag: 'pinned',
      memory_request: '7Gi',
      cpu_request: '2',
      gpu_count: 1,
      revision: 3,
      template_version: '2.0.0',
      template_state: 'current',
    });
  });

  test('makes no revision if the template has not changed', async () => {
    const template = await aPublished();
    const { id } = await aWorkloadOf(template, { image_tag: '19' });
    expect((await put(id, { template: template.slug })).body.workload.revision).toBe(1);
  });

  test('treats members that are sent back as they were read as those of the template', async () => {
    const template = await aPublished();
    const workload = await aWorkloadOf(template);
    const sentBack = { ...workload, image_tag: 'pinned', labels: { edited: '' } };
    expect((await put(workload.id, sentBack)).body.workload).toMatchObject({ image_tag: 'pinned', revision: 2 });
    await published({ ...template, image_tag: '19', cpu_request: '2' });
    const { body } = await put(workload.id, { template: template.slug });
    expect(body.workload).toMatchObject({ image_tag: 'pinned', cpu_request: '2' });
  });

  test('switches to another template, even to one with the same members', async () => {
    const one = await aPublished();
    const twin = await aPublished();
    const { id } = await aWorkloadOf(one);
    const { workload } = (await put(id, { template: twin.slug })).body;
    expect(workload).toMatchObject({ template_id: twin.id, template_slug: twin.slug, revision: 2 });
    const other = await aPublished({ image_name: 'team/other', secret_refs: [] });
    expect((await put(id, { template: other.slug })).body.workload).toMatchObject({
      image_name: 'team/other',
      secret_refs: [],
      revision: 3,
      template_id: other.id,
      template_state: 'current',
    });
  });

  test('assigns a template to a workload without one', async () => {
    const template = await aPublished();
    const { id } = await world.aWorkload({ image_name: 'team/own' });
    const { workload } = (await put(id, { template: template.slug })).body;
    expect(workload).toMatchObject({ image_name: 'team/own', cpu_request: '500m', template_id: template.id });
    expect((await put(id, { template: null })).status).toBe(400);
  });
});
