// A replaced container has ended before its successor starts, because both use the same volumes.
import { afterEach, expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { KEYS } from '../../src/render/labels.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import { aDeployment, aMachine, aScript, reconcileTo, running, SLEEP } from './world.ts';

afterEach(endAll);

const volume_mounts = [{ name: 'data', mountPath: '/data' }];

/** A script that fails if another container has the volume in use. It needs a second to end. */
const EXCLUSIVE = [
  'mkdir /data/in-use || exit 9',
  "trap 'sleep 1; rmdir /data/in-use; exit 0' TERM",
  'sleep 1000 & wait',
].join('\n');

describeWithEngine('a replacement on a real engine', () => {
  const machine = aMachine();

  test('of a container with a volume starts the new container after the old one has ended', async () => {
    const { client } = machine();
    const deployment = await aDeployment(aScript(EXCLUSIVE, { volume_mounts }));
    await reconcileTo(client, {
      wanted: running(await deployment.manifest()),
      fence: deployment.fence(),
      phase: 'running',
    });
    for (const generation of [8, 9]) {
      const next = await deployment.manifest({ generation, env: [{ name: 'GENERATION', value: String(generation) }] });
      const seen = await reconcileTo(client, {
        wanted: running(next),
        fence: deployment.fence(generation),
        phase: 'running',
      });
      expect(seen.actions).toEqual([`created ${deployment.name()} again: its configuration has changed`]);
      expect(seen.instances).toMatchObject([
        { name: deployment.name(), phase: 'running', message: 'is running', restarts: 0 },
      ]);
    }
  });
});

test('a container is not created while the container that it replaces cannot be removed', async () => {
  const deployment = await aDeployment(aScript(SLEEP, { volume_mounts }));
  const manifest = await deployment.manifest();
  const [rendered] = manifest.containers;
  const Labels = { ...rendered?.body.Labels, [KEYS.ordinal]: '0', [KEYS.generation]: '1' };
  const old = {
    Id: 'old',
    Name: '/renamed-by-someone',
    State: { Status: 'running', Running: true, ExitCode: 0, StartedAt: '2026-01-01T00:00:00Z', FinishedAt: '' },
    Config: { Labels },
    HostConfig: { RestartPolicy: { Name: 'no' } },
  };
  const requests: string[] = [];
  const endpoint = await serve(
    anEngine((req, res) => {
      const [path = ''] = (req.url ?? '').replace(/^\/v[\d.]+/, '').split('?');
      requests.push(`${req.method} ${path}`);
      const answers: Record<string, unknown> = {
        '/containers/json': [{ Id: 'old', Names: ['/renamed-by-someone'], Labels, State: 'running' }],
        '/containers/old/json': old,
        '/containers/create': { Id: 'new' },
      };
      res.statusCode = path === '/containers/old/stop' ? 500 : 200;
      res.setHeader('content-type', 'application/json');
      res.end(
        JSON.stringify(answers[path] ?? { Name: manifest.volumes[0]?.Name, Labels: manifest.volumes[0]?.Labels }),
      );
    }),
  );
  const seen = await reconcile(clientOf(endpoint), running(manifest), deployment.fence());
  expect(requests).toContain('POST /containers/old/stop');
  expect(requests).not.toContain('POST /containers/create');
  expect(seen).toMatchObject({ next: 'retry', instances: [{ phase: 'missing' }, { name: 'renamed-by-someone' }] });
});
