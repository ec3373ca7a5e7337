import { workloadDefaults } from '@svc/contract/fleet';
import { eventually } from '@svc/testing';
import { startProcessWorld } from '../process-world.ts';
import { connect, messagesTo } from './client.ts';

const world = await startProcessWorld();
const { startFleet, createToken, query, stop } = world;
afterAll(async () => {
  await world.endAll();
  await world.database.drop();
});

/** A deployment that no worker claims. */
const INSERT = `
  WITH workload AS (INSERT INTO workloads (id, name, created_by) VALUES (gen_random_uuid(), 'web', 'test') RETURNING id),
  revision AS (
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, created_by)
    SELECT id, 1, '${JSON.stringify({ ...workloadDefaults, image_name: 'team/app' })}'::jsonb, '{}', 'test'
    FROM workload RETURNING workload_id)
  INSERT INTO deployments (id, name, created_by, workload_id, revision, replicas, due_at, env)
  SELECT gen_random_uuid(), 'web', 'test', workload_id, 1, 1, now() + interval '1 day', '{}' FROM revision`;

/** A process reads the history of changes while a request waits. */
const READS = `SELECT FROM pg_stat_activity WHERE query LIKE '%FROM changes%' AND pid <> pg_backend_pid()`;

test('two processes share the confirmation of a deletion, and SIGTERM ends waits with an answer', async () => {
  const [one, other] = await Promise.all([startFleet(), startFleet()]);
  await query(INSERT);
  const { secret: token } = await createToken('operator');
  const toOne = messagesTo(one.url);
  const toOther = messagesTo(other.url);
  const waiting = { name: 'wait_for_deployment', arguments: { deployment: 'web' } };
  const silent = toOne.request('tools/call', waiting, { token });
  await eventually('the silent call waits', () => query(READS), { until: ({ length }) => length > 0 });
  const sdk = await connect(one.url, token);
  const progress: unknown[] = [];
  const reporting = sdk.callTool(waiting, { onprogress: (each) => void progress.push(each) });
  await eventually('the reporting call waits', () => progress.length > 0);
  await stop(one);
  for (const { structuredContent } of [(await silent).message.result, await reporting]) {
    expect(structuredContent).toMatchObject({ reached: false, deployment: { name: 'web' } });
  }

  const again = await startFleet();
  const canAsk = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  const deletion = { name: 'delete_deployment', arguments: { deployment: 'web' }, _meta: canAsk };
  const asked = await messagesTo(again.url).request('tools/call', deletion, { token });
  const { requestState } = asked.message.result;
  const inputResponses = { confirmation: { action: 'accept', content: { agree: true } } };
  const answered = await toOther.request('tools/call', { ...deletion, inputResponses, requestState }, { token });
  expect(answered.message.result.structuredContent).toMatchObject({ deleted: true });
  expect(await query('SELECT FROM deployments')).toEqual([]);
});
