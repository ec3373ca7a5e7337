import { afterEach, expect, test } from '@jest/globals';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { KEYS } from '../../src/render/labels.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import { aDeployment, aScript, type Deployment, running } from './world.ts';

afterEach(endAll);

type Labels = Readonly<Record<string, string>>;

const labelsOf = ({ id }: Deployment): Labels => ({
  [KEYS.managedBy]: 'fleet',
  [KEYS.deployment]: id,
  [KEYS.ordinal]: '0',
  [KEYS.generation]: '1',
  [KEYS.body]: 'x',
});

/**
 * An engine that has containers with these names and labels, and records the changes that it
 * receives.
 */
function anEngineWith(containers: () => Readonly<Record<string, Labels>>) {
  const done: string[] = [];
  const engine = anEngine((req, res) => {
    const path = new URL(req.url ?? '', 'http://docker').pathname.replace('/v1.47/containers/', '');
    if (req.method !== 'GET') done.push(`${req.method} ${path}`);
    const [name = '', labels] = Object.entries(containers()).find(([name]) => path === `${name}/json`) ?? [];
    if (path === 'json') {
      const list = Object.entries(containers()).map(([Id, Labels]) => ({ Id, Labels, State: 'running' }));
      return res.end(JSON.stringify(list));
    }
    if (path === 'create') return res.writeHead(409).end('{"message":"Conflict. The name is already in use"}');
    if (path.startsWith('/v1.47/images/')) return res.end('{}');
    if (req.method === 'POST') return res.writeHead(204).end();
    if (!labels) return res.writeHead(404).end('{}');
    const moment = '2026-01-01T00:00:00Z';
    const State = { Status: 'running', Running: true, ExitCode: 0, StartedAt: moment, FinishedAt: moment };
    const HostConfig = { RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 } };
    return res.end(JSON.stringify({ Id: name, Name: `/${name}`, State, Config: { Labels: labels }, HostConfig }));
  });
  return { engine, done };
}

test('changes only the containers of the deployment if the engine lists others', async () => {
  const deployment = await aDeployment(aScript(''));
  const mine = labelsOf(deployment);
  const { engine, done } = anEngineWith(() => ({
    unlabelled: {},
    'of-another': { ...mine, [KEYS.deployment]: 'another' },
    'of-somebody': { ...mine, [KEYS.managedBy]: 'somebody' },
    'without-a-body': { ...mine, [KEYS.body]: '' },
    'without-a-number': { ...mine, [KEYS.ordinal]: 'first' },
    mine,
  }));
  await reconcile(clientOf(await serve(engine)), { kind: 'stopped' }, deployment.fence());
  expect(done).toEqual(['POST mine/stop', 'DELETE mine']);
});

test('waits for a container of the deployment that holds the name and is not listed yet', async () => {
  const deployment = await aDeployment(aScript(''));
  const manifest = await deployment.manifest();
  let looks = 0;
  const { engine, done } = anEngineWith(() => {
    looks += 1;
    const labels = manifest.containers[0]?.body.Labels ?? {};
    return looks > 10 ? { [deployment.name()]: labels } : {};
  });
  const found = await reconcile(clientOf(await serve(engine)), running(manifest), deployment.fence());
  expect({ phase: found.phase, reason: found.reason, done }).toEqual({
    phase: 'running',
    reason: null,
    done: ['POST create', `POST ${deployment.name()}/start`],
  });
});

test('inspects a container again after a failure, up to a limit', async () => {
  const deployment = await aDeployment(aScript(''));
  let failures = 3;
  const { engine } = anEngineWith(() => ({ mine: { ...labelsOf(deployment), [KEYS.generation]: '8' } }));
  const failing: typeof engine = (req, res) => {
    failures -= req.url?.endsWith('/mine/json') ? 1 : 0;
    if (failures >= 0 && req.url?.endsWith('/mine/json')) res.writeHead(500).end('{"message":"layer not known"}');
    else engine(req, res);
  };
  const client = clientOf(await serve(failing));
  expect(await reconcile(client, { kind: 'stopped' }, deployment.fence())).toMatchObject({
    supersededBy: expect.any(Number),
  });
  failures = 100;
  const error = await reconcile(client, { kind: 'stopped' }, deployment.fence()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'Transient', reason: 'EngineError' });
});
