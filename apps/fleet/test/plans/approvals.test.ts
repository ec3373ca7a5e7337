// Approvals: who may apply which plan, and who may approve it.
import type { Api } from '@svc/testing';
import { startDeploymentWorld } from '../deployments/world.ts';
import { aDocument, plansOf } from './world.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
const { read, forget, named } = plansOf(fleet);

const [ada, grace, viewer] = [await world.aUser('operator'), await world.aUser('admin'), await world.aUser('viewer')];
const admin = await grace.api();
const operator = await ada.api();

beforeEach(async () => {
  await forget();
  await fleet.aHost({ name: 'gpu-1' });
  await requireApproval('none');
});

const requireApproval = async (approval: string) =>
  expect((await admin.put('/api/v1/settings/approvals', { approval })).status).toBe(200);

/** An API with a new token that a person has created. */
async function aToken(approval: string, { by = admin, role = 'operator' }: { by?: Api; role?: string } = {}) {
  const { status, body } = await by.post('/api/v1/tokens', { name: `token ${approval}`, role, approval });
  if (status !== 201) throw new Error(`POST tokens responded with ${status}`);
  return { ...body.token, api: world.api(`Bearer ${body.token.secret}`) };
}

interface Plan {
  readonly id: string;
  readonly digest: string;
  readonly state: string;
}

const planned = async (api: Api, text = aDocument('web'), given: object = {}): Promise<Plan> =>
  (await api.post('/api/v1/plans', { files: [{ path: 'a.yaml', text }], ...given })).body.plan;
const ask = (api: Api, { id, digest }: Plan, verb: 'apply' | 'approve' | 'reject', given: object = {}) =>
  api.post(`/api/v1/plans/${id}/${verb}`, { digest, ...given });
const resultOf = async (asked: ReturnType<typeof ask>) => {
  const { status, body } = await asked;
  return status === 200 ? body.plan.state : `${status} ${body.code}`;
};

test('a plan of a token that needs approval is applied after a person has approved it, once', async () => {
  const { api } = await aToken('all');
  const plan = await planned(api);
  expect(plan.state).toBe('needs_approval');
  expect(await resultOf(ask(api, plan, 'apply'))).toBe('403 approval_required');
  expect(await named('web')).toBeNull();
  expect(await resultOf(ask(operator, plan, 'approve'))).toBe('ready');
  expect((await read(plan.id)).review).toMatchObject({ decision: 'approved', by: ada.email, reason: '' });
  expect(await resultOf(ask(admin, plan, 'approve'))).toBe('409 plan_closed');
  expect(await resultOf(ask(api, plan, 'apply'))).toBe('applied');
  expect(await named('web')).not.toBeNull();
  const [approval] = await client.auditEntry.findMany({ where: { path: { endsWith: '/approve' }, status: 200 } });
  expect(approval).toMatchObject({ object_name: 'default', actor: ada.email });
  const events = (await operator.get('/api/v1/events?reason=NeedsApproval')).body.events;
  expect(events).toMatchObject([{ kind: 'plans', object_id: plan.id, severity: 'normal' }]);
});

test('a rejected plan cannot be applied or approved, and states the reason', async () => {
  const { api } = await aToken('all');
  const plan = await planned(api);
  expect(await resultOf(ask(admin, plan, 'reject', { reason: 'not on a Friday' }))).toBe('rejected');
  expect((await read(plan.id)).review).toMatchObject({ decision: 'rejected', reason: 'not on a Friday' });
  expect(await resultOf(ask(api, plan, 'apply'))).toBe('409 plan_closed');
  expect(await resultOf(ask(operator, plan, 'approve'))).toBe('409 plan_closed');
  expect(await named('web')).toBeNull();
});

test('nobody approves without a session, without the role, or with another digest', async () => {
  const { api } = await aToken('all');
  const plan = await planned(api);
  const others: [string, Api][] = [
    ['the token itself', api],
    ['another token', (await aToken('none', { role: 'admin' })).api],
    ['a viewer', await viewer.api()],
    ['a user with a token of the user', (await aToken('none')).api],
  ];
  for (const [who, caller] of others)
    for (const verb of ['approve', 'reject'] as const)
      expect({ who, result: await resultOf(ask(caller, plan, verb)) }).toEqual({
        who,
        result: '403 insufficient_scope',
      });
  expect(await resultOf(ask(operator, { ...plan, digest: 'other' }, 'approve'))).toBe('409 plan_outdated');
  expect(await read(plan.id)).toMatchObject({ state: 'needs_approval', review: null });
});

