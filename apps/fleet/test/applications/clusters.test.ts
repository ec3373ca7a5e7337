// Applications on clusters: the isolation and the names of their parts.
import { GHOST, startApplicationWorld } from './world.ts';

const fleet = await startApplicationWorld();
const { client, operator } = fleet;

interface Manifested {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly ingress: readonly object[] };
}

const ofKind = (manifest: readonly Manifested[], kind: string) => manifest.filter((object) => object.kind === kind);
const manifestOf = async (id: string): Promise<Manifested[]> =>
  (await operator.get(`/api/v1/deployments/${id}/manifest`)).body.manifest;
const exceptionsOf = (manifest: readonly Manifested[]) => ofKind(manifest, 'NetworkPolicy')[0]?.spec.ingress.slice(1);
const idOf = async ({ id }: { readonly id: string }, part: string) => (await fleet.part(id, part)).deployment_id;

/** A part publishes a port; a deployment has the address of a port. */
const PUBLISHED = [{ ports: [{ port: 2368, protocol: 'TCP' }] }];
const admits = (id: string) => [
  {
    from: [{ podSelector: { matchExpressions: [{ key: 'fleet/deployment', operator: 'In', values: [id] }] } }],
    ports: [{ port: 3306, protocol: 'TCP' }],
  },
];

/** A deployment on the cluster that is bound to the database. */
const aGuest = (cluster: { readonly id: string }) =>
  fleet.deployed({
    workload: { env_schema: [{ name: 'ADDRESS' }, { name: 'MODE' }] },
    env: { ADDRESS: { deployment: 'blog-database', port: 3306, as: 'host:port' } },
    target: { cluster_id: cluster.id },
  });

/** The deployments that are due. */
async function dueAfter(change: () => Promise<unknown>): Promise<string[]> {
  await client.deployment.updateMany({ data: { due_at: new Date('2100-01-01') } });
  await change();
  const due = await client.deployment.findMany({ where: { due_at: { lt: new Date('2099-01-01') } } });
  return due.map(({ name }) => name).sort();
}

test('a part is reached at its published ports, and the plan shows the policies and the names that the parts get', async () => {
  const cluster = await fleet.aCluster({ network_policies: true });
  const target = { cluster_id: cluster.id };
  const { body: plan } = await fleet.planApplication({ target });
  const planned = new Map<string, Manifested[]>(
    plan.parts.map(({ name, manifest }: { name: string; manifest: Manifested[] }) => [name, manifest]),
  );
  const { application } = await fleet.created({ target });
  for (const [part, exceptions] of [
    ['web', PUBLISHED],
    ['database', []],
  ] as const) {
    const manifest = await manifestOf(await idOf(application, part));
    expect(exceptionsOf(manifest)).toEqual(exceptions);
    expect(exceptionsOf(planned.get(part) ?? [])).toEqual(exceptions);
    expect(ofKind(manifest, 'Service').map(({ metadata }) => metadata.name)).toContain(
      `svc-app-${application.id.slice(-8)}`,
    );
    expect(planned.get(part)?.map(({ kind }) => kind)).toEqual(manifest.map(({ kind }) => kind));
    expect(ofKind(manifest, 'Deployment')[0]?.spec).toMatchObject({
      template: { metadata: { labels: { 'fleet/network': application.id } }, spec: { hostname: part } },
    });
  }
});

test('a deployment that is bound to a part is admitted at once, and not after it is no longer bound', async () => {
  const cluster = await fleet.aCluster({ network_policies: true });
  const { application } = await fleet.created({ target: { cluster_id: cluster.id } });
  const database = await idOf(application, 'database');
  let guest = { id: '', name: '' };
  expect(
    await dueAfter(async () => {
      guest = await aGuest(cluster);
    }),
  ).toEqual(['blog-database', guest.name]);
  expect(exceptionsOf(await manifestOf(database))).toEqual(admits(guest.id));
  expect(exceptionsOf(await manifestOf(await idOf(application, 'web')))).toEqual(PUBLISHED);

  const released = () => fleet.change(guest.id, { env: { MODE: 'alone' } });
  expect(await dueAfter(released)).toEqual(['blog-database', guest.name]);
  expect(exceptionsOf(await manifestOf(database))).toEqual([]);
  const again = { ADDRESS: { deployment: 'blog-database', port: 3306, as: 'host:port' } };
  expect(await dueAfter(() => fleet.change(guest.id, { env: again }))).toEqual(['blog-database', guest.name]);
  expect(exceptionsOf(await manifestOf(database))).toEqual(admits(guest.id));
});

test('an update that publishes a port changes the policy of the part, and replaces nothing', async () => {
  const cluster = await fleet.aCluster({ network_policies: true });
  const { application } = await fleet.created({ target: { cluster_id: cluster.id } });
  const [web, database] = GHOST.parts;
  const opened = { ...database, ports: [{ containerPort: 3306, publish: true }] };
  const spec = { ...GHOST, parts: [web, opened] };
  const due = await dueAfter(() => operator.put(`/api/v1/applications/${application.id}`, { spec }));
  expect(due).toEqual(['blog-database', 'blog-web']);
  const part = await fleet.part(application.id, 'database');
  expect(part.generation).toBe(1);
  expect(exceptionsOf(await manifestOf(part.deployment_id))).toEqual([{ ports: [{ port: 3306, protocol: 'TCP' }] }]);
});

test('an upgrade of the fleet replaces no pod, and a restart isolates them', async () => {
  const cluster = await fleet.aCluster({ network_policies: true });
  const { application } = await fleet.created({ target: { cluster_id: cluster.id } });
  const id = await idOf(application, 'database');
  await client.deployment.update({ where: { id }, data: { defaults_version: 5 } });
  const before = await manifestOf(id);
  expect(before.map(({ kind }) => kind)).toEqual(['Secret', 'PersistentVolumeClaim', 'Deployment', 'Service']);
  expect(JSON.stringify(before)).not.toContain('fleet/network');
  const { conditions } = (await operator.get(`/api/v1/deployments/${id}`)).body.deployment;
  expect(conditions).toContainEqual(
    expect.objectContaining({ message: 'A restart isolates its pods in the network of the cluster.' }),
  );
  expect((await operator.post(`/api/v1/deployments/${id}/restart`, {})).status).toBe(200);
  expect(ofKind(await manifestOf(id), 'NetworkPolicy')).toHaveLength(1);
});
