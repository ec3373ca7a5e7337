// Two people, an agent and a repository work on a database and an application that uses it, while the image breaks, the history is
// rewritten, the repository is emptied, the fleet is killed, a token is revoked and a backup is restored. No data is lost, each change
// was a plan before, and each refusal names its file and line.
import {
  aGitServer,
  type Backup,
  backUp,
  describeWithGit,
  eventually,
  type GitServer,
  LONG_TEST_MS,
} from '@svc/testing';
import { startProcessWorld } from '../process-world.ts';
import { aSimulatedHost } from '../reconciler/simulated-host.ts';
import { SHORT_TIMINGS } from '../timings.ts';

const world = await startProcessWorld({
  isMigrated: true,
  timings: { ...SHORT_TIMINGS, sources: { lookEvery: 50 } },
});
const PASSWORD = 'a password of the first hours';
const ENVIRONMENT = {
  OUTBOUND_ALLOW: 'http,loopback',
  SVC_TEMP_ADMIN_USERNAME: 'ann',
  SVC_TEMP_ADMIN_PASSWORD: PASSWORD,
  RATE_LIMIT: 'off',
};

let fleet: Awaited<ReturnType<typeof world.startFleet>>;
let git: GitServer;
let host: Awaited<ReturnType<typeof aSimulatedHost>>;
let backup: Backup | undefined;
let ann = '';
let bob = '';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the contract is checked by other tests
  readonly body: any;
}

