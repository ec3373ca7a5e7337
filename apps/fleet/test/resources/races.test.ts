// Concurrent deletions and uses of a resource: one of two requests receives an error.
import { byDepth } from '@svc/testing';
import { pathOf, startResources } from './resources.ts';

const world = await startResources();
const { aName, aSecret, aWorkload, asAdmin } = world;
const host = await world.aRoomyHost();
afterAll(() => world.stop());

const ROUNDS = Array.from({ length: byDepth({ short: 2, full: 6, long: 60 }) }, (_, round) => round);
const deploy = (given: object) =>
  asAdmin.post(pathOf('deployments'), { name: aName('race'), target: { host_id: host.id }, ...given });

test.each(ROUNDS)(
  'a workload that is deleted and deployed concurrently is either deleted or deployed: round %s',
  async () => {
    const { id } = await aWorkload();
    const [made, deleted] = await Promise.all([deploy({ workload_id: id }), asAdmin.delete(pathOf('workloads', id))]);
    expect([
      [201, undefined, 409],
      [422, 'unknown_workload', 204],
    ]).toContainEqual([made.status, made.body.code, deleted.status]);
  },
);

test.each(ROUNDS)(
  'a secret that is deleted and used by a former revision concurrently is either deleted or used: round %s',
  async () => {
    const secret = await aSecret();
    const { id } = await aWorkload({ secret_refs: [{ name: secret.name, env: 'PASSWORD' }] });
    await asAdmin.put(pathOf('workloads', id), { secret_refs: [] });
    const [made, deleted] = await Promise.all([
      deploy({ workload_id: id, revision: 1 }),
      asAdmin.delete(pathOf('secrets', secret.id)),
    ]);
    expect([
      [201, undefined, 409],
      [422, 'unknown_secret', 204],
    ]).toContainEqual([made.status, made.body.code, deleted.status]);
  },
);

test.each(ROUNDS)(
  'a deployment that is created while its secret changes has the new values, or is told of them: round %s',
  async () => {
    const secret = await aSecret();
    const { id } = await aWorkload({ secret_refs: [{ name: secret.name, env: 'PASSWORD' }] });
    const [made, rotated] = await Promise.all([
      deploy({ workload_id: id }),
      asAdmin.put(pathOf('secrets', secret.id), { values: { password: 'new' } }),
    ]);
    expect(made.status).toBe(201);
    expect(rotated.status).toBe(200);
    const told = rotated.body.secret.used_by.some(({ kind }: { kind: string }) => kind === 'deployment');
    const { generation } = await world.read('deployments', made.body.deployment.id);
    expect(generation).toBe(told ? 2 : 1);
  },
);
