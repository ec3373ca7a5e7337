import { eventually } from '@svc/testing';
// A hub counts a download when a template is requested by its slug.
import { aTemplate } from '../../a-template.ts';
import { refuse, sendChanged } from '../../fake-hub.ts';
import { startDeploymentWorld } from '../world.ts';
import { delayedResponse } from './downloads.ts';

const fleet = await startDeploymentWorld();

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
  await fleet.aHost();
  await fleet.publish(tool, other);
});

const downloadReports = () => fleet.client.downloadReport.findMany({ orderBy: { slug: 'asc' } });
const unreported = () => fleet.client.downloadReport.count({ where: { reported_at: null } });
const allReported = () => eventually('all download reports were sent', async () => (await unreported()) === 0);
/** Makes the last attempt old enough for another one. */
const later = () => fleet.client.$executeRaw`UPDATE download_reports SET claimed_at = now() - interval '61 seconds'`;
/** Syncs and sends the open download reports. */
const syncAndReport = async () => {
  await fleet.sync();
  fleet.world.sync.reportDownloads();
};

test('only the first deployment of a template sends a download report', async () => {
  const first = await fleet.deployed({ template: 'tool' });
  await allReported();
  expect(fleet.downloads.asked).toEqual(['tool']);
  await fleet.deployed({ template: 'tool' });
  await fleet.deployed({ workload_id: first.workload_id });
  await fleet.remove(first.id);
  await fleet.deployed({ template: 'other' });
  await allReported();
  await fleet.sync();
  await eventually('the other template was reported', async () => fleet.downloads.asked.length === 2);
  expect(fleet.downloads.asked).toEqual(['tool', 'other']);
});

test('a download report succeeds if the hub answers with a template that the fleet cannot read', async () => {
  fleet.downloads.behave(sendChanged((good) => ({ ...good, name: 1 })));
  await fleet.deployed({ template: 'tool' });
  await allReported();
  expect(fleet.downloads.asked).toEqual(['tool']);
});

test('a workload or a plan of a template sends no download report, and its deployment does', async () => {
  const { id } = await fleet.aWorkload({ template: 'tool' });
  await fleet.plan({ template: 'tool' });
  expect(await downloadReports()).toEqual([]);
  await fleet.deployed({ workload_id: id });
  await allReported();
  expect(fleet.downloads.asked).toEqual(['tool']);
});

test('neither a rejected deployment nor one without a template sends a download report', async () => {
  await fleet.deploy({ template: 'tool', env: { NOPE: 'x' } });
  await fleet.deployed();
  await syncAndReport();
  expect(await downloadReports()).toEqual([]);
  expect(fleet.downloads.asked).toEqual([]);
});

test('a deployment succeeds while the hub is unreachable, and a later sync sends its download report', async () => {
  await fleet.downloads.stopListening();
  await fleet.deployed({ template: 'tool' });
  await eventually('the report was attempted', async () => (await downloadReports())[0]?.claimed_at !== null);
  await fleet.downloads.startListening();
  expect(await unreported()).toBe(1);
  await later();
  await fleet.sync();
  await allReported();
  expect(fleet.downloads.asked).toEqual(['tool']);
});

test.each(['internal', 'rate_limited', 'unavailable', 'invalid_token'] as const)(
  'a download report is repeated later if the hub responds with %s',
  async (code) => {
    fleet.downloads.behave(refuse(code));
    await fleet.deployed({ template: 'tool' });
    await eventually('the hub received the report', async () => fleet.downloads.asked.length > 0);
    expect(await unreported()).toBe(1);
    fleet.downloads.forget();
    await later();
    await fleet.sync();
    await allReported();
    expect(fleet.downloads.asked).toEqual(['tool']);
  },
);

test('two fleet processes that deploy a template at the same time send one download report', async () => {
  const another = fleet.world.aReplica({ hub: fleet.address });
  const waiting = delayedResponse();
  fleet.downloads.behave(waiting.behaviour);
  const authorization = `Bearer ${(await fleet.world.aToken({ role: 'operator' })).secret}`;
  await Promise.all([
    fleet.deployed({ template: 'tool' }),
    another.api(authorization).post('/api/v1/deployments', { name: 'of-another', template: 'tool' }),
  ]);
  await eventually('the hub received a report', async () => fleet.downloads.asked.length > 0);
  another.sync.reportDownloads();
  fleet.world.sync.reportDownloads();
  await another.sync.run();
  waiting.release();
  await allReported();
  await another.sync.stop();
  expect(await fleet.client.deployment.count()).toBe(2);
  expect(fleet.downloads.asked).toEqual(['tool']);
});

test('a download report uses the current slug of a template', async () => {
  await fleet.downloads.stopListening();
  await fleet.deployed({ template: 'tool' });
  await eventually('the report was attempted', async () => (await downloadReports())[0]?.claimed_at !== null);
  await fleet.downloads.startListening();
  fleet.hub.publish({ ...tool, slug: 'the-tool' }, { ...other, slug: 'tool' });
  await later();
  await fleet.sync();
  await allReported();
  expect(fleet.downloads.asked).toEqual(['the-tool']);
});

test('a download report is not repeated if the hub does not have the template', async () => {
  fleet.downloads.behave(refuse('not_found'));
  await fleet.deployed({ template: 'tool' });
  await allReported();
  fleet.downloads.behave(refuse('not_found'));
  await later();
  await syncAndReport();
  await fleet.deployed({ template: 'other' }); // reports are sent one after the other
  await allReported();
  expect(fleet.downloads.asked).toEqual(['tool', 'other']);
});
