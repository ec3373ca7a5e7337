// What a check of a host costs if nothing has changed.
import { afterEach, expect, test } from '@jest/globals';
import { checkTarget } from '../../src/reconciler/checks/checks.ts';
import type { ReconcilerContext } from '../../src/reconciler/targets.ts';
import { DEFAULT_TIMINGS } from '../../src/reconciler/timings.ts';
import { startDeploymentWorld } from '../deployments/world.ts';
import { anEngine, endAll, serve } from '../engines/servers.ts';

const fleet = await startDeploymentWorld();
const { client, world } = fleet;
afterEach(endAll);

/** A Docker engine with two managed containers, and the requests that it has received. */
async function aDocker(ids: readonly string[]) {
  const requests: string[] = [];
  const engine = { version: '27.0.0', status: 'Up 3 minutes' };
  const endpoint = await serve(
    anEngine((req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://engine');
      requests.push(pathname.replace('/v1.47', ''));
      const containers = ids.map((id, index) => ({
        Id: `container-${index}`,
        Names: [`/web-${index}`],
        State: 'running',
        Status: engine.status,
        Labels: {
          'app.kubernetes.io/managed-by': 'fleet',
          'fleet/deployment': id,
          'fleet/ordinal': '0',
          'fleet/generation': '1',
          'fleet/body': 'digest',
        },
      }));
      const answers: Record<string, unknown> = {
        '/v1.47/version': { Version: engine.version, Arch: 'amd64' },
        '/v1.47/info': { NCPU: 8, MemTotal: 2 ** 35, ID: 'AAAA', ServerVersion: engine.version },
        '/v1.47/containers/json': containers,
        '/v1.47/volumes': { Volumes: [] },
      };
      res.end(JSON.stringify(answers[pathname]));
    }),
  );
  return { endpoint, requests, engine };
}

async function aRunning(host_id: string, index: number) {
  const { id: workload_id } = await fleet.aWorkload();
  const instances = [{ name: `web-${index}`, phase: 'running', message: 'is running', restarts: 0 }];
  const before = new Date(Date.now() - 60_000);
  const { id } = await client.deployment.create({
    data: {
      name: fleet.aName('web'),
      created_by: 'test',
      workload_id,
      revision: 1,
      replicas: 1,
      host_id,
      instances,
      observed_generation: 1,
      phase: 'running',
      observed_at: before,
      sent_to_engine: true,
      due_at: new Date(Date.now() + 3_600_000),
    },
  });
  return id;
}

test('a check of a host where nothing has changed sends three requests and two statements, and makes nothing due', async () => {
  const { id: hostId } = await fleet.aHost();
  const ids = await Promise.all([aRunning(hostId, 0), aRunning(hostId, 1)]);
  const { endpoint, requests, engine } = await aDocker(ids);
  await client.host.update({ where: { id: hostId }, data: { endpoint } });
  const statements: string[] = [];
  const counted = {
    $executeRaw: (...args: Parameters<typeof client.$executeRaw>) => {
      statements.push('$executeRaw');
      return client.$executeRaw(...args);
    },
    $queryRaw: (...args: Parameters<typeof client.$queryRaw>) => {
      statements.push('$queryRaw');
      return client.$queryRaw(...args);
    },
  };
  const { hosts, clusters } = world.services.engineRuntime;
  // Another kind of statement fails, because the client has only these methods.
  const database = { client: counted } as unknown as ReconcilerContext['database'];
  const context = { database, hosts, clusters, log: world.log, timings: DEFAULT_TIMINGS };
  const check = async (observed?: string) => {
    requests.length = 0;
    statements.length = 0;
    const row = await client.host.findUniqueOrThrow({ where: { id: hostId } });
    await checkTarget(context, { kind: 'host', row, ...(observed !== undefined && { observed }) });
  };
  const rows = () => client.deployment.findMany({ orderBy: { id: 'asc' } });
  const before = await rows();

  await check();
  expect(requests).toContain('/version');
  await check();
  expect(requests).toEqual(['/info', '/containers/json', '/volumes']);
  expect(statements).toEqual(['$queryRaw', '$queryRaw']);
  expect(await rows()).toEqual(before);

  await check('as before');
  expect(statements).toEqual(['$queryRaw', '$queryRaw']);
  await check('as before'); // no deployment and nothing in the list has changed since a comparison
  expect(statements).toEqual(['$queryRaw']);
  await check('reconciled');
  expect(statements).toEqual(['$queryRaw', '$queryRaw']);
  engine.status = 'Up 3 minutes (unhealthy)';
  await check('reconciled');
  expect(statements).toEqual(['$queryRaw', '$queryRaw']);
  await check('reconciled'); // the comparison found a difference
  expect(statements).toEqual(['$queryRaw', '$queryRaw']);
  engine.status = 'Up 3 minutes';

  engine.version = '28.0.0';
  await check();
  expect(requests).toContain('/version');
  expect(await client.host.findUniqueOrThrow({ where: { id: hostId } })).toMatchObject({ engine_version: '28.0.0' });
});
