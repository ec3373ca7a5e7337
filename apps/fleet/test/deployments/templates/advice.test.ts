import type { Template } from '@svc/contract';
import request from 'supertest';
import { startDeploymentWorld } from '../world.ts';
import { anAdvisory, namesIn, withTemplate } from './advised.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet;
const { template, publish, withdraw, reset, deployed } = withTemplate(fleet);

beforeEach(async () => {
  await client.$executeRaw`TRUNCATE events`;
  reset();
  await fleet.aHost();
});

const adviceOf = async (id: string) => {
  const { template_revision, advice } = await fleet.deployment(id);
  return { template_revision, ...advice };
};
const isFull = () => fleet.hub.cursors().at(-1) === 'start';

describe('the advice of a deployment', () => {
  test('is that of an active template without advisories, and null without a template', async () => {
    await publish();
    const { id } = await deployed();
    const expected = { status: 'active', status_message: '', replacement: null, advisories: [], certain: true };
    expect(await adviceOf(id)).toEqual({ template_revision: 1, ...expected });
    expect(await fleet.deployed()).toMatchObject({ template_revision: null, advice: null });
  });

  test('has the advisories about the revision that it runs, and the status', async () => {
    await publish({ revision: 3 });
    const { id, workload_id } = await deployed();
    const about = {
      earlier: anAdvisory({ last_revision: 2 }),
      the_same: anAdvisory({ first_revision: 3, last_revision: 3 }),
      a_range: anAdvisory({ first_revision: 2, last_revision: 5, severity: 'note' }),
      all: anAdvisory({ severity: 'warning', url: null }),
      later: anAdvisory({ first_revision: 4 }),
    };
    const says = { status: 'deprecated', status_message: 'No longer maintained.', replacement: 'other' };
    await publish({ ...says, advisories: Object.values(about) });
    const applying = [about.the_same, about.a_range, about.all].map((advisory) => ({
      ...advisory,
      acknowledged: false,
    }));
    const expected = { template_revision: 3, ...says, advisories: applying, certain: true };
    expect(await adviceOf(id)).toEqual(expected);
    const { workload } = (await fleet.operator.get(`/api/v1/workloads/${workload_id}`)).body;
    const { revisions } = (await fleet.operator.get(`/api/v1/workloads/${workload_id}/revisions`)).body;
    for (const { template_revision, advice } of [workload, ...revisions])
      expect({ template_revision, ...advice }).toEqual(expected);
    await publish({ status: 'active', status_message: '', replacement: null, advisories: [] });
    expect(await adviceOf(id)).toMatchObject({ status: 'active', advisories: [] });
    expect(await client.catalogAdvice.count()).toBe(0);
  });

  test('lists all advisories and is not certain if the copied revision is not known', async () => {
    await publish({ revision: null });
    const { id } = await deployed();
    const advisories = [anAdvisory({ last_revision: 2 }), anAdvisory({ first_revision: 7 })];
    await publish({ revision: 9, image_tag: '19', advisories });
    const { template_revision, certain, ...advice } = await adviceOf(id);
    expect({ template_revision, certain }).toEqual({ template_revision: null, certain: false });
    expect(advice.advisories).toHaveLength(2);
  });

  test('is certain for a copy from before the hub had revisions, if the template has not changed since', async () => {
    await publish({ revision: null });
    const { id } = await deployed();
    await publish({ revision: 4, advisories: [anAdvisory({ last_revision: 3 })] });
    expect(await adviceOf(id)).toMatchObject({ template_revision: 4, certain: true, advisories: [] });
  });

  test('stays when an earlier version of the hub sends the template, and a full walk follows when revisions return', async () => {
    const says = {
      status: 'blocked',
      status_message: 'It is harmful.',
      advisories: [anAdvisory({ severity: 'note' })],
    };
    await publish();
    const { id } = await deployed();
    await publish(says);
    const older: Partial<Template> = { revision: null, status: 'active', status_message: '', advisories: [] };
    await publish({ ...older, description: 'changed' });
    expect(await adviceOf(id)).toMatchObject({ status: 'blocked', advisories: [says.advisories[0]] });
    const mirrored = (await fleet.operator.get('/api/v1/catalog/templates/tool')).body;
    expect(mirrored).toMatchObject({ ...says, description: 'changed' });
    await fleet.sync();
    expect(isFull()).toBe(false);
    await publish({ revision: 2, description: 'changed again' });
    await fleet.sync();
    expect(isFull()).toBe(true);
    await fleet.sync();
    expect(isFull()).toBe(false);
    expect(await adviceOf(id)).toMatchObject({ status: 'active', advisories: [] });
  });

  test('stays after the template has left the catalog, as long as a workload was made from it', async () => {
    await publish();
    const { id } = await deployed();
    await publish({ status: 'deprecated', status_message: 'Old.', advisories: [anAdvisory()] });
    await withdraw();
    expect(await adviceOf(id)).toMatchObject({ status: 'deprecated', advisories: [{ message: 'It deletes data.' }] });
    expect(await fleet.deployment(id)).toMatchObject({ template_state: 'withdrawn' });
    await client.deployment.deleteMany();
    await client.workload.deleteMany();
    await fleet.sync();
    expect(await client.catalogAdvice.count()).toBe(0);
  });

  test.each([
    ['an id that is no UUID', { id: 'one' }],
    ['a revision that is too large', { first_revision: 2 ** 31 }],
    ['text that cannot be stored', { message: 'a\0b' }],
  ])('is kept if the hub sends an advisory with %s', async (_, change) => {
    await publish();
    const { id } = await deployed();
    await publish({ advisories: [anAdvisory({ message: 'kept' })] });
    await publish({ advisories: [anAdvisory({ ...change })] });
    expect(await adviceOf(id)).toMatchObject({ advisories: [{ message: 'kept' }] });
    const { skipped } = (await fleet.operator.get('/api/v1/catalog/sync')).body;
    expect(skipped).toMatchObject({ total: 1, entries: [{ slug: 'tool' }] });
  });
});