test('a token that needs approval changes nothing without a plan, and reads and plans as before', async () => {
  const { id } = await fleet.deployed({ name: 'web' });
  const all = (await aToken('all')).api;
  const deletions = (await aToken('deletions')).api;
  const change = (api: Api) => api.put(`/api/v1/deployments/${id}`, { replicas: 2 });
  const remove = (api: Api) => api.delete(`/api/v1/deployments/${id}`);
  const restart = (api: Api) => api.post(`/api/v1/deployments/${id}/restart`, {});
  for (const refused of [change(all), restart(all), remove(all), remove(deletions)])
    expect(await refused).toMatchObject({
      status: 403,
      body: { code: 'approval_required', detail: expect.stringContaining('make a plan') },
    });
  expect((await all.get(`/api/v1/deployments/${id}`)).body.deployment).toMatchObject({ replicas: 1, generation: 1 });
  expect((await change(deletions)).status).toBe(200);
  expect(await client.deployment.count({ where: { deleting: false } })).toBe(1);
});

test('approval of deletions covers plans that delete, and no others', async () => {
  const { api } = await aToken('deletions');
  const created = await planned(api);
  expect(created.state).toBe('ready');
  expect(await resultOf(ask(api, created, 'apply'))).toBe('applied');
  const deleting = await planned(api, aDocument('other'), { prune: true });
  expect(deleting.state).toBe('needs_approval');
  expect(await resultOf(ask(api, deleting, 'apply'))).toBe('403 approval_required');
  expect(await resultOf(ask(operator, deleting, 'apply'))).toBe('applied');
  expect((await read(deleting.id)).review).toMatchObject({ decision: 'approved', by: ada.email });
});

test('a plan of a person is approved by another person, where the settings require it', async () => {
  await requireApproval('all');
  const plan = await planned(operator);
  expect(plan.state).toBe('needs_approval');
  for (const verb of ['approve', 'apply'] as const) {
    const answer = await ask(operator, plan, verb);
    expect(answer).toMatchObject({ status: 403, body: { code: 'approval_required' } });
    expect(answer.body.detail).toContain('another signed-in operator or admin');
  }
  expect(await resultOf(ask(admin, plan, 'approve'))).toBe('ready');
  expect(await resultOf(ask(operator, plan, 'apply'))).toBe('applied');
});

test('the owner of a token approves its plans', async () => {
  const { api } = await aToken('all', { by: admin });
  expect(await resultOf(ask(admin, await planned(api), 'approve'))).toBe('ready');
});

test('a setting that becomes stricter applies to plans that were made before, and one that is laxer does not', async () => {
  const before = await planned(operator);
  expect(before.state).toBe('ready');
  await requireApproval('all');
  expect(await resultOf(ask(operator, before, 'apply'))).toBe('403 approval_required');
  const strict = await planned(operator, aDocument('cache'));
  await requireApproval('none');
  expect(await resultOf(ask(operator, strict, 'apply'))).toBe('403 approval_required');
  expect(await resultOf(ask(operator, before, 'apply'))).toBe('applied');
});

test('a token that is created with a token is at least as strict', async () => {
  const strict = await aToken('deletions', { role: 'admin' });
  expect((await aToken('none', { by: strict.api })).approval).toBe('deletions');
  expect((await aToken('all', { by: strict.api })).approval).toBe('all');
});

test('the settings state how many users can approve', async () => {
  const approvers = async () => (await admin.get('/api/v1/settings/approvals')).body.approvers;
  const before = await approvers();
  await world.aUser('viewer');
  expect(await approvers()).toBe(before);
  const more = await world.aUser('operator');
  expect(await approvers()).toBe(before + 1);
  await admin.put(`/api/v1/users/${more.id}`, { blocked: true });
  expect(await approvers()).toBe(before);
});
