// A hub counts a download when a template is requested by its slug.
import { eventually } from '@svc/testing/faults';
import { aTemplate } from '../../a-template.ts';
import { refuse, sendChanged } from '../../fake-hub.ts';
import { startDeploymentWorld } from '../world.ts';
import { delayedResponse } from './downloads.ts';

const it = await startDeploymentWorld();

const needless = {
  env_schema: [],
  volume_mounts: [],
  node_selector: {},
  required_network_types: [],
  registry_credentials: null,
  secret_refs: [],
};
const tool = aTemplate({ ...needless, slug: 'tool' });
const other = aTemplate({ ...needless, slug: 'other' });

beforeEach(async () => {
  await it.aHost();
  await it.publish(tool, other);
});

const downloadReports = () => it.client.downloadReport.findMany({ orderBy: { slug: 'asc' } });
const unreported = () => it.client.downloadReport.count({ where: { reported_at: null } });
const allReported = () => eventually('all download reports were sent', async () => (await unreported()) === 0);
/** Makes the last attempt old enough for another one. */
const later = () => it.client.$executeRaw`UPDATE download_reports SET claimed_at = now() - interval '61 seconds'`;
/** Syncs and sends the open download reports. */
const syncAndReport = async () => {
  await it.sync();
  it.world.sync.reportDownloads();
};

test('only the first deployment of a template sends a download report', async () => {
  const first = await it.deployed({ template: 'tool' });
  await allReported();
  expect(it.downloads.asked).toEqual(['tool']);
  await it.deployed({ template: 'tool' });
  await it.deployed({ workload_id: first.workload_id });
  await it.remove(first.id);
  await it.deployed({ template: 'other' });
  await allReported();
  await it.sync();
  await eventually('the other template was reported', async () => it.downloads.asked.length === 2);
  expect(it.downloads.asked).toEqual(['tool', 'other']);
});

test('a download report succeeds if the hub answers with a template that the fleet cannot read', async () => {
  it.downloads.behave(sendChanged((good) => ({ ...good, name: 1 })));
  await it.deployed({ template: 'tool' });
  await allReported();
  expect(it.downloads.asked).toEqual(['tool']);
});

test('a workload or a plan of a template sends no download report, and its deployment does', async () => {
  const { id } = await it.aWorkload({ template: 'tool' });
  await it.plan({ template: 'tool' });
  expect(await downloadReports()).toEqual([]);
  await it.deployed({ workload_id: id });
  await allReported();
  expect(it.downloads.asked).toEqual(['tool']);
});

test('neither a rejected deployment nor one without a template sends a download report', async () => {
  await it.deploy({ template: 'tool', env: { NOPE: 'x' } });
  await it.deployed();
  await syncAndReport();
  expect(await downloadReports()).toEqual([]);
  expect(it.downloads.asked).toEqual([]);
});

test('a deployment succeeds while the hub is unreachable, and a later sync sends its download report', async () => {
  await it.downloads.stopListening();
  await it.deployed({ template: 'tool' });
  await eventually('the report was attempted', async () => (await downloadReports())[0]?.claimed_at !== null);
  await it.downloads.startListening();
  expect(await unreported()).toBe(1);
  await later();
  await it.sync();
  await allReported();
  expect(it.downloads.asked).toEqual(['tool']);
});

test.each(['internal', 'rate_limited', 'unavailable', 'invalid_token'] as const)(
  'a download report is repeated later if the hub responds with %s',
  async (code) => {
    it.downloads.behave(refuse(code));
    await it.deployed({ template: 'tool' });
    await eventually('the hub received the report', async () => it.downloads.asked.length > 0);
    expect(await unreported()).toBe(1);
    it.downloads.forget();
    await later();
    await it.sync();
    await allReported();
    expect(it.downloads.asked).toEqual(['tool']);
  },
);

test('two fleet processes that deploy a template at the same time send one download report', async () => {
  const another = it.world.aReplica({ hub: it.address });
  const waiting = delayedResponse();
  it.downloads.behave(waiting.behaviour);
  const authorization = `Bearer ${(await it.world.aToken({ role: 'operator' })).secret}`;
  await Promise.all([
    it.deployed({ template: 'tool' }),
    another.api(authorization).post('/api/v1/deployments', { name: 'of-another', template: 'tool' }),
  ]);
  await eventually('the hub received a report', async () => it.downloads.asked.length > 0);
  another.sync.reportDownloads();
  it.world.sync.reportDownloads();
  await another.sync.run();
  waiting.release();
  await allReported();
  await another.sync.stop();
  expect(await it.client.deployment.count()).toBe(2);
  expect(it.downloads.asked).toEqual(['tool']);
});

test('a download report uses the current slug of a template', async () => {
  await it.downloads.stopListening();
  await it.deployed({ template: 'tool' });
  await eventually('the report was attempted', async () => (await downloadReports())[0]?.claimed_at !== null);
  await it.downloads.startListening();
  it.hub.publish({ ...tool, slug: 'the-tool' }, { ...other, slug: 'tool' });
  await later();
  await it.sync();
  await allReported();
  expect(it.downloads.asked).toEqual(['the-tool']);
});

test('a download report is not repeated if the hub does not have the template', async () => {
  it.downloads.behave(refuse('not_found'));
  await it.deployed({ template: 'tool' });
  await allReported();
  it.downloads.behave(refuse('not_found'));
  await later();
  await syncAndReport();
  await it.deployed({ template: 'other' }); // reports are sent one after the other
  await allReported();
  expect(it.downloads.asked).toEqual(['tool', 'other']);
});