describe('lists of deployments and workloads', () => {
  beforeEach(async () => {
    await publish({ revision: 1 });
    await deployed({ name: 'one' });
    await publish({ revision: 2, image_tag: '19' });
    await deployed({ name: 'two' });
    await fleet.deployed({ name: 'own', workload: { name: 'own-workload' } });
  });

  test.each(['deployments', 'workloads'] as const)('of %s filter by the state of the copy', async (list) => {
    expect(await namesIn(fleet, list, 'template_state=outdated')).toEqual(['one']);
    expect(await namesIn(fleet, list, 'template_state=current')).toEqual(['two']);
    expect(await namesIn(fleet, list, 'template_state=current,outdated,withdrawn')).toEqual(['one', 'two']);
    expect(await namesIn(fleet, list, 'template_state=withdrawn')).toEqual([]);
    await withdraw();
    expect(await namesIn(fleet, list, 'template_state=withdrawn')).toEqual(['one', 'two']);
  });

  test.each(['deployments', 'workloads'] as const)('of %s filter by the status of the template', async (list) => {
    expect(await namesIn(fleet, list, 'template_status=active')).toEqual(['one', 'two']);
    await publish({ status: 'deprecated' });
    expect(await namesIn(fleet, list, 'template_status=active')).toEqual([]);
    expect(await namesIn(fleet, list, 'template_status=deprecated,blocked')).toEqual(['one', 'two']);
  });

  test.each(['deployments', 'workloads'] as const)('of %s filter by the severity of advisories', async (list) => {
    const critical = anAdvisory({ last_revision: 1 });
    await publish({ advisories: [critical, anAdvisory({ severity: 'warning', first_revision: 2 })] });
    expect(await namesIn(fleet, list, 'advisory=critical')).toEqual(['one']);
    expect(await namesIn(fleet, list, 'advisory=warning')).toEqual(['one', 'two']);
    expect(await namesIn(fleet, list, 'advisory=note')).toEqual(['one', 'two']);
    await publish({ advisories: [critical, anAdvisory({ severity: 'of a later version' })] });
    expect(await namesIn(fleet, list, 'advisory=note')).toEqual(['one']);
  });
});

