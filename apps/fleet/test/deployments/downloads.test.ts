// A hub counts a download where a template is fetched by its slug.
import { eventually } from '@svc/testing/faults';
import { aTemplate } from '../a-template.ts';
import { refuse } from '../fake-hub.ts';
import { anAnswerThatWaits } from './downloads.ts';
import { startDeploymentWorld } from './world.ts';

const it = await startDeploymentWorld();

const needless = {
  ...{ env_schema: [], volume_mounts: [], node_selector: {}, required_network_types: [] },
  ...{ registry_credentials: null, secret_refs: [] },
};
const tool = aTemplate({ ...needless, slug: 'tool' });
const other = aTemplate({ ...needless, slug: 'other' });

beforeEach(async () => {
  await it.aHost();
  await it.publish(tool, other);
});

const uses = () => it.client.templateUse.findMany({ orderBy: { slug: 'asc' } });
const untold = () => it.client.templateUse.count({ where: { told_at: null } });
const told = () => eventually('the hub was told', async () => (await untold()) === 0);
/** As if the last try were long ago. */
const later = () => it.client.$executeRaw`UPDATE template_uses SET claimed_at = now() - interval '61 seconds'`;
/** Another sync, and what it tells the hub. */
const syncAndTell = async () => {
  await it.sync();
  it.world.sync.tellUses();
};

test('the first deployment of a template asks the hub for it, and no later one does', async () => {
  const first = await it.deployed({ template: 'tool' });
  await told();
  expect(it.downloads.asked).toEqual(['tool']);
  await it.deployed({ template: 'tool' });
  await it.deployed({ workload_id: first.workload_id });
  await it.remove(first.id);
  await it.deployed({ template: 'other' });
  await told();
  await it.sync();
  await eventually('the other was asked for', async () => it.downloads.asked.length === 2);
  expect(it.downloads.asked).toEqual(['tool', 'other']);
});

test('a workload of a template is no deployment of it; its deployment is', async () => {
  const { id } = await it.aWorkload({ template: 'tool' });
  await it.plan({ template: 'tool' });
  expect(await uses()).toEqual([]);
  await it.deployed({ workload_id: id });
  await told();
  expect(it.downloads.asked).toEqual(['tool']);
});

test('what is refused or written out is no download', async () => {
  await it.deploy({ template: 'tool', env: { NOPE: 'x' } });
  await it.deployed();
  await syncAndTell();
  expect(await uses()).toEqual([]);
  expect(it.downloads.asked).toEqual([]);
});

test('while the hub is away the deployment succeeds, and a later sync asks', async () => {
  await it.downloads.goAway();
  await it.deployed({ template: 'tool' });
  await eventually('it was tried', async () => (await uses())[0]?.claimed_at !== null);
  await it.downloads.comeBack();
  expect(await untold()).toBe(1);
  await later();
  await it.sync();
  await told();
  expect(it.downloads.asked).toEqual(['tool']);
});

test.each(['internal', 'rate_limited', 'unavailable', 'invalid_token'] as const)(
  'a hub that answers %s is asked again later',
  async (code) => {
    it.downloads.behave(refuse(code));
    await it.deployed({ template: 'tool' });
    await eventually('it was asked', async () => it.downloads.asked.length > 0);
    expect(await untold()).toBe(1);
    it.downloads.forget();
    await later();
    await it.sync();
    await told();
    expect(it.downloads.asked).toEqual(['tool']);
  },
);

test('two replicas that deploy at once ask once', async () => {
  const another = it.world.aReplica({ hub: it.address });
  const waiting = anAnswerThatWaits();
  it.downloads.behave(waiting.behaviour);
  const authorization = `Bearer ${(await it.world.aToken({ role: 'operator' })).secret}`;
  await Promise.all([
    it.deployed({ template: 'tool' }),
    another.api(authorization).post('/api/v1/deployments', { name: 'of-another', template: 'tool' }),
  ]);
  await eventually('one has asked', async () => it.downloads.asked.length > 0);
  another.sync.tellUses();
  it.world.sync.tellUses();
  await another.sync.run();
  waiting.letGo();
  await told();
  await another.sync.stop();
  expect(await it.client.deployment.count()).toBe(2);
  expect(it.downloads.asked).toEqual(['tool']);
});

test('a template whose slug moved is asked for by the one that it has now', async () => {
  await it.downloads.goAway();
  await it.deployed({ template: 'tool' });
  await eventually('it was tried', async () => (await uses())[0]?.claimed_at !== null);
  await it.downloads.comeBack();
  it.hub.publish({ ...tool, slug: 'the-tool' }, { ...other, slug: 'tool' });
  await later();
  await it.sync();
  await told();
  expect(it.downloads.asked).toEqual(['the-tool']);
});

test('one that the hub no longer has is not asked for again', async () => {
  it.downloads.behave(refuse('not_found'));
  await it.deployed({ template: 'tool' });
  await told();
  it.downloads.behave(refuse('not_found'));
  await later();
  await syncAndTell();
  await it.deployed({ template: 'other' }); // told after it, one after the other
  await told();
  expect(it.downloads.asked).toEqual(['tool', 'other']);
});
