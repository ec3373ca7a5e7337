import { afterEach, describe, expect, test } from '@jest/globals';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import { secretsWithValues } from '../../src/render/secrets.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import { aDeployment, aScript, running } from './world.ts';

afterEach(endAll);

interface Response {
  readonly status: number;
  readonly message?: string;
  /** The messages of a pull. */
  readonly lines?: readonly object[];
}

/** A Docker engine without containers that sends the given responses. */
const aDocker = (answers: Readonly<Record<string, Response>>) =>
  anEngine((req, res) => {
    const path = new URL(req.url ?? '', 'http://docker').pathname.replace('/v1.47', '');
    const [, answer] = Object.entries(answers).find(([end]) => `${req.method} ${path}`.endsWith(end)) ?? [];
    if (answer) {
      const text = answer.lines?.map((line) => `${JSON.stringify(line)}\n`).join('') ?? JSON.stringify(answer);
      res.writeHead(answer.status).end(text);
    } else if (path.endsWith('/containers/json')) res.end('[]');
    else if (path === '/containers/create') res.writeHead(201).end('{"Id":"c1"}');
    else if (path.startsWith('/images/')) res.end('{}');
    else res.writeHead(404).end('{"message":"No such container"}');
  });

async function observedAfter(answers: Readonly<Record<string, Response>>) {
  const deployment = await aDeployment(aScript(''));
  return reconcile(clientOf(await serve(aDocker(answers))), running(await deployment.manifest()), deployment.fence());
}

/** A secret with a password, in a version. */
const aPassword = (version: number) =>
  secretsWithValues([{ name: 'password', version, values: { PASSWORD: 'c4n4ry-in-the-middle' } }]);

const ABSENT = { '/localhost/svc-test/busybox:1/json': { status: 404, message: 'No such image' } };

test.each([
  ['a restart was requested', { restarted_at: '2026-01-01T00:00:00Z' }, {}],
  ['values of its secrets have changed', { secrets: aPassword(2) }, {}],
  ['its configuration has changed', { env: [{ name: 'GREETING', value: 'good day' }] }, {}],
  [
    'a restart was requested, and the revision of its workload has changed',
    { restarted_at: '2026-01-01T00:00:00Z', source: { workload_id: 'w', revision: 2, variables: [] } },
    { image_tag: '2' },
  ],
])('the action of a replacement states its cause: %s', async (cause, given, changed) => {
  const spec = aScript('', { secret_refs: [{ name: 'password', env: 'PASSWORD' }] });
  const deployment = await aDeployment(spec, {
    secrets: aPassword(1),
    source: { workload_id: 'w', revision: 1, variables: [] },
  });
  const [before] = (await deployment.manifest()).containers;
  const found = {
    Id: 'c1',
    Name: `/${deployment.name()}`,
    State: { Status: 'running', Running: true, ExitCode: 0, StartedAt: '2026-01-01', FinishedAt: '' },
    Config: { Labels: before?.body.Labels },
    HostConfig: { RestartPolicy: { Name: 'on-failure' } },
  };
  const listed = [{ Id: 'c1', Labels: before?.body.Labels, State: 'running' }];
  const docker = anEngine((req, res) => {
    const url = req.url ?? '';
    if (url.includes('/containers/json')) res.end(JSON.stringify(listed));
    else if (url.endsWith('/json')) res.end(JSON.stringify(found));
    else if (url.includes('/containers/create')) res.writeHead(201).end('{"Id":"c2"}');
    else res.writeHead(204).end();
  });
  const wanted = running(await deployment.manifest({ generation: 8, ...given }, changed));
  const { actions } = await reconcile(clientOf(await serve(docker)), wanted, deployment.fence(8));
  expect(actions).toEqual([`created ${deployment.name()} again: ${cause}`]);
});

test.each([
  [
    'Podman',
    '/create',
    'container-init binary not found on the host: stat /usr/libexec/podman/catatonit: no such file',
  ],
  ['Docker', '/start', 'exec: "docker-init": executable file not found in $PATH'],
])('a container starts without an init process on a host that has none, as %s reports', async (_, step, message) => {
  const deployment = await aDeployment(aScript(''));
  const created: { readonly HostConfig: object }[] = [];
  const docker = anEngine((req, res) => {
    const url = req.url ?? '';
    let text = '';
    req.on('data', (chunk) => {
      text += chunk;
    });
    req.on('end', () => {
      if (url.includes('/containers/create')) created.push(JSON.parse(text));
      const hasInit = 'Init' in (created.at(-1)?.HostConfig ?? {});
      if (hasInit && url.replace(/\?.*$/, '').endsWith(step)) res.writeHead(500).end(JSON.stringify({ message }));
      else if (url.includes('/containers/create')) res.writeHead(201).end('{"Id":"c1"}');
      else if (url.includes('/containers/json')) res.end('[]');
      else if (url.includes('/images/')) res.end('{}');
      else if (url.endsWith('/json')) res.writeHead(404).end('{}');
      else res.writeHead(204).end();
    });
  });
  const wanted = running(await deployment.manifest());
  const { actions, reason } = await reconcile(clientOf(await serve(docker)), wanted, deployment.fence());
  expect(reason).toBeNull();
  expect(actions.at(-1)).toBe(
    `created ${deployment.name()} without an init process: its host has none (catatonit or docker-init)`,
  );
  expect(created.map(({ HostConfig }) => 'Init' in HostConfig)).toEqual([true, false]);
});

