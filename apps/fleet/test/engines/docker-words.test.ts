import { afterEach, describe, expect, test } from '@jest/globals';
import { pass } from '../../src/engines/docker/reconcile.ts';
import { revealed } from '../../src/render/secrets.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import { aDeployment, aScript, running } from './world.ts';

afterEach(endAll);

interface Said {
  readonly status: number;
  readonly message?: string;
  /** The lines of a pull. */
  readonly lines?: readonly object[];
}

/** A Docker with nothing on it, which says what it is told to, in its own words. */
const aDocker = (answers: Readonly<Record<string, Said>>) =>
  anEngine((req, res) => {
    const path = new URL(req.url ?? '', 'http://docker').pathname.replace('/v1.47', '');
    const [, said] = Object.entries(answers).find(([end]) => `${req.method} ${path}`.endsWith(end)) ?? [];
    if (said) {
      const text = said.lines?.map((line) => `${JSON.stringify(line)}\n`).join('') ?? JSON.stringify(said);
      res.writeHead(said.status).end(text);
    } else if (path.endsWith('/containers/json')) res.end('[]');
    else if (path === '/containers/create') res.writeHead(201).end('{"Id":"c1"}');
    else if (path.startsWith('/images/')) res.end('{}');
    else res.writeHead(404).end('{"message":"No such container"}');
  });

async function told(answers: Readonly<Record<string, Said>>) {
  const it = await aDeployment(aScript(''));
  return pass(clientOf(await serve(aDocker(answers))), running(await it.manifest()), it.fence());
}

const ABSENT = { '/localhost/svc-test/busybox:1/json': { status: 404, message: 'No such image' } };

describe('what Docker says', () => {
  test.each([
    [
      404,
      "pull access denied for x, repository does not exist or may require 'docker login'",
      'ImageNotFound',
      'failed',
    ],
    [404, 'manifest for x:1 not found: manifest unknown: manifest unknown', 'ImageNotFound', 'failed'],
    [404, 'failed to resolve reference "docker.io/x/y:1": docker.io/x/y:1: not found', 'ImageNotFound', 'failed'],
    [500, 'Head "https://x/v2/y/manifests/1": unauthorized: authentication required', 'AuthFailed', 'failed'],
    [500, 'Head "https://x/v2/y/manifests/1": no basic auth credentials', 'AuthFailed', 'failed'],
    [500, 'Get "https://x/v2/": dial tcp: lookup x: no such host', 'ImagePullFailed', 'retrying'],
    [429, 'toomanyrequests: You have reached your pull rate limit', 'ImagePullFailed', 'retrying'],
  ])('of a pull (%p: %s) is %s', async (status, message, reason, phase) => {
    expect(await told({ ...ABSENT, '/images/create': { status, message } })).toMatchObject({ phase, reason });
  });

  test('of a pull after a status of 200 counts', async () => {
    const lines = [{ status: 'Pulling' }, { error: 'short read', errorDetail: { message: 'short read' } }];
    const found = await told({ ...ABSENT, '/images/create': { status: 200, lines } });
    expect(found).toMatchObject({ phase: 'retrying', reason: 'ImagePullFailed' });
    expect(found.message).toMatch(/could not be pulled\. The engine says: short read$/);
  });

  test.each([
    [
      '/containers/create',
      409,
      'Conflict. The container name "/w" is already in use by container "a"',
      'NameConflict',
      'retrying',
    ],
    ['/containers/create', 400, 'invalid mount config', 'InvalidSpec', 'failed'],
    ['/containers/create', 500, 'no space left on device', 'EngineError', 'retrying'],
    ['/start', 500, 'could not select device driver "" with capabilities: [[gpu]]', 'GpuMissing', 'failed'],
    ['/start', 400, 'exec: "nope": executable file not found in $PATH', 'InvalidSpec', 'failed'],
    ['/start', 500, 'error mounting: no such file or directory', 'EngineError', 'retrying'],
  ])('of %s (%p: %s) is %s', async (path, status, message, reason, phase) => {
    const stranger = { '-0/json': { status: 200 } };
    const found = await told({ [path]: { status, message }, ...stranger });
    expect(found).toMatchObject({ phase, reason, next: phase === 'failed' ? 'settled' : 'retry' });
  });

  test('of a port names it', async () => {
    const it = await aDeployment(aScript('', { ports: [{ containerPort: 80, protocol: 'TCP' }] }));
    const wanted = running(await it.manifest());
    const port = wanted.manifest.containers[0]?.body.HostConfig.PortBindings['80/tcp']?.[0]?.HostPort;
    const message = `driver failed programming external connectivity: Bind for 0.0.0.0:${port} failed: port is already allocated`;
    const client = clientOf(await serve(aDocker({ '/start': { status: 500, message } })));
    expect(await pass(client, wanted, it.fence())).toMatchObject({
      reason: 'PortConflict',
      message: `Port ${port} of the machine, which ${it.name()} needs, is taken by something else.`,
    });
  });

  test('is given without the values of variables, also where it is cut', async () => {
    const secrets = revealed([{ name: 'password', version: 1, values: { PASSWORD: 'c4n4ry-in-the-middle' } }]);
    const spec = aScript('', { secret_refs: [{ name: 'password', env: 'PASSWORD' }] });
    const it = await aDeployment(spec, { secrets });
    for (let before = 280; before <= 300; before += 4) {
      const message = `${'x'.repeat(before)}c4n4ry-in-the-middle`;
      const client = clientOf(await serve(aDocker({ '/containers/create': { status: 400, message } })));
      const found = await pass(client, running(await it.manifest()), it.fence());
      expect(found.reason).toBe('InvalidSpec');
      expect(JSON.stringify(found)).not.toContain('c4n');
    }
  });

  test('that it refuses whoever asks is thrown, as nothing can be known', async () => {
    const it = await aDeployment(aScript(''));
    const client = clientOf(await serve(aDocker({ '/containers/json': { status: 403, message: 'no' } })));
    const error = await pass(client, { kind: 'stopped' }, it.fence()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'Permanent', reason: 'AuthFailed' });
  });
});
