import { startCountedInstance } from '../../visibility/counting-proxy.ts';
import { startWorld } from '../../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';

const world = await startWorld();
const counted = await startCountedInstance(world);
afterAll(async () => {
  await counted.stop();
  await world.stop();
});

const organization = await world.anOrganization();
const hidden = await world.aCategory({ is_private: true });
const open = await world.aCategory();
const template = await world.aTemplate({ category_id: open.id });
await world.aTemplate({ category_id: hidden.id });
const api = counted.api(`Bearer ${organization.key}`);
const { body } = await api.get(`${TEMPLATES}/updates?cursor=start`);

const paths = {
  'a poll by since': `${TEMPLATES}/updates?since=${body.checked_at}`,
  'a poll by cursor': `${TEMPLATES}/updates?cursor=${body.cursor}`,
  'a list': TEMPLATES,
  'a list of a category': `${TEMPLATES}?category=${open.slug}`,
  'a search': `${TEMPLATES}?search=${template.slug}`,
  'a template': `${TEMPLATES}/${template.slug}`,
  'the categories': '/api/v1/catalog/categories',
  'the organization': '/api/v1/catalog/organization',
};
const statementsOf = (path: string, api = counted.api(`Bearer ${organization.key}`)) =>
  counted.during(async () => expect((await api.get(path)).status).toBe(200));

describe.each(Object.entries(paths))('%s', (_, path) => {
  test('takes one statement, which checks the revision, when it is known', async () => {
    await statementsOf(path);
    expect(await statementsOf(path)).toBe(1);
  });

  test('takes one statement more after a change that its caller does not see', async () => {
    await statementsOf(path);
    await world.aTemplate({ category_id: hidden.id });
    expect(await statementsOf(path)).toBe(path.endsWith('/organization') ? 1 : 2);
    expect(await statementsOf(path)).toBe(1);
  });
});

test('one check of the revision serves many concurrent requests', async () => {
  const path = paths['a poll by since'];
  await statementsOf(path);
  const statements = await counted.during(() => Promise.all(Array.from({ length: 40 }, () => api.get(path))));
  expect(statements).toBeLessThan(40);
});