describe('a failure that Docker reports', () => {
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
  ])('for a pull (%p: %s) has the reason %s', async (status, message, reason, phase) => {
    expect(await observedAfter({ ...ABSENT, '/images/create': { status, message } })).toMatchObject({ phase, reason });
  });

  test.each([
    ['Get "https://x/v2/": dial tcp: lookup x: no such host', 'cannot resolve the name of the registry'],
    ['dial tcp: lookup x: Temporary failure in name resolution', 'cannot resolve the name of the registry'],
    ['pinging container registry x: dial tcp 10.0.0.1:443: connect: connection refused', 'cannot connect'],
    ['http: server gave HTTP response to HTTPS client', 'does not use TLS'],
    ['tls: failed to verify certificate: x509: certificate signed by unknown authority', 'does not trust'],
    ['toomanyrequests: You have reached your pull rate limit', 'limits the number of pulls'],
    ['write /var/lib/docker/tmp/x: no space left on device', 'the disk of the target is full'],
    ['no matching manifest for linux/arm64/v8 in the manifest list entries', 'for the architecture of the target'],
    ['Get "https://x/v2/": net/http: request canceled (Client.Timeout exceeded)', 'did not respond in time'],
  ])('for a pull (%s) states the cause: %s', async (message, cause) => {
    const found = await observedAfter({ ...ABSENT, '/images/create': { status: 500, message } });
    expect(found).toMatchObject({ phase: 'retrying', reason: 'ImagePullFailed' });
    expect(found.message).toContain(cause);
    expect(found.message).not.toContain('credentials');
  });

  test('for a pull after the status 200 has the reason ImagePullFailed', async () => {
    const lines = [{ status: 'Pulling' }, { error: 'short read', errorDetail: { message: 'short read' } }];
    const found = await observedAfter({ ...ABSENT, '/images/create': { status: 200, lines } });
    expect(found).toMatchObject({ phase: 'retrying', reason: 'ImagePullFailed' });
    expect(found.message).toMatch(/could not be pulled\. The engine reported: short read$/);
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
    ['/containers/create', 404, 'No such image: x:1', 'ImageNotFound', 'retrying'],
    ['/containers/create', 404, 'network x not found', 'EngineError', 'retrying'],
    ['/containers/create', 500, 'no space left on device', 'EngineError', 'retrying'],
    ['/start', 500, 'could not select device driver "" with capabilities: [[gpu]]', 'GpuMissing', 'failed'],
    ['/start', 400, 'exec: "nope": executable file not found in $PATH', 'InvalidSpec', 'failed'],
    ['/start', 500, 'error mounting: no such file or directory', 'EngineError', 'retrying'],
  ])('for %s (%p: %s) has the reason %s', async (path, status, message, reason, phase) => {
    const stranger = { '-0/json': { status: 200 } };
    const found = await observedAfter({ [path]: { status, message }, ...stranger });
    expect(found).toMatchObject({ phase, reason, next: phase === 'failed' ? 'settled' : 'retry' });
  });

  test('for a port names the port', async () => {
    const deployment = await aDeployment(aScript('', { ports: [{ containerPort: 80, protocol: 'TCP' }] }));
    const wanted = running(await deployment.manifest());
    const port = wanted.manifest.containers[0]?.body.HostConfig.PortBindings['80/tcp']?.[0]?.HostPort;
    const message = `driver failed programming external connectivity: Bind for 0.0.0.0:${port} failed: port is already allocated`;
    const client = clientOf(await serve(aDocker({ '/start': { status: 500, message } })));
    expect(await reconcile(client, wanted, deployment.fence())).toMatchObject({
      reason: 'PortConflict',
      message: `Port ${port} of the host, which ${deployment.name()} requires, is already in use.`,
    });
  });

  test('for an address that the host does not have names the address', async () => {
    const deployment = await aDeployment(aScript('', { ports: [{ containerPort: 80, protocol: 'TCP' }] }));
    const message =
      'driver failed programming external connectivity on endpoint web: failed to bind port 203.0.113.9:20000/tcp: Error starting userland proxy: listen tcp4 203.0.113.9:20000: bind: cannot assign requested address';
    const client = clientOf(await serve(aDocker({ '/start': { status: 500, message } })));
    expect(await reconcile(client, running(await deployment.manifest()), deployment.fence())).toMatchObject({
      phase: 'retrying',
      reason: 'AddressNotAvailable',
      next: 'retry',
      message: expect.stringContaining(`the address to which the ports of ${deployment.name()} bind (127.0.0.1)`),
    });
  });

  test('is reported without the values of variables, also where the message is truncated', async () => {
    const spec = aScript('', { secret_refs: [{ name: 'password', env: 'PASSWORD' }] });
    const deployment = await aDeployment(spec, { secrets: aPassword(1) });
    for (let before = 280; before <= 300; before += 4) {
      const message = `${'x'.repeat(before)}c4n4ry-in-the-middle`;
      const client = clientOf(await serve(aDocker({ '/containers/create': { status: 400, message } })));
      const found = await reconcile(client, running(await deployment.manifest()), deployment.fence());
      expect(found.reason).toBe('InvalidSpec');
      expect(JSON.stringify(found)).not.toContain('c4n');
    }
  });

  test('as missing authorization is thrown, because the state cannot be observed', async () => {
    const deployment = await aDeployment(aScript(''));
    const client = clientOf(await serve(aDocker({ '/containers/json': { status: 403, message: 'no' } })));
    const error = await reconcile(client, { kind: 'stopped' }, deployment.fence()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'Permanent', reason: 'AuthFailed' });
  });
});
