import { listen } from '../raw.ts';
import { codeOf, messagesTo, type ToolResult } from './client.ts';
import { startMcpWorld } from './world.ts';

const fleet = await startMcpWorld();
const { call, tokens, world, deployed, aHost } = fleet;
const { client } = world.database;
const replica = await listen(world.aReplica().app);
afterAll(() => replica.close());
const toReplica = messagesTo(replica.url);
const operator = tokens.operator.secret;

beforeAll(() => aHost());

const aDeployment = (given: object = {}) => deployed({ desired_state: 'stopped', ...given });
const exists = async (id: string) => (await client.deployment.count({ where: { id } })) === 1;

test('without confirmation, a deletion returns what would be lost and deletes nothing', async () => {
  const workload = await fleet.aWorkload({ volume_mounts: [{ name: 'data', mountPath: '/data' }] });
  const { id, name } = await aDeployment({ workload_id: workload.id, volumes: { data: { size: '3Gi' } } });
  const { structuredContent } = await call('delete_deployment', { deployment: name }, { token: operator });
  expect(structuredContent).toMatchObject({ deleted: false, deployment: { id, name }, volumes_kept: [] });
  expect(structuredContent.volumes_lost).toEqual([{ name: expect.any(String), size: '3Gi' }]);
  expect(await exists(id)).toBe(true);
});

test('the wrong name confirms nothing, and the name of the deployment confirms its deletion', async () => {
  const { id, name } = await aDeployment();
  const wrong = await call('delete_deployment', { deployment: id, confirm: 'yes' }, { token: operator });
  expect(wrong.structuredContent.deleted).toBe(false);
  expect(await exists(id)).toBe(true);
  const right = await call('delete_deployment', { deployment: id, confirm: name }, { token: operator });
  expect(right.structuredContent.deleted).toBe(true);
  expect(await exists(id)).toBe(false);
});

test('a deployment that has changed since it was read is not deleted', async () => {
  const { id, name, version } = await aDeployment();
  await world.asOperator.put(`/api/v1/deployments/${id}`, { labels: { changed: 'yes' } });
  const result = await call('delete_deployment', { deployment: id, confirm: name, version }, { token: operator });
  expect(codeOf(result)).toBe('version_conflict');
  expect(await exists(id)).toBe(true);
});

/** A client that can ask its user. */
const CAN_ASK = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };

type Sender = Pick<typeof fleet, 'request'>;

const ask = async (deployment: string, token = operator, { request: send }: Sender = fleet) =>
  (await send('tools/call', { name: 'delete_deployment', arguments: { deployment }, _meta: CAN_ASK }, { token }))
    .message;

interface Answer {
  readonly deployment: string;
  readonly requestState: string;
  readonly action?: 'accept' | 'decline' | 'cancel';
  readonly agree?: boolean;
  readonly token?: string;
}

const answer = async (
  { deployment, requestState, action = 'accept', agree = true, token = operator }: Answer,
  { request: send }: Sender = fleet,
) => {
  const content = action === 'accept' ? { content: { agree } } : {};
  const params = {
    name: 'delete_deployment',
    arguments: { deployment },
    inputResponses: { confirmation: { action, ...content } },
    requestState,
    _meta: CAN_ASK,
  };
  return (await send('tools/call', params, { token })).message;
};

test('a client that can ask its user is asked to, and another replica accepts the answer', async () => {
  const { id, name } = await aDeployment();
  const { result } = await ask(id);
  expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  expect(result.inputRequests.confirmation.params.message).toContain(`Delete the deployment "${name}"`);
  expect(await exists(id)).toBe(true);
  const answered = await answer({ deployment: id, requestState: result.requestState }, toReplica);
  expect(answered.result.structuredContent.deleted).toBe(true);
  expect(await exists(id)).toBe(false);
});

test.each([
  ['declines', { action: 'decline' }],
  ['cancels', { action: 'cancel' }],
  ['does not agree', { agree: false }],
] as const)('nothing is deleted if the user %s', async (_, given) => {
  const { id } = await aDeployment();
  const { requestState } = (await ask(id)).result;
  const result: ToolResult = (await answer({ deployment: id, requestState, ...given })).result;
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('declined') }] });
  expect(await exists(id)).toBe(true);
});

/** Another character in the middle: the last ones contain bits that base64url ignores. */
function tampered(state: string): string {
  const middle = Math.floor(state.length / 2);
  return `${state.slice(0, middle)}${state[middle] === 'A' ? 'B' : 'A'}${state.slice(middle + 1)}`;
}

test('an answer applies only to the deployment, the version and the principal that it was asked for', async () => {
  const one = await aDeployment();
  const other = await aDeployment();
  const { requestState } = (await ask(one.id)).result;
  const forOther = await answer({ deployment: other.id, requestState });
  expect(forOther.result.resultType).toBe('input_required'); // it is asked again
  const byOther = await answer({ deployment: one.id, requestState, token: tokens.admin.secret });
  expect(byOther.error).toMatchObject({ code: -32_602 });
  const answered = await answer({ deployment: one.id, requestState: tampered(requestState) });
  expect(answered.error).toMatchObject({ code: -32_602 });
  await world.asOperator.put(`/api/v1/deployments/${one.id}`, { labels: { changed: 'yes' } });
  expect((await answer({ deployment: one.id, requestState })).result.resultType).toBe('input_required');
  expect(await exists(one.id)).toBe(true);
  expect(await exists(other.id)).toBe(true);
});

test('a token that needs approval deletes nothing, and is told to make a plan', async () => {
  const { id, name } = await aDeployment();
  const { secret } = await world.aToken({ role: 'operator', approval: 'deletions' });
  const result = await call('delete_deployment', { deployment: id, confirm: name }, { token: secret });
  expect(codeOf(result)).toBe('approval_required');
  expect(result.content[0]?.text).toContain('need the approval of a person: make a plan');
  expect(await exists(id)).toBe(true);
});
