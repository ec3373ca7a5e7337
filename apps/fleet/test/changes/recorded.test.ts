import { startDeploymentWorld } from '../deployments/world.ts';

const fleet = await startDeploymentWorld();
const { client } = fleet.world.database;

/** The changes that `work` records, as `<kind> <id>`. */
async function recordedBy(work: () => Promise<unknown>): Promise<string[]> {
  const [newest] = await client.change.findMany({ orderBy: { seq: 'desc' }, take: 1 });
  await work();
  const rows = await client.change.findMany({ where: { seq: { gt: newest?.seq ?? 0n } }, orderBy: { seq: 'asc' } });
  return rows.map(({ kind, object_id }) => `${kind} ${object_id}`);
}

const aDeployment = async () => {
  const host = await fleet.aHost();
  return { host, deployment: await fleet.deployed() };
};

test('a lease, the time of the next reconciliation and an unchanged observation are not recorded', async () => {
  const { deployment, host } = await aDeployment();
  const { id } = deployment;
  const update = (data: object) => client.deployment.update({ where: { id }, data });
  const recorded = await recordedBy(async () => {
    await update({ lease_owner: id, lease_until: new Date(), sent_to_engine: true });
    await update({ lease_owner: null, lease_until: null, due_at: new Date(), failures: 3, observed_at: new Date() });
    await client.host.update({ where: { id: host.id }, data: { check_at: new Date(), last_seen_at: new Date() } });
    await client.token.updateMany({ data: { last_used_at: new Date() } });
    await client.user.updateMany({ data: { last_sign_in_at: new Date() } });
  });
  expect(recorded).toEqual([]);
});

test('an observed phase is recorded for its deployment only', async () => {
  const { deployment } = await aDeployment();
  const { id } = deployment;
  const work = () => client.deployment.update({ where: { id }, data: { phase: 'running', observed_generation: 1 } });
  expect(await recordedBy(work)).toEqual([`deployments ${id}`]);
});

test('a created and a deleted deployment are recorded with the target whose resources it takes', async () => {
  const host = await fleet.aHost();
  let id = '';
  const created = await recordedBy(async () => {
    ({ id } = await fleet.deployed());
  });
  expect(created).toEqual(expect.arrayContaining([`deployments ${id}`, `hosts ${host.id}`]));
  const deleted = await recordedBy(() => client.deployment.delete({ where: { id } }));
  expect(deleted.toSorted()).toEqual([`deployments ${id}`, `hosts ${host.id}`]);
});

test('a change of the resources that a deployment takes is recorded with its target', async () => {
  const cluster = await fleet.aCluster();
  const { id } = await fleet.deployed({ target: { cluster_id: cluster.id } });
  const resize = () => client.deployment.update({ where: { id }, data: { cpu_millis: { increment: 1 } } });
  expect((await recordedBy(resize)).toSorted()).toEqual([`clusters ${cluster.id}`, `deployments ${id}`]);
});

test('a change of any column is recorded, except of these', async () => {
  const tables = await client.$queryRaw<{ table: string; ignored: string[] | null }[]>`
    SELECT relname::text AS table, array_agg(attname::text ORDER BY attname) FILTER (
      WHERE NOT (attnum = ANY (tgattr::int2[]) AND pg_get_triggerdef(t.oid) ~ ('old\\.' || quote_ident(attname) || '\\M'))) AS ignored
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN pg_attribute a ON a.attrelid = tgrelid AND attnum > 0 AND NOT attisdropped
    WHERE tgname = 'record_updates' GROUP BY relname`;
  expect(Object.fromEntries(tables.map(({ table, ignored }) => [table, ignored]))).toEqual({
    deployments: [
      'application_id',
      'automatic_generation',
      'due_at',
      'env_bytes',
      'extra_instances',
      'failures',
      'handover',
      'host_image',
      'host_ports', // its changes increase the version, as those of `open_ports`
      'lease_owner',
      'lease_until',
      'observed_at',
      'part',
      'pod_settings',
      'pull_requested',
      'requested_digest',
      'rollout_elapsed_ms',
      'rollout_observed_at',
      'sent_to_engine',
      'take_over',
      'waits_for',
    ],
    hosts: [
      'check_at',
      'check_failures',
      'default_network_ids',
      'key_id',
      'last_seen_at',
      'open_ports',
      'refused_subnets',
      'sealed',
    ],
    nodes: ['updated_at'],
    clusters: [
      'check_at',
      'check_failures',
      'disruption_budgets',
      'key_id',
      'last_seen_at',
      'missing_permissions',
      'network_policies',
      'sealed',
    ],
    workloads: null,
    volumes: ['sent_to_engine'],
    secrets: ['key_id', 'purposes', 'sealed', 'workloads'], // changes of who may use a secret increase its version
    users: ['last_sign_in_at', 'password_hash'],
    tokens: ['approval', 'last_used_at'], // the first one never changes
  });
});

test('a statement that changes thousands of rows records each of them', async () => {
  await client.$executeRaw`
    INSERT INTO workloads (id, name, created_by) SELECT gen_random_uuid(), 'bulk-' || n, 'test' FROM generate_series(1, 10000) n`;
  const update = () => client.$executeRaw`UPDATE workloads SET version = 2 WHERE name LIKE 'bulk-%'`;
  expect(new Set(await recordedBy(update)).size).toBe(10_000);
  await client.$executeRaw`DELETE FROM workloads WHERE name LIKE 'bulk-%'`;
});

test('the reachability of a host is recorded for its deployments', async () => {
  const { deployment, host } = await aDeployment();
  const recorded = await recordedBy(() =>
    client.host.update({ where: { id: host.id }, data: { reachability: 'unreachable', unreachable_reason: 'gone' } }),
  );
  expect(recorded.toSorted()).toEqual([`deployments ${deployment.id}`, `hosts ${host.id}`]);
});

test('a change of each other list is recorded', async () => {
  const cluster = await fleet.aCluster();
  const volume = await fleet.aVolume();
  const secret = await fleet.aSecret('any', { key: 'value' });
  const workload = await fleet.aWorkload();
  const token = await fleet.world.aToken();
  const user = await fleet.world.aUser('viewer');
  const recorded = await recordedBy(async () => {
    await client.cluster.update({ where: { id: cluster.id }, data: { version: 2 } });
    await client.volume.update({ where: { id: volume.id }, data: { phase: 'bound' } });
    await client.secret.update({ where: { id: secret.id }, data: { labels: { a: 'b' } } });
    await client.workload.update({ where: { id: workload.id }, data: { revision: 2 } });
    await client.token.update({ where: { id: token.id }, data: { revoked_at: new Date() } });
    await client.user.update({ where: { id: user.id }, data: { role: 'admin' } });
  });
  expect(recorded).toEqual([
    `clusters ${cluster.id}`,
    `storage ${volume.id}`,
    `secrets ${secret.id}`,
    `workloads ${workload.id}`,
    `tokens ${token.id}`,
    `users ${user.id}`,
  ]);
});

test('a transaction that is rolled back records nothing', async () => {
  const recorded = await recordedBy(() =>
    client
      .$transaction(async (transaction) => {
        await transaction.workload.create({ data: { name: 'never', created_by: 'test' } });
        throw new Error('rolled back');
      })
      .catch(() => undefined),
  );
  expect(recorded).toEqual([]);
});
