// Values of secrets on their way to a real engine: they are in no answer, no event, no log line and no table in clear; what a
// container prints is passed on to who asks for its log, and is nowhere else.
import { newSecretToken } from '@svc/auth';
import { describeWithPodman, startPodman, type TestPodman } from '@svc/testing/podman';
import { startProcessWorld } from '../process-world.ts';
import { createCaller } from '../secrets/caller.ts';
import { type Canary, type Haystacks, leaks } from '../secrets/forms.ts';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { eventually, SERVER, SLEEPER } from './world.ts';

const canaries: Canary[] = [];
const aCanary = (name: string): string => {
  const value = `${name.replaceAll(' ', '-')}-${newSecretToken('svcm_').slice(5)}`;
  canaries.push({ name, value });
  return value;
};

describeWithPodman('secrets on a real engine', () => {
  let world: Awaited<ReturnType<typeof startProcessWorld>>;
  let podman: TestPodman;
  let proxy: EngineProxy;
  beforeAll(async () => {
    [world, podman] = await Promise.all([startProcessWorld(), startPodman()]);
    proxy = await startEngineProxy(podman.endpoint);
  }, 60_000);
  afterAll(async () => {
    await world.endAll();
    await proxy.stop();
    await podman.stop();
    await world.database.drop();
  }, 60_000);

  const dump = async (): Promise<Haystacks> => {
    const tables = await world.query(`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`);
    const texts = tables.map(async ({ name }) => {
      const rows: { row: string }[] = await world.query(`SELECT t::text AS row FROM ${name} t`);
      return [`table ${name}`, rows.map(({ row }) => row).join('\n')] as const;
    });
    return Object.fromEntries(await Promise.all(texts));
  };

  test('are nowhere else, whatever goes wrong', async () => {
    const fleet = await world.startFleet({
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'trace',
      OUTBOUND_ALLOW: 'http,loopback,unix',
    });
    const { call } = createCaller(fleet.url);
    const as: string = (await world.createToken('admin')).secret;
    const answers: string[] = [];
    const heard = async (method: string, path: string, body?: object) => {
      const answer = await call(method, `/api/v1/${path}`, body ? { as, body } : { as });
      answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    };
    const shown = async (id: string) => (await heard('GET', `deployments/${id}`)).body.deployment;
    const is = (id: string, phase: string, reason: string | null = null) =>
      eventually(`it is ${phase}`, async () => {
        const seen = await shown(id);
        return seen.phase === phase && seen.reason === reason && seen.generation === seen.observed_generation;
      });
    const deployed = async (name: string, spec: object) => {
      const workload = await heard('POST', 'workloads', { name, ...spec });
      const made = await heard('POST', 'deployments', { name, workload_id: workload.body.workload.id });
      expect(made.status).toBe(201);
      return String(made.body.deployment.id);
    };

    const values = { PASSWORD: aCanary('first value') };
    const secret = (await heard('POST', 'secrets', { name: 'pass', values })).body.secret;
    const pull = { username: aCanary('user of a registry'), password: aCanary('password of a registry') };
    await heard('POST', 'secrets', { name: 'pull', kind: 'registry', values: pull });
    await heard('POST', 'hosts', { name: 'machine', engine: 'podman', endpoint: proxy.endpoint });
    await eventually(
      'the host is online',
      async () => (await heard('GET', 'hosts')).body.hosts[0].reachability === 'online',
    );

    const printing = await deployed('printing', { ...SERVER, command: ['/bin/sh', '-c', `env; ${SERVER.command[2]}`] });
    const ref = { secret_refs: SERVER.secret_refs };
    const crashing = await deployed('crashing', { ...SLEEPER, ...ref, command: ['/bin/sh', '-c', 'env; exit 3'] });
    const noProgram = await deployed('no-program', { ...SLEEPER, ...ref, command: ['/nowhere'] });
    const pulled = { ...SLEEPER, registry_url: '127.0.0.1:1', registry_credentials: 'pull' };
    const noImage = await deployed('no-image', { ...pulled, ...ref });
    await is(printing, 'running');
    await is(crashing, 'retrying', 'CrashLoop');
    await is(noProgram, 'failed', 'InvalidSpec');
    await is(noImage, 'retrying', 'ImagePullFailed');

    proxy.fate((request) => (request.startsWith('POST') ? 'refused' : 'passed')); // an engine that says what it was told
    const said = proxy.seen.refused;
    const rotated = { PASSWORD: aCanary('second value') };
    expect((await heard('PUT', `secrets/${secret.id}`, { values: rotated })).status).toBe(200);
    await eventually('the engine has refused', async () => proxy.seen.refused > said + 2);
    await eventually('it says so', async () => (await shown(crashing)).reason === 'EngineError');
    proxy.fate(() => 'passed');
    await heard('POST', `deployments/${printing}/restart`, {});
    await is(printing, 'running');
    for (const id of [printing, crashing, noProgram, noImage]) {
      for (const part of ['', '/events?limit=100', '/manifest', '/revisions'])
        await heard('GET', `deployments/${id}${part}`);
    }
    for (const list of ['secrets', 'workloads', 'deployments', 'storage', 'hosts', 'audit']) await heard('GET', list);

    const log = await fetch(`${fleet.url}/api/v1/deployments/${printing}/logs`, {
      headers: { Authorization: `Bearer ${as}` },
    });
    expect(await log.text()).toContain(`PASSWORD=${rotated.PASSWORD}`); // what it prints is its own
    const tables = await dump();
    await world.stop(fleet);
    const haystacks = { ...tables, answers: answers.join('\n'), output: fleet.output() };
    expect(tables['table deployment_events']).toContain('out of order'); // the engine's words are kept
    expect(haystacks.output).toContain(`/api/v1/secrets/${secret.id}`);
    expect(leaks(canaries, haystacks)).toEqual([]);
  }, 120_000);
});
