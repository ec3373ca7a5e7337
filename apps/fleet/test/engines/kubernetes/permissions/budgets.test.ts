// PodDisruptionBudgets, which a cluster can lack or not permit.
import { afterEach, describe, expect, test } from '@jest/globals';
import { check } from '../../../../src/engines/kubernetes/check/check.ts';
import { listManaged } from '../../../../src/engines/kubernetes/managed.ts';
import { reconcile } from '../../../../src/engines/kubernetes/reconcile.ts';
import type { ApiServer } from '../api-server.ts';
import { aDeployment, anApiServer, clientOf, endAll, reconcileTo, running } from '../world.ts';

afterEach(endAll);

const SUPPORTED = { has_disruption_budgets: true };
const withBudgets = { disruption_budgets: 'with_unhealthy' } as const;
const budgetsIn = (server: ApiServer) => server.objects('poddisruptionbudgets').map(({ spec }) => spec);

describe('a deployment with several replicas', () => {
  test('has a budget, which goes with all replicas but one, and with the deployment', async () => {
    const server = await anApiServer();
    const client = clientOf(server, SUPPORTED);
    const deployment = aDeployment({}, { replicas: 3 }, withBudgets);
    const { name } = deployment;
    const up = { wanted: running(deployment.manifest()), fence: deployment.fence(), phase: 'running' as const };
    expect((await reconcileTo(client, up)).actions).toEqual([
      `created ${name} (Deployment)`,
      `created ${name} (PodDisruptionBudget)`,
    ]);
    expect(budgetsIn(server)).toEqual([
      {
        maxUnavailable: 1,
        selector: { matchLabels: { 'fleet/deployment': deployment.id } },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    ]);
    expect(await listManaged(client)).toContainEqual(
      expect.objectContaining({ id: deployment.id, object: `${name} (PodDisruptionBudget)` }),
    );
    const one = { wanted: running(deployment.manifest({ generation: 8, replicas: 1 })), fence: deployment.fence(8) };
    expect((await reconcileTo(client, { ...one, phase: 'running' })).actions).toContain(
      `removed ${name} (PodDisruptionBudget)`,
    );
    const two = { wanted: running(deployment.manifest({ generation: 9, replicas: 2 })), fence: deployment.fence(9) };
    await reconcileTo(client, { ...two, phase: 'running' });
    await reconcileTo(client, {
      wanted: { kind: 'gone', volumes: [] },
      fence: deployment.fence(10),
      phase: 'gone',
    });
    expect(budgetsIn(server)).toEqual([]);
  });

  test('runs without a budget that the cluster no longer permits', async () => {
    const server = await anApiServer();
    server.forbidden.add('patch poddisruptionbudgets');
    const deployment = aDeployment({}, { replicas: 2 }, withBudgets);
    const wanted = running(deployment.manifest());
    const seen = await reconcileTo(clientOf(server, SUPPORTED), {
      wanted,
      fence: deployment.fence(),
      phase: 'running',
    });
    expect(seen.reason).toBeNull();
    expect(budgetsIn(server)).toEqual([]);
  });

  test('is reconciled without a request for budgets if the cluster has none', async () => {
    const server = await anApiServer();
    const deployment = aDeployment({}, { replicas: 2 });
    await reconcile(clientOf(server), running(deployment.manifest()), deployment.fence());
    expect(server.requests.filter(({ path }) => /poddisruptionbudgets/.test(path))).toEqual([]);
  });
});

describe('the check of a cluster finds that the fleet', () => {
  const findingOn = async (server: ApiServer) => {
    const { conditions, disruption_budgets } = await check(clientOf(server));
    const { status, reason, message } = conditions.find(({ type }) => type === 'DisruptionBudgets') ?? {};
    return [disruption_budgets, status, reason, message];
  };

  test.each([
    ['v1.33.1', 'with_unhealthy'],
    ['v1.27.0-gke.100', 'with_unhealthy'],
    ['v1.26.9+k3s1', 'basic'],
    ['v1.21.0', 'basic'],
  ])('can use budgets in version %s: %s', async (gitVersion, expected) => {
    const server = await anApiServer();
    server.gitVersion = gitVersion;
    expect(await findingOn(server)).toEqual([expected, 'True', 'Allowed', '']);
  });

  test('cannot use budgets before version 1.21, and does not ask for them', async () => {
    const server = await anApiServer();
    server.gitVersion = 'v1.20.15';
    const none = 'Deployments have no PodDisruptionBudgets. The cluster has them from Kubernetes 1.21.';
    expect(await findingOn(server)).toEqual([null, 'Unknown', 'NotSupported', none]);
    expect(server.requests.filter(({ path, body }) => /poddisruption/.test(path + body))).toEqual([]);
  });

  test.each([
    ['* poddisruptionbudgets', 'list poddisruptionbudgets'],
    ['delete poddisruptionbudgets', 'delete poddisruptionbudgets'],
  ])('lacks the permission %s, and names it, without a condition that is False', async (forbidden, named) => {
    const server = await anApiServer();
    server.forbidden.add(forbidden);
    const lacking = `Deployments have no PodDisruptionBudgets. The credentials lack ${named} in the namespace fleet.`;
    expect(await findingOn(server)).toEqual([null, 'Unknown', 'Forbidden', lacking]);
  });
});