/** A request of a caller. */
async function call(credential: string, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${fleet.url}/api/v1${path}`, {
    method,
    headers: {
      ...(credential !== '' && { Authorization: `Bearer ${credential}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** The same, of a request that must succeed. */
async function done(...args: Parameters<typeof call>): Promise<Answer['body']> {
  const { status, body } = await call(...args);
  if (status >= 300) throw new Error(`${args[1]} ${args[2]} responded with ${status}: ${JSON.stringify(body)}`);
  return body;
}

const signIn = async (username: string, password: string): Promise<string> =>
  (
    await done(
      '',
      'POST',
      '/auth/login',
      username.includes('@') ? { email: username, password } : { username, password },
    )
  ).access_token;

const DATABASE = `kind: deployment
name: database
spec:
  image_name: library/postgres
  image_tag: "17"
  ports: [{containerPort: 5432}]
  volume_mounts: [{name: data, mountPath: /var/lib/postgresql/data}]
  env_schema: [{name: PASSWORD, description: "[secret]"}]
env: {PASSWORD: {generate: 32}}
volumes: {data: {size: 1Gi}}
updates: {ready_seconds: 0}
`;

const shop = (tag: string, rest = '') => `kind: application
name: shop
use: {database: {deployment: database}}
updates: {ready_seconds: 0}
spec:
  generated: [{name: password}]
  parts:
    - name: database
      image_name: library/postgres
      image_tag: "17"
      ports: [{containerPort: 5432}]
      env: [{name: PASSWORD, value: "\${generated.password}"}]
    - name: web
      image_name: team/shop
      image_tag: "${tag}"
      needs: [{part: database, until: ready}]
      env: [{name: DATABASE, value: "\${parts.database.address.5432}"}]
${rest}`;

const filesOf = (application: string, database = DATABASE) => ({
  'deploy/database.yaml': database,
  'deploy/shop.yaml': application,
});

interface Source {
  readonly id: string;
  readonly enabled: boolean;
  readonly failure: string | null;
  readonly plan_id: string;
  readonly plan_state: string;
  readonly applied_commit: string | null;
  readonly commit: { readonly sha: string } | null;
}

let sourceId = '';
const source = async (): Promise<Source> => (await done(ann, 'GET', `/sources/${sourceId}`)).source;
const planOf = async () => (await done(ann, 'GET', `/plans/${(await source()).plan_id}`)).plan;

/** Commits, notifies the fleet as the server of the repository does, and waits for what the source says then. */
async function push(
  files: Record<string, string>,
  until: (seen: Source) => boolean,
  given: { readonly parents?: readonly string[] } = {},
): Promise<string> {
  const [id = ''] = await git.commit({ files, ...given });
  await done(ann, 'POST', `/sources/${sourceId}/check`);
  await eventually(`the commit ${id} is read`, source, { until, withinMs: 60_000 });
  return id;
}

const isApplied = (seen: Source) => seen.failure === null && seen.applied_commit === seen.commit?.sha;

const applicationIs = (outcome: string, tag: string) =>
  eventually(
    `the application is ${outcome} with ${tag}`,
    async () => (await done(ann, 'GET', '/applications?name=shop')).applications[0],
    {
      until: (seen) => seen?.outcome === outcome && partTag(seen) === tag && seen.phase === 'running',
      withinMs: 60_000,
    },
  );
const partTag = (application: { parts: { name: string; image: string }[] }): string | undefined =>
  application.parts.find(({ name }) => name === 'web')?.image.split(':')[1];

/** All containers of the database so far. */
const databases = async () => {
  const { deployments } = await done(ann, 'GET', '/deployments?name=database');
  return host.creationsOf(deployments[0].id);
};

describeWithGit('a database and an application in a repository', () => {
  beforeAll(async () => {
    [git, host, fleet] = await Promise.all([aGitServer(), aSimulatedHost(), world.startFleet(ENVIRONMENT)]);
    ann = await signIn('ann', PASSWORD);
    const { user } = await done(ann, 'POST', '/users', { email: 'bob@example.test', role: 'operator' });
    const { invitation } = await done(ann, 'POST', `/users/${user.id}/invitation`);
    await done('', 'POST', '/auth/invitation', { code: invitation.code, password: 'a good password of bob' });
    bob = await signIn('bob@example.test', 'a good password of bob');
    await done(ann, 'POST', '/hosts', { name: 'gpu-1', engine: 'docker', endpoint: host.endpoint });
    await done(ann, 'PUT', '/settings/approvals', { approval: 'deletions' });
  });
  afterAll(async () => {
    await world.endAll();
    await backup?.drop();
    await Promise.all([host?.stop(), git?.stop(), world.database.drop()]);
  });

  test(
    'loses no data, and changes nothing without a plan',
    async () => {
      // A token of Ann's pipeline sets up the repository.
      const { token: pipeline } = await done(ann, 'POST', '/tokens', { name: 'pipeline', role: 'admin' });
      await git.commit({ files: filesOf(shop('1')) });
      const settings = { name: 'shop', url: git.url, folder: 'deploy', mode: 'automatic', heal: true };
      sourceId = (await done(pipeline.secret, 'POST', '/sources', settings)).source.id;
      await eventually('the first commit is applied', source, { until: isApplied });
      await applicationIs('good', '1');

      // A file with a mistake is refused as a whole, with its line.
      await push(filesOf(shop('2'), DATABASE.replace('volumes:', 'volums:')), ({ failure }) => failure !== null);
      expect((await source()).failure).toMatch(/deploy\/database\.yaml:\d+ volums.*did you mean volumes/);

      // The next version works, and the one after it does not: the fleet returns, and the source leaves it so.
      await push(filesOf(shop('3')), isApplied);
      await applicationIs('good', '3');
      await push(filesOf(shop('4', '      command: ["false"]\n')), isApplied);
      await applicationIs('good', '3');
      await done(ann, 'POST', `/sources/${sourceId}/check`);
      await eventually('the source is checked', source, { until: ({ failure }) => failure === null });
      await applicationIs('good', '3');

      // An agent may only plan. Bob approves its plan, and the agent applies it.
      const { token: agent } = await done(ann, 'POST', '/tokens', { name: 'agent', role: 'operator', approval: 'all' });
      const file = { path: 'cache.yaml', text: 'kind: deployment\nname: cache\nspec: {image_name: team/cache}\n' };
      const { plan } = await done(agent.secret, 'POST', '/plans', { set: 'agent', files: [file] });
      expect((await call(agent.secret, 'POST', `/plans/${plan.id}/apply`, { digest: plan.digest })).body.code).toBe(
        'approval_required',
      );
      await done(bob, 'POST', `/plans/${plan.id}/approve`, { digest: plan.digest });
      await done(agent.secret, 'POST', `/plans/${plan.id}/apply`, { digest: plan.digest });

      // The history is rewritten, without the database. Bob rejects the plan.
      const before = await git.git('rev-parse', 'refs/heads/main');
      await push({ 'deploy/shop.yaml': shop('evil') }, ({ plan_state }) => plan_state === 'needs_approval', {
        parents: [],
      });
      const rewritten = await planOf();
      await done(bob, 'POST', `/plans/${rewritten.id}/reject`, { digest: rewritten.digest, reason: 'not ours' });
      await applicationIs('good', '3');

      // The repository is emptied.
      await push({ readme: 'nothing' }, ({ failure }) => failure !== null, { parents: [before.trim()] });
      expect((await source()).failure).toContain('The folder deploy does not exist');

      // The fleet is killed while it reads and applies a commit, and another process continues.
      backup = await backUp(world.database.url);
      await git.commit({ files: filesOf(shop('5')) });
      await call(ann, 'POST', `/sources/${sourceId}/check`);
      fleet.child.kill('SIGKILL');
      await fleet.ended;
      fleet = await world.startFleet(ENVIRONMENT);
      ann = await signIn('ann', PASSWORD);
      await world.query('UPDATE sources SET lease_until = now(), check_at = now()'); // instead of three minutes
      await eventually('the commit is applied', source, { until: isApplied });
      await applicationIs('good', '5');

      // The token of the pipeline is revoked: the source waits until Ann takes it over.
      await done(ann, 'DELETE', `/tokens/${pipeline.id}`);
      expect((await source()).enabled).toBe(false);
      await git.commit({ files: filesOf(shop('6')) });
      await done(ann, 'PUT', `/sources/${sourceId}`, { enabled: true });
      await eventually('the commit is applied', source, { until: isApplied });
      await applicationIs('good', '6');

      // The backup is restored. The source finds the same commit, and plans what the restored database does not know.
      await backup.restore();
      await eventually('the fleet is connected', () => call('', 'GET', '/auth/config'), {
        until: ({ status }) => status === 200,
      });
      ann = await signIn('ann', PASSWORD);
      await done(ann, 'PUT', `/sources/${sourceId}`, { enabled: true });
      await eventually('the commit is applied', source, { until: isApplied });
      await applicationIs('good', '6');

      // The removal of the database waits for approval, and keeps the data.
      await push(
        { 'deploy/cache.yaml': file.text.replace('name: cache', 'name: other') },
        ({ plan_state }) => plan_state === 'needs_approval',
      );
      const removal = await planOf();
      expect(removal).toMatchObject({ losses: [], summary: { delete: 2 } });

      // The database has been started once, with one volume.
      expect(await databases()).toMatchObject([{ removedAt: null }]);
      expect(await world.query("SELECT phase FROM volumes WHERE phase = 'deleting'")).toEqual([]);

      // Each generation that a source or an agent has made is of an applied plan that lists its object.
      const generations = await world.query(`
        SELECT name, created_at FROM (
          SELECT d.name, g.created_at, g.created_by, d.application_id FROM deployment_revisions g JOIN deployments d ON d.id = g.deployment_id
          UNION ALL SELECT a.name, g.created_at, g.created_by, NULL FROM application_generations g JOIN applications a ON a.id = g.application_id) all_generations
        WHERE created_by <> 'fleet' AND application_id IS NULL`);
      const applied = await world.query("SELECT applied_at, decision FROM plans WHERE state = 'applied'");
      expect(generations.length).toBeGreaterThan(4);
      for (const { name, created_at } of generations) {
        const of = applied.filter(({ applied_at }) => applied_at.getTime() === created_at.getTime());
        expect({
          name,
          plans: of.map(({ decision }) => decision.changes.some((change: { name: string }) => change.name === name)),
        }).toEqual({
          name,
          plans: [true],
        });
      }
    },
    LONG_TEST_MS,
  );
});
