import { eventually } from '@svc/testing';
// Secret values that a real engine receives appear in no response, event, log line or table in plain text. The exception is the output of a
// container: its log is returned to the caller and is not stored.
import { describeWithEngine, startEngine, type TestEngine } from '@svc/testing/engine';
import { anAdminToken } from '../../faults/identity-world.ts';
import { startProcessWorld } from '../../process-world.ts';
import { dump } from '../../secrets/dump.ts';
import { leaks } from '../../secrets/encoded-forms.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import { createCanaries, recordingClient } from '../canary-secrets.ts';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { SERVER, SLEEPER } from './world.ts';

const { canaries, keep, aCanary } = createCanaries();

describeWithEngine('secret values on a real engine', () => {
  let world: Awaited<ReturnType<typeof startProcessWorld>>;
  let podman: TestEngine;
  let proxy: EngineProxy;
  beforeAll(async () => {
    [world, podman] = await Promise.all([
      startProcessWorld({ isMigrated: true, timings: SHORT_TIMINGS }),
      startEngine(),
    ]);
    proxy = await startEngineProxy(podman.endpoint);
  });
  afterAll(async () => {
    await world.endAll();
    await proxy.stop();
    await podman.stop();
    await world.database.drop();
  });

  test('do not leak while deployments run and fail', async () => {
    const fleet = await world.startFleet({
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'trace',
      OUTBOUND_ALLOW: 'http,loopback,unix',
    });
    const as = await anAdminToken(world.database.url);
    const { request, answers, shown, is, deployed, readAll } = recordingClient(fleet.url, as);

    const values = { PASSWORD: aCanary('first value') };
    const secret = (await request('POST', 'secrets', { name: 'pass', values })).body.secret;
    const pull = { username: aCanary('user of a registry'), password: aCanary('password of a registry') };
    await request('POST', 'secrets', { name: 'pull', kind: 'registry', server: '127.0.0.1:1', values: pull });
    await request('POST', 'hosts', { name: 'machine', engine: podman.kind, endpoint: proxy.endpoint });
    await eventually(
      'the host is online',
      async () => (await request('GET', 'hosts')).body.hosts[0].reachability === 'online',
    );

    const print = { ...SERVER, command: ['/bin/sh', '-c', `env; ${SERVER.command[2]}`] };
    const env_schema = [{ name: 'GENERATED', required: true, description: 'A password. [secret]' }];
    const env = { GENERATED: { generate: 32 } };
    const printing = await deployed('printing', { ...print, env_schema }, { env });
    const ref = { secret_refs: SERVER.secret_refs };
    const crashing = await deployed('crashing', { ...SLEEPER, ...ref, command: ['/bin/sh', '-c', 'env; exit 3'] });
    const noProgram = await deployed('no-program', {
      ...SLEEPER,
      ...ref,
      command: ['/nowhere'],
      env: [...SLEEPER.env, { name: 'SVC_INIT', value: 'false' }],
    });
    const pulled = { ...SLEEPER, registry_url: '127.0.0.1:1', registry_credentials: 'pull' };
    const noImage = await deployed('no-image', { ...pulled, ...ref });
    await is(printing, 'running');
    await is(crashing, 'degraded', 'CrashLoop');
    await is(noProgram, 'failed', 'InvalidSpec');
    await is(noImage, 'retrying', 'ImagePullFailed');

    // An engine that repeats the request.
    proxy.setFault((request) => (request.startsWith('POST') ? 'refused' : 'passed'));
    const refusedBefore = proxy.seen.refused;
    const rotated = { PASSWORD: aCanary('second value') };
    expect((await request('PUT', `secrets/${secret.id}`, { values: rotated })).status).toBe(200);
    await eventually('the engine has rejected requests', async () => proxy.seen.refused > refusedBefore + 2);
    await eventually('the deployment has failed', async () => (await shown(crashing)).reason === 'EngineError');
    proxy.setFault(() => 'passed');
    await request('POST', `deployments/${printing}/restart`, {});
    await is(printing, 'running');
    await readAll([printing, crashing, noProgram, noImage]);

    const log = await fetch(`${fleet.url}/api/v1/deployments/${printing}/logs`, {
      headers: { Authorization: `Bearer ${as}` },
    });
    const printed = await log.text(); // the output of a container is not searched
    expect(printed).toContain(`PASSWORD=${rotated.PASSWORD}`);
    const [, generated = ''] = /^GENERATED=(.{32})$/m.exec(printed) ?? [];
    keep('generated value', generated);
    expect(generated).not.toBe('');
    const tables = await dump(world, 'in the end');
    await world.stop(fleet);
    const haystacks = { ...tables, answers: answers.join('\n'), output: fleet.output() };
    // Messages of the engine are stored.
    expect(tables['public.deployment_events, in the end']).toContain('out of order');
    expect(haystacks.output).toContain(`/api/v1/secrets/${secret.id}`);
    expect(leaks(canaries, haystacks)).toEqual([]);
  });
});
