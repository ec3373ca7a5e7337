// Which requests the status and the advisories of a template refuse.
import type { Advisory, Template } from '@svc/contract';
import type { Answered } from '@svc/testing';
import { type Body, reasonsOf, startDeploymentWorld } from '../world.ts';
import { anAdvisory, aPlainTemplate, withTemplate } from './advised.ts';

const fleet = await startDeploymentWorld();
const { client, operator } = fleet;
const { publish, withdraw, reset, deployed } = withTemplate(
  fleet,
  aPlainTemplate({ env: [{ name: 'MODE', value: 'a' }] }),
);

beforeEach(async () => {
  reset();
  await fleet.aHost();
});

const flaw = anAdvisory();
const codeOf = ({ status, body }: Answered) => (status < 300 ? 'ok' : body.code);
const codeOfPlan = ({ body }: Answered) => {
  if (body.ok) return 'ok';
  const codes: string[] = body.refusals.map(({ code }: { code: string }) => code);
  return new Set(codes).size === 1 ? codes[0] : codes;
};

/** What the hub says about the template, and what becomes of a request for a copy of it. */
const table: [string, Partial<Template>, Body, string][] = [
  ['is active', {}, {}, 'ok'],
  ['is deprecated', { status: 'deprecated', status_message: 'Old.' }, {}, 'ok'],
  ['has a status of a later version', { status: 'frozen' }, {}, 'ok'],
  ['has an advisory of severity note', { advisories: [anAdvisory({ severity: 'note' })] }, {}, 'ok'],
  ['has an advisory of severity warning', { advisories: [anAdvisory({ severity: 'warning' })] }, {}, 'ok'],
  [
    'had a critical advisory about earlier revisions',
    { revision: 2, advisories: [anAdvisory({ last_revision: 1 })] },
    {},
    'ok',
  ],
  ['has a critical advisory', { advisories: [flaw] }, {}, 'template_flawed'],
  ['has a critical advisory that is acknowledged', { advisories: [flaw] }, { acknowledge: [flaw.id] }, 'ok'],
  [
    'has two critical advisories of which one is acknowledged',
    { advisories: [flaw, anAdvisory()] },
    { acknowledge: [flaw.id] },
    'template_flawed',
  ],
  [
    'has a critical advisory, and another one is acknowledged',
    { advisories: [flaw] },
    { acknowledge: [anAdvisory().id] },
    'template_flawed',
  ],
  ['has no advisory, and one is acknowledged', {}, { acknowledge: [flaw.id] }, 'ok'],
  ['is blocked', { status: 'blocked', status_message: 'Harmful.' }, {}, 'template_blocked'],
  [
    'is blocked and has an acknowledged advisory',
    { status: 'blocked', status_message: 'Harmful.', advisories: [flaw] },
    { acknowledge: [flaw.id] },
    'template_blocked',
  ],
];

describe.each(table)('if the template %s', (_, says, given, expected) => {
  test('a plan and a creation of a deployment of it agree', async () => {
    await publish(says);
    expect(codeOfPlan(await fleet.plan({ template: 'tool', ...given }))).toBe(expected);
    expect(codeOf(await fleet.deploy({ template: 'tool', ...given }))).toBe(expected);
    expect(await client.workload.count()).toBe(expected === 'ok' ? 1 : 0);
  });

  test('a workload is created from it, updated to it and deployed alike', async () => {
    await publish({ revision: 1, image_tag: '17' });
    const { id, version, workload_id } = await deployed();
    await publish({ revision: 1, image_tag: '18', ...says });
    const created = await operator.post('/api/v1/workloads', { name: 'other', template: 'tool', ...given });
    expect(codeOf(created)).toBe(expected);
    const updated = await operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool', ...given });
    expect(codeOf(updated)).toBe(expected);
    if (expected !== 'ok') return expect(await fleet.deployment(id)).toMatchObject({ version, revision: 1 });
    expect(codeOf(await fleet.change(id, { revision: 2 }))).toBe('ok');
  });
});

test('a deployment is refused an existing copy that is flawed, unless the copy was acknowledged before', async () => {
  await publish({ image_tag: '17' });
  const { id, workload_id } = await deployed();
  await publish({ revision: 2, image_tag: '18' });
  await operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' });
  await publish({ advisories: [flaw] });
  for (const change of [{ revision: 2 }, { revision: 2, acknowledge: [anAdvisory().id] }]) {
    expect(codeOfPlan(await fleet.plan({ deployment_id: id, ...change }))).toBe('template_flawed');
    expect(codeOf(await fleet.change(id, change))).toBe('template_flawed');
  }
  expect(codeOf(await fleet.deploy({ workload_id }))).toBe('template_flawed');
  expect(codeOf(await fleet.deploy({ workload_id, acknowledge: [flaw.id] }))).toBe('ok');
  expect(codeOf(await fleet.change(id, { revision: 2 }))).toBe('ok');
});