describe('advisories about what runs', () => {
  const listed = async () =>
    (await fleet.operator.get('/api/v1/events?kind=catalog&sort=at')).body.events.map(
      ({ object_id, name, severity, reason, resolved_at }: Record<string, unknown>) => ({
        object_id,
        name,
        severity,
        reason,
        isResolved: resolved_at !== null,
      }),
    );
  const opened = (id: string, isResolved: boolean) =>
    ({ object_id: id, name: 'tool', severity: 'warning', reason: 'TemplateAdvisory', isResolved }) as const;
  const ended = (id: string) =>
    ({ object_id: id, name: 'tool', severity: 'normal', reason: 'Recovered', isResolved: false }) as const;

  test('have one event each, which ends when the hub withdraws them', async () => {
    await publish();
    await deployed();
    const critical = anAdvisory();
    const advisories = [critical, anAdvisory({ severity: 'note' }), anAdvisory({ first_revision: 2 })];
    await publish({ advisories });
    await fleet.sync();
    await publish({ description: 'changed' });
    expect(await listed()).toEqual([opened(critical.id, false)]);
    await publish({ advisories: advisories.slice(1) });
    expect(await listed()).toEqual([opened(critical.id, true), ended(critical.id)]);
  });

  test('have an event that ends when nothing that they are about should run, and begins again', async () => {
    const warning = anAdvisory({ severity: 'warning' });
    await publish({ advisories: [warning] });
    const { id } = await deployed();
    await fleet.sync();
    expect(await listed()).toEqual([opened(warning.id, false)]);
    await fleet.ask(id, 'stop');
    await fleet.sync();
    expect(await listed()).toEqual([opened(warning.id, true), ended(warning.id)]);
    await fleet.ask(id, 'start');
    await fleet.sync();
    expect((await listed()).at(-1)).toEqual(opened(warning.id, false));
  });

  test('are counted by their highest severity until they are acknowledged', async () => {
    const advisories = [anAdvisory(), anAdvisory({ severity: 'warning' }), anAdvisory({ severity: 'warning' })];
    await publish();
    const { id } = await deployed();
    await deployed();
    await publish({ advisories });
    const counted = async () => {
      const { text } = await request(fleet.world.aReplica().app).get('/metrics');
      return text.split('\n').filter((line) => line.startsWith('deployments_with_advisories{'));
    };
    const lines = (note: number, warning: number, critical: number) =>
      Object.entries({ note, warning, critical }).map(
        ([severity, count]) => `deployments_with_advisories{severity="${severity}"} ${count}`,
      );
    expect(await counted()).toEqual(lines(0, 0, 2));
    expect((await fleet.change(id, { acknowledge: [advisories[0]?.id] })).status).toBe(200);
    expect(await counted()).toEqual(lines(0, 1, 1));
  });
});

test('a copy keeps the revision that is known, and loses no acknowledgement', async () => {
  await publish({ advisories: [anAdvisory()] });
  await client.$executeRaw`
    INSERT INTO workloads (id, name, created_by) VALUES (${template.id}::uuid, 'any', 'test')`;
  await client.$executeRaw`
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by, template_revision, acknowledged)
    VALUES (${template.id}::uuid, 1, '{}', '{}', 'test', 1, ARRAY[${template.id}::uuid])`;
  for (const change of [
    'template_revision = 2',
    'template_revision = NULL',
    "acknowledged = '{}'",
    "template_slug = 'x'",
  ])
    await expect(client.$executeRawUnsafe(`UPDATE workload_revisions SET ${change}`)).rejects.toThrow(
      'cannot be changed',
    );
});
