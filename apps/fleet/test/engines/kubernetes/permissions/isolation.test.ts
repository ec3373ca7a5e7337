// NetworkPolicies, which a cluster can lack or not permit, and the Service with the names of an application.
import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../../../src/engines/kubernetes/check/check.ts';
import { removeOrphans } from '../../../../src/engines/kubernetes/cleanup.ts';
import { listManaged } from '../../../../src/engines/kubernetes/managed.ts';
import { reconcile } from '../../../../src/engines/kubernetes/reconcile.ts';
import type { ApiServer } from '../api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from '../world.ts';

afterEach(endAll);

const SUPPORTED = { has_network_policies: true };
const permitted = { network_policies: true } as const;
const APPLICATION = '019a0000-0000-7000-8000-0000b10ca99a';
const aPart = (part: string) =>
  aDeployment(
    { ports: [{ containerPort: 80, protocol: 'TCP' }] },
    { application: { id: APPLICATION, part } },
    permitted,
  );

const namesOf = (server: ApiServer, resource: string) =>
  server.objects(resource).map(({ metadata }) => metadata.name ?? '');

/** Two parts of an application that run. */
async function twoParts() {
  const server = await anApiServer();
  const client = clientOf(server, SUPPORTED);
  const [web, database] = [aPart('web'), aPart('database')];
  const start = (part: typeof web) =>
    reconcileTo(client, { wanted: running(part.manifest()), fence: part.fence(), phase: 'running' });
  const remove = (part: typeof web) =>
    reconcileTo(client, {
      wanted: { kind: 'gone', volumes: [], application: APPLICATION },
      fence: part.fence(8),
      phase: 'gone',
    });
  return { server, client, web, database, start, remove };
}

test('each part has a policy, and all of them share the Service with their names', async () => {
  const { server, client, web, database, start } = await twoParts();
  expect((await start(web)).actions).toEqual([
    `created ${web.name} (NetworkPolicy)`,
    `created ${web.name} (Deployment)`,
    `created ${web.name} (Service)`,
    'created svc-app-b10ca99a (Service)',
  ]);
  expect((await start(database)).actions).not.toContain('created svc-app-b10ca99a (Service)');
  expect((await start(web)).actions).toEqual([]);
  expect(namesOf(server, 'networkpolicies').sort()).toEqual([web.name, database.name].sort());
  expect(namesOf(server, 'services')).toContain('svc-app-b10ca99a');
  const listed = await listManaged(client);
  expect(listed).toContainEqual(expect.objectContaining({ id: web.id, object: `${web.name} (NetworkPolicy)` }));
  expect(listed.map(({ object }) => object)).not.toContain('svc-app-b10ca99a (Service)');
});

test('a stopped part keeps its policy', async () => {
  const { server, client, web, start } = await twoParts();
  await start(web);
  await reconcileTo(client, { wanted: { kind: 'stopped' }, fence: web.fence(8), phase: 'stopped' });
  expect(namesOf(server, 'networkpolicies')).toEqual([web.name]);
});

test('the Service with the names is removed with the last part', async () => {
  const { server, web, database, start, remove } = await twoParts();
  await start(web);
  await start(database);
  expect((await remove(web)).actions).not.toContain('removed svc-app-b10ca99a (Service)');
  expect(namesOf(server, 'networkpolicies')).toEqual([database.name]);
  expect((await remove(database)).actions).toContain('removed svc-app-b10ca99a (Service)');
  expect([...namesOf(server, 'services'), ...namesOf(server, 'networkpolicies')]).toEqual([]);
});

test('the names of an application remain while others of its deleted parts run, and are removed with them', async () => {
  const { server, client, web, database, start } = await twoParts();
  await start(web);
  await start(database);
  await removeOrphans(client, new Set([web.id]));
  server.settle();
  expect(namesOf(server, 'services').sort()).toEqual([database.name, 'svc-app-b10ca99a'].sort());
  await removeOrphans(client, new Set([database.id]));
  server.settle();
  expect(namesOf(server, 'services')).toEqual([]);
});

test('a Service of somebody else with the name is not changed, and the part says so', async () => {
  const { server, client, web } = await twoParts();
  server.put('services', { metadata: { name: 'svc-app-b10ca99a', namespace: 'fleet' }, spec: { ports: [] } });
  const message = expect.stringContaining('svc-app-b10ca99a (Service) exists, but was not created for this');
  expect(await reconcile(client, running(web.manifest()), web.fence())).toMatchObject({
    reason: 'NameConflict',
    message,
  });
  expect(server.object('services', 'svc-app-b10ca99a').spec).not.toHaveProperty('selector');
});

test('a deployment runs without a policy that the cluster no longer permits', async () => {
  const { server, web, start } = await twoParts();
  server.forbidden.add('patch networkpolicies');
  expect((await start(web)).reason).toBeNull();
  expect(namesOf(server, 'networkpolicies')).toEqual([]);
});

test('a cluster without policies is reconciled without a request for them', async () => {
  const server = await anApiServer();
  const deployment = aDeployment();
  const wanted = running(deployment.manifest());
  await reconcileTo(clientOf(server), { wanted, fence: deployment.fence(), phase: 'running' });
  expect(server.requests.filter(({ path }) => /networkpolicies/.test(path))).toEqual([]);
});

describe('the check of a cluster', () => {
  const findingOn = async (server: ApiServer) => {
    const { conditions, network_policies } = await check(clientOf(server));
    const { status, reason, message } = conditions.find(({ type }) => type === 'Isolated') ?? {};
    return [network_policies, status, reason, message];
  };

  test('states that the network must enforce the policies', async () => {
    const message = expect.stringMatching(/only if the network plug-in of the cluster enforces them/);
    expect(await findingOn(await anApiServer())).toEqual([true, 'True', 'Allowed', message]);
  });

  test.each([
    ['* networkpolicies', 'list networkpolicies'],
    ['delete networkpolicies', 'delete networkpolicies'],
  ])('lacks the permission %s, names it, and finds everything else as before', async (forbidden, named) => {
    const server = await anApiServer();
    server.forbidden.add(forbidden);
    const lacking = `Pods of different applications reach each other, because the credentials lack these permissions in the namespace fleet: ${named}.`;
    expect(await findingOn(server)).toEqual([false, 'False', 'Forbidden', lacking]);
    const { conditions } = await check(clientOf(server));
    expect(conditions.filter(({ status }) => status === 'False').map(({ type }) => type)).toEqual(['Isolated']);
  });
});