const words: [string, Partial<Template>, string, RegExp][] = [
  [
    'the message and the replacement of a blocked template',
    { status: 'blocked', status_message: 'It is harmful.', replacement: 'other' },
    'template',
    /It is harmful\. Use other instead\./,
  ],
  [
    'the id, the message and the address of a critical advisory',
    { advisories: [flaw] },
    'acknowledge',
    new RegExp(`${flaw.id}: It deletes data\\. \\(https://example\\.com/flaw\\)`),
  ],
];

test.each(words)('a refusal states %s', async (_, says, path, message) => {
  await publish(says);
  const refused = await fleet.deploy({ template: 'tool' });
  expect(refused.status).toBe(422);
  expect(reasonsOf(refused)).toEqual([{ path, message: expect.stringMatching(message) }]);
  expect(reasonsOf(await fleet.plan({ template: 'tool' }))).toEqual(reasonsOf(refused));
  const workload = await operator.post('/api/v1/workloads', { name: 'any', template: 'tool' });
  expect(reasonsOf(workload)).toEqual(reasonsOf(refused));
});

test.each<[string, Partial<Template>]>([
  ['blocked', { status: 'blocked', status_message: 'Harmful.' }],
  ['flawed', { advisories: [flaw] }],
])('the means to react to a %s template are never refused', async (_, says) => {
  await publish({ image_tag: '17' });
  const { id, workload_id } = await deployed();
  await publish({ revision: 2, image_tag: '18' });
  await operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' });
  await fleet.change(id, { revision: 2 });
  await publish(says);
  expect((await fleet.ask(id, 'scale', { replicas: 2 })).status).toBe(200);
  for (const operation of ['stop', 'start', 'restart']) expect((await fleet.ask(id, operation)).status).toBe(200);
  expect((await fleet.change(id, { env: { MODE: 'b' }, labels: { team: 'ml' } })).status).toBe(200);
  // Another setting of the same copy of the template.
  const changed = await operator.put(`/api/v1/workloads/${workload_id}`, { memory_request: '2Gi' });
  expect(changed).toMatchObject({ status: 200, body: { workload: { revision: 3, template_revision: 2 } } });
  expect((await fleet.change(id, { revision: 3 })).body).toMatchObject({ deployment: { revision: 3 } });
  // A revision that it has run, by a change and by a rollback.
  expect((await fleet.change(id, { revision: 1 })).status).toBe(200);
  expect((await fleet.ask(id, 'rollback', {})).body).toMatchObject({ deployment: { revision: 3 } });
  await withdraw();
  expect((await fleet.ask(id, 'restart')).status).toBe(200);
  expect((await fleet.remove(id)).status).toBe(200);
});

test('an advisory that is published between a plan and its request refuses the request', async () => {
  await publish({ advisories: [flaw] });
  const body = { template: 'tool', acknowledge: [flaw.id] };
  expect((await fleet.plan(body)).body).toMatchObject({ ok: true, advice: { advisories: [{ acknowledged: true }] } });
  const another = anAdvisory({ message: 'It also leaks.', url: null });
  await publish({ advisories: [flaw, another] });
  const refused = await fleet.deploy(body);
  expect(codeOf(refused)).toBe('template_flawed');
  expect(reasonsOf(refused).map(({ message }) => message)).toEqual([expect.stringContaining(another.id)]);
  await publish({ advisories: [another] });
  // The first one was withdrawn meanwhile, and its id is ignored.
  expect(codeOf(await fleet.deploy({ ...body, acknowledge: [flaw.id, another.id] }))).toBe('ok');
});

describe('an acknowledgement', () => {
  const entries = async (path: string): Promise<{ method: string; acknowledged: string[] }[]> =>
    (await fleet.admin.get(`/api/v1/audit?changes=true&path=${path}`)).body.entries;
  const acknowledgedIn = async (id: string): Promise<string[]> =>
    (await fleet.deployment(id)).advice.advisories
      .filter(({ acknowledged }: { acknowledged: boolean }) => acknowledged)
      .map(({ id: advisory }: Advisory) => advisory);

  test('is stored in the revision of the workload and in the audit entry, without ids that do not apply', async () => {
    const { id: unknown } = anAdvisory();
    await publish({ advisories: [flaw] });
    const { id, workload_id } = await deployed({ acknowledge: [unknown, flaw.id] });
    expect(await acknowledgedIn(id)).toEqual([flaw.id]);
    const [created] = await entries('/api/v1/deployments');
    expect(created).toMatchObject({ method: 'POST', acknowledged: [flaw.id] });
    await operator.put(`/api/v1/workloads/${workload_id}`, { memory_request: '2Gi' });
    const { workload } = (await operator.get(`/api/v1/workloads/${workload_id}`)).body;
    expect(workload.advice.advisories).toMatchObject([{ id: flaw.id, acknowledged: true }]);
    const [changed] = await entries('/api/v1/workloads');
    expect(changed).toMatchObject({ method: 'PUT', acknowledged: [] });
  });

  test('can be given for what runs already, without a new generation', async () => {
    await publish();
    const { id, workload_id, generation } = await deployed();
    const second = anAdvisory();
    await publish({ advisories: [flaw, second] });
    const { body } = await fleet.change(id, { acknowledge: [flaw.id] });
    expect(body.deployment.generation).toBe(generation);
    expect(await acknowledgedIn(id)).toEqual([flaw.id]);
    await operator.put(`/api/v1/workloads/${workload_id}`, { acknowledge: [second.id] });
    expect(await acknowledgedIn(id)).toEqual([flaw.id, second.id]);
    expect((await entries('/api/v1/workloads'))[0]).toMatchObject({ acknowledged: [second.id] });
  });

  test('is not that of another copy of the template', async () => {
    await publish({ advisories: [flaw] });
    const { id, workload_id } = await deployed({ acknowledge: [flaw.id] });
    await publish({ revision: 2, image_tag: '19' });
    const update = (given: Body) => operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool', ...given });
    expect(codeOf(await update({}))).toBe('template_flawed');
    expect(codeOf(await update({ acknowledge: [flaw.id] }))).toBe('ok');
    expect(codeOf(await fleet.change(id, { revision: 2 }))).toBe('ok');
  });

  test('of more than 16 advisories is rejected', async () => {
    const acknowledge = Array.from({ length: 17 }, () => anAdvisory().id);
    expect(await fleet.deploy({ template: 'tool', acknowledge })).toMatchObject({ status: 400 });
  });
});

test('a workload can be updated to a revision of its template that runs the same, and leaves the advisories behind', async () => {
  await publish({ revision: 1 });
  const { id, workload_id } = await deployed();
  await publish({ revision: 2, description: 'repaired', advisories: [anAdvisory({ last_revision: 1 })] });
  const { workload } = (await operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' })).body;
  expect(workload).toMatchObject({ revision: 2, template_revision: 2, advice: { advisories: [] } });
  const { deployment } = (await fleet.change(id, { revision: 2 })).body;
  expect(deployment).toMatchObject({ template_revision: 2, advice: { advisories: [] } });
  const again = (await operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' })).body;
  expect(again.workload.revision).toBe(2);
});

describe('a plan', () => {
  test('states the advice about what would run', async () => {
    const note = anAdvisory({ severity: 'note' });
    await publish({ status: 'deprecated', status_message: 'Old.', advisories: [note] });
    const expected = { status: 'deprecated', status_message: 'Old.', advisories: [{ ...note, acknowledged: false }] };
    expect((await fleet.plan({ template: 'tool' })).body).toMatchObject({ ok: true, advice: expected });
    const own = await fleet.aWorkload();
    expect((await fleet.plan({ workload_id: own.id })).body).toMatchObject({ advice: null, template_changes: [] });
  });

  test('of an update to the current template lists what the template changes, and what the workload sets itself', async () => {
    await publish();
    const { id, workload_id } = await deployed();
    await operator.put(`/api/v1/workloads/${workload_id}`, { memory_request: '2Gi' });
    await fleet.change(id, { revision: 2 });
    await publish({ revision: 2, image_tag: '19', memory_request: '4Gi', description: 'better' });
    await operator.put(`/api/v1/workloads/${workload_id}`, { template: 'tool' });
    const { template_changes } = (await fleet.plan({ deployment_id: id, revision: 3 })).body;
    expect(template_changes).toHaveLength(2);
    expect(template_changes).toEqual(
      expect.arrayContaining([
        { member: 'image_tag', before: '18', after: '19', overridden: false },
        { member: 'memory_request', before: '2Gi', after: '4Gi', overridden: true },
      ]),
    );
    await publish({ revision: 3, image_tag: '20' });
    expect((await fleet.plan({ deployment_id: id, revision: 3 })).body).toMatchObject({
      ok: true,
      template_changes: [],
    });
    expect((await fleet.plan({ deployment_id: id, replicas: 2 })).body.template_changes).toEqual([]);
  });
});
