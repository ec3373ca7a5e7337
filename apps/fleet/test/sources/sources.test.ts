// Sources against the real git over HTTP: what becomes of commits, of changes by hand, and of what cannot be read.
import { createHmac } from 'node:crypto';
import { describeWithGit, eventually } from '@svc/testing';
import { actionsOf } from '../plans/world.ts';
import { filesOf, sourcesOf, startSourceWorld } from './world.ts';

const fleet = await startSourceWorld();
const { client, asAdmin, asOperator, create, read, check, commit, images, failing, planOf, apply, named } = fleet;

const AUTOMATIC = { mode: 'automatic', prune: 'automatic' };
const idOf = async (name: string): Promise<string> => (await named(name))?.id ?? '';
const byHand = async (name: string, body: object) => {
  const { status } = await asOperator.put(`/api/v1/deployments/${await idOf(name)}`, body);
  expect(status).toBe(200);
};
const labelsOf = async (name: string) => (await named(name))?.labels;
/** A document with labels, as the text of an image. */
const labelled = (image: string, label: string) => `${image}\nlabels: { from: ${label} }`;

describeWithGit('sources', () => {
  test('a commit becomes a plan that a person applies, and nothing else is planned until the next one', async () => {
    const source = await create({ web: 'team/web', cache: 'team/cache' });
    const plan = await planOf(source);
    expect(plan).toMatchObject({
      state: 'ready',
      set: source.name,
      created_by: `source:${source.name}`,
      source_id: source.id,
      title: expect.stringContaining('The first commit'),
      summary: { create: 2, kept: 0 },
    });
    expect(await read(source.id)).toMatchObject({
      state: 'ok',
      commit: { sha: plan.commit, title: 'The first commit', author: 'Ann Author' },
      applied_commit: null,
      plan_state: 'ready',
      failure: null,
    });
    expect(await images()).toEqual({});
    expect((await apply(plan)).status).toBe(200);
    expect(await check(source)).toMatchObject({ applied_commit: plan.commit, plan_id: plan.id, plan_state: 'applied' });
    expect(await images()).toEqual({ cache: 'team/cache', web: 'team/web' });
    await check(source);
    expect(await client.plan.count()).toBe(1);
    const next = await commit(source, { web: 'team/web2', cache: 'team/cache' });
    expect(next).toMatchObject({ applied_commit: plan.commit, plan_state: 'ready' });
    expect(actionsOf(await planOf(source))).toEqual({ web: 'change' });
  });

  test('a change can contain the source as it was read', async () => {
    const { id } = await create({ web: 'team/web' });
    const { status, body } = await asAdmin.put(`/api/v1/sources/${id}`, { ...(await read(id)), heal: true });
    expect({ status, errors: body.errors, heal: body.source?.heal }).toEqual({ status: 200, heal: true });
  });

  test('the mode automatic applies the plan of each commit, with an entry in the audit log', async () => {
    const source = await create({ web: 'team/web' }, AUTOMATIC);
    expect(await images()).toEqual({ web: 'team/web' });
    const first = await planOf(source);
    expect(first).toMatchObject({ state: 'applied', applied_by: `source:${source.name}` });
    expect(await client.auditEntry.findMany({ where: { path: `/api/v1/plans/${first.id}/apply` } })).toMatchObject([
      { actor: `source:${source.name}`, method: 'POST', status: 200, object_name: first.title },
    ]);
    expect((await asOperator.get(`/api/v1/deployments/${await idOf('web')}`)).body.deployment.managed_by).toEqual({
      set: source.name,
      file: 'deploy/web.yaml',
      line: 1,
    });
    await commit(source, { web: 'team/web2', cache: 'team/cache' });
    expect(await images()).toEqual({ cache: 'team/cache', web: 'team/web2' });
  });

  test('changes by hand stay until the document changes, unless the source reverts them; a rollback always stays', async () => {
    const source = await create({ web: labelled('team/web', 'git'), cache: 'team/cache' }, AUTOMATIC);
    await byHand('web', { labels: { from: 'hand' } });
    await commit(source, { web: labelled('team/web', 'git'), cache: 'team/cache2' });
    expect(await planOf(source)).toMatchObject({ state: 'applied', summary: { change: 1, kept: 1 } });
    expect(await labelsOf('web')).toEqual({ from: 'hand' });
    expect((await asAdmin.put(`/api/v1/sources/${source.id}`, { heal: true })).status).toBe(200);
    await check(source);
    expect(await labelsOf('web')).toEqual({ from: 'git' });
    const plans = await client.plan.count();
    await check(source);
    expect(await client.plan.count()).toBe(plans);

    expect(
      (await asOperator.post(`/api/v1/deployments/${await idOf('cache')}/rollback`, { generation: 1 })).status,
    ).toBe(200);
    await check(source);
    await byHand('web', { labels: { from: 'hand' } });
    await check(source);
    expect(await labelsOf('web')).toEqual({ from: 'git' });
    expect(await images()).toEqual({ cache: 'team/cache', web: 'team/web' });
    await commit(source, { web: labelled('team/web', 'git'), cache: 'team/cache3' });
    expect(await images()).toEqual({ cache: 'team/cache3', web: 'team/web' });
  });

  test('objects whose documents are gone are removed by a plan of their own, which waits for approval beyond the bound', async () => {
    const all = { a: 'team/a', b: 'team/b', c: 'team/c', d: 'team/d' };
    const source = await create(all, { ...AUTOMATIC, max_deletions: 1 });
    const { d, ...three } = all;
    await commit(source, three);
    expect(Object.keys(await images())).toEqual(['a', 'b', 'c']);
    await commit(source, { a: 'team/a2' });
    expect(await images()).toEqual({ a: 'team/a2', b: 'team/b', c: 'team/c' });
    const waiting = await planOf(source);
    expect(waiting).toMatchObject({ state: 'needs_approval', summary: { delete: 2, create: 0, change: 0 } });
    await check(source);
    expect((await planOf(source)).id).toBe(waiting.id);
    const { body } = await (await fleet.aUser('operator'))
      .api()
      .then((person) => person.post(`/api/v1/plans/${waiting.id}/approve`, { digest: waiting.digest }));
    expect(body.plan.review.decision).toBe('approved');
    await eventually('the approved plan is applied', async () => Object.keys(await images()).length === 1);
    expect(await images()).toEqual({ a: 'team/a2' });
  });

  test('with ask each removal waits, with never objects stay, and a rejected plan is not made again', async () => {
    const source = await create({ a: 'team/a', b: 'team/b' }, { mode: 'automatic' });
    await commit(source, { a: 'team/a' });
    const waiting = await planOf(source);
    expect(waiting).toMatchObject({ state: 'needs_approval', summary: { delete: 1 } });
    const person = await (await fleet.aUser('operator')).api();
    await person.post(`/api/v1/plans/${waiting.id}/reject`, { digest: waiting.digest, reason: 'b is needed' });
    await check(source);
    expect(await client.plan.count({ where: { state: 'ready' } })).toBe(0);
    expect(await images()).toEqual({ a: 'team/a', b: 'team/b' });
    await asAdmin.put(`/api/v1/sources/${source.id}`, { prune: 'never' });
    await commit(source, { a: 'team/a2' });
    expect(await images()).toEqual({ a: 'team/a2', b: 'team/b' });
  });

  test('a rewritten history waits for approval, also if commits follow it', async () => {
    const source = await create({ web: 'team/web', cache: 'team/cache' }, AUTOMATIC);
    const before = await read(source.id);
    await commit(source, { web: 'team/evil' }, { parents: [] });
    expect(await planOf(source)).toMatchObject({ state: 'needs_approval', summary: { change: 1 } });
    await commit(source, { web: 'team/evil2' });
    const waiting = await planOf(source);
    expect(waiting.state).toBe('needs_approval');
    expect(await images()).toEqual({ cache: 'team/cache', web: 'team/web' });
    expect((await read(source.id)).applied_commit).toBe(before.applied_commit);
    const person = await (await fleet.aUser('operator')).api();
    await person.post(`/api/v1/plans/${waiting.id}/approve`, { digest: waiting.digest });
    await eventually('the approved plan is applied', async () => (await images()).web === 'team/evil2');
    await check(source);
    expect(await planOf(source)).toMatchObject({ state: 'needs_approval', summary: { delete: 1 } });
    await commit(source, { web: 'team/web3', cache: 'team/cache' });
    expect(await images()).toEqual({ cache: 'team/cache', web: 'team/web3' });
  });

  test('what cannot be read changes nothing, and states why', async () => {
    const source = await create({ web: 'team/web', cache: 'team/cache' }, AUTOMATIC);
    const applied = await images();
    const failures = [
      ['status 500', () => failing(source, { kind: 'response', status: 500 })],
      ['status 401', () => failing(source, { kind: 'response', status: 401 })],
      [
        'a redirect',
        () => failing(source, { kind: 'response', status: 302, headers: { Location: 'http://169.254.169.254/' } }),
      ],
      ['does not respond', () => failing(source, { kind: 'cut', afterBytes: 5 })],
      ['does not exist', () => commit(source, {})],
      ['refused as a whole: deploy/web.yaml:4', () => commit(source, { cache: 'team/cache3', web: ': bad' })],
      [
        'is refused: deploy/web.yaml',
        () => commit(source, { cache: 'team/cache3', web: 'team/web\nenv: {A: {secret: none}}' }),
      ],
    ] as const;
    for (const [reason, fail] of failures) {
      const { state, failure } = await fail();
      expect({ state, failure }).toEqual({ state: 'failing', failure: expect.stringContaining(reason) });
      expect(await images()).toEqual(applied);
    }
    expect(await client.event.findMany({ where: { object_id: source.id } })).toMatchObject([
      { kind: 'sources', reason: 'SourceFailed', severity: 'warning', resolved_at: null },
    ]);
    expect(await commit(source, { web: 'team/web2', cache: 'team/cache' })).toMatchObject({
      state: 'ok',
      failure: null,
    });
    expect(await images()).toEqual({ ...applied, web: 'team/web2' });
    expect(await client.event.count({ where: { object_id: source.id, reason: 'Recovered' } })).toBe(1);
  });

  describe('a check that the database fails', () => {
    const refusePlans = async (condition: string) => {
      await client.$executeRawUnsafe(`CREATE FUNCTION refuse_plans() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${condition}', MESSAGE = 'no plans now'; END $$`);
      await client.$executeRaw`CREATE TRIGGER refuse BEFORE INSERT ON plans EXECUTE FUNCTION refuse_plans()`;
    };
    const acceptPlans = () => client.$executeRaw`DROP FUNCTION IF EXISTS refuse_plans CASCADE`;
    afterEach(async () => {
      jest.restoreAllMocks();
      await acceptPlans();
    });

    test('for a time is repeated, and is no failure of the source', async () => {
      const warn = jest.spyOn(fleet.log, 'warn');
      const source = await create({ web: 'team/web' }, AUTOMATIC);
      await refusePlans('disk_full');
      await fleet.git().commit({ branch: source.branch, files: filesOf({ web: 'team/web2' }) });
      await asAdmin.post(`/api/v1/sources/${source.id}/check`);
      await eventually('the check ends early', async () =>
        warn.mock.calls.some(([, message]) => message === 'the check of a source has ended early; will retry'),
      );
      expect(await read(source.id)).toMatchObject({ state: 'ok', failure: null });
      const { lease_until, check_at } = await client.source.findUniqueOrThrow({ where: { id: source.id } });
      expect(check_at).toEqual(lease_until); // then it is due again
      await acceptPlans();
      await client.source.update({ where: { id: source.id }, data: { lease_until: null, lease_owner: null } });
      expect(await check(source)).toMatchObject({ state: 'ok', failure: null });
      expect(await images()).toEqual({ web: 'team/web2' });
    });

    test('for another reason is an internal error, which does not blame the repository', async () => {
      const source = await create({ web: 'team/web' }, AUTOMATIC);
      await refusePlans('raise_exception');
      const { state, failure } = await commit(source, { web: 'team/web2' });
      expect({ state, failure }).toEqual({ state: 'failing', failure: expect.stringContaining('an internal error') });
      expect(failure).not.toMatch(/server|no plans now/);
    });
  });

  test('a refused plan is decided again, because what is missing can exist later', async () => {
    const source = await create(
      { web: 'team/web\n  env_schema: [{name: A, description: "[secret]"}]\nenv: {A: {secret: late}}' },
      AUTOMATIC,
    );
    expect(await read(source.id)).toMatchObject({ plan_state: 'refused', failure: expect.stringContaining('late') });
    await check(source);
    expect(await client.plan.count()).toBe(1);
    await asAdmin.post('/api/v1/secrets', { name: 'late', values: { value: 'x'.repeat(20) } });
    expect(await check(source)).toMatchObject({ failure: null, plan_state: 'applied' });
    expect(await images()).toEqual({ web: 'team/web' });
  });

  test('a source acts with the present rights of its creator', async () => {
    const token = await fleet.aToken({ role: 'admin', approval: 'deletions' });
    const source = await create({ a: 'team/a', b: 'team/b' }, AUTOMATIC, fleet.as(token));
    await commit(source, { a: 'team/a' });
    expect(await planOf(source)).toMatchObject({ state: 'needs_approval', summary: { delete: 1 } });
    await client.token.update({ where: { id: token.id }, data: { role: 'viewer' } });
    const demoted = await check(source);
    expect(demoted).toMatchObject({ enabled: false, disabled_reason: 'Its creator has lost the right to it.' });
    expect((await asAdmin.post(`/api/v1/sources/${source.id}/check`)).body.code).toBe('source_disabled');
    const { body } = await asAdmin.put(`/api/v1/sources/${source.id}`, { enabled: true });
    expect(body.source).toMatchObject({ enabled: true, disabled_reason: null });
    await eventually('the removal is applied', async () => Object.keys(await images()).length === 1);

    const other = await fleet.aToken({ role: 'admin' });
    const second = await create({ z: 'team/z' }, {}, fleet.as(other));
    expect((await asAdmin.delete(`/api/v1/tokens/${other.id}`)).status).toBe(200);
    expect((await read(second.id)).enabled).toBe(false);
  });

  test('a notification makes a check due if its signature is right, and says nothing otherwise', async () => {
    const { id, hook_secret } = await create({ web: 'team/web' });
    const { checked_at: before } = await read(id);
    const notify = (headers: Record<string, string>, at = id) =>
      fleet.nobody.send({ method: 'POST', path: `/api/v1/sources/${at}/hook`, body: { ref: 'x' }, headers });
    const signature = (secret: string) =>
      `sha256=${createHmac('sha256', secret)
        .update(JSON.stringify({ ref: 'x' }))
        .digest('hex')}`;
    for (const headers of [{}, { 'X-Hub-Signature-256': signature('other') }, { 'X-Gitlab-Token': 'other' }])
      expect((await notify(headers)).status).toBe(404);
    expect((await notify({ 'X-Gitlab-Token': hook_secret }, '00000000-0000-7000-8000-000000000000')).status).toBe(404);
    expect((await read(id)).checked_at).toBe(before);
    expect((await notify({ 'X-Hub-Signature-256': signature(hook_secret) })).status).toBe(204);
    const { checked_at: second } = await eventually('a check', async () => {
      const source = await read(id);
      return source.checked_at === before ? undefined : source;
    });
    const { body } = await asAdmin.post(`/api/v1/sources/${id}/rotate`);
    expect((await notify({ 'X-Gitlab-Token': hook_secret })).status).toBe(404);
    expect((await notify({ 'X-Gitlab-Token': body.source.hook_secret })).status).toBe(204);
    await eventually('another check', async () => (await read(id)).checked_at !== second);
  });

  test('two replicas make one plan of a commit', async () => {
    const other = sourcesOf({ ...fleet.aReplica(), log: fleet.log });
    other.start();
    try {
      const source = await create({ web: 'team/web' }, AUTOMATIC);
      for (const image of ['team/b', 'team/c', 'team/d']) await commit(source, { web: image });
      expect(await images()).toEqual({ web: 'team/d' });
      expect(await client.plan.count({ where: { source_id: source.id } })).toBe(4);
    } finally {
      await other.stop();
    }
  });

  test('a token is sent to the server of the repository only, and is given again for another one', async () => {
    const git = fleet.git();
    git.settings.token = 'read-only';
    const source = await create({ web: 'team/web' }, { token: 'read-only', user_name: 'robot' });
    expect(await read(source.id)).toMatchObject({ failure: null, plan_state: 'ready' });
    expect(git.requests.at(-1)?.user).toBe('robot');
    const moved = await asAdmin.put(`/api/v1/sources/${source.id}`, { url: 'http://localhost:9/other.git' });
    expect([moved.status, moved.body.errors[0].path]).toEqual([400, 'token']);
    expect((await asAdmin.put(`/api/v1/sources/${source.id}`, { token: null })).status).toBe(200);
    const { failure } = await check(source);
    git.settings.token = undefined;
    expect(failure).toContain('The token is missing');
  });

  test('a source whose secrets cannot be decrypted says so, and works again with a new secret and its token', async () => {
    const source = await create({ web: 'team/web' }, { ...AUTOMATIC, token: 'a-token' });
    const other = await create({ cache: 'team/cache' });
    const { sealed } = await client.source.findUniqueOrThrow({ where: { id: other.id } });
    await client.source.update({ where: { id: source.id }, data: { sealed } }); // of another row
    expect(await commit(source, { web: 'team/web2' })).toMatchObject({
      state: 'failing',
      failure: expect.stringContaining('cannot be decrypted. Replace the secret of notifications'),
    });
    const notify = async (secret: string) => {
      const path = `/api/v1/sources/${source.id}/hook`;
      const headers = { 'X-Gitlab-Token': secret };
      return (await fleet.nobody.send({ method: 'POST', path, body: {}, headers })).status;
    };
    expect(await notify(source.hook_secret)).toBe(404);
    const { body } = await asAdmin.post(`/api/v1/sources/${source.id}/rotate`);
    expect(body.source).toMatchObject({ has_token: false });
    expect((await asAdmin.put(`/api/v1/sources/${source.id}`, { token: 'a-token' })).body.source.has_token).toBe(true);
    expect(await notify(body.source.hook_secret)).toBe(204);
    await eventually('the commit is applied', async () => (await images()).web === 'team/web2');
  });

  test('a deleted source releases the objects of its set, and changes none of them', async () => {
    const source = await create({ web: 'team/web' }, AUTOMATIC);
    expect((await asAdmin.delete(`/api/v1/sources/${source.id}`)).status).toBe(204);
    expect(await images()).toEqual({ web: 'team/web' });
    expect((await asOperator.get(`/api/v1/deployments/${await idOf('web')}`)).body.deployment.managed_by).toBeNull();
    expect((await asAdmin.get(`/api/v1/sources/${source.id}`)).status).toBe(404);
  });

  test('invalid members and a second source of a set are refused', async () => {
    const source = await create({ web: 'team/web' });
    const refused = async (body: object) => {
      const given = { name: 'other', url: fleet.git().url, ...body };
      const answer = await asAdmin.post('/api/v1/sources', given);
      return [answer.status, answer.body.errors?.map(({ path }: { path: string }) => path)];
    };
    for (const url of [
      'ssh://git@example.test/x.git',
      'https://user:pw@example.test/x.git',
      'https://example.test/x.git?a=1',
    ])
      expect(await refused({ url })).toEqual([400, ['url']]);
    for (const branch of ['a..b', '-x', 'x.lock', 'a b', '@{u}'])
      expect(await refused({ branch })).toEqual([400, ['branch']]);
    expect(await refused({ folder: 'a/../b' })).toEqual([400, ['folder']]);
    expect(await refused({ set: source.name })).toEqual([400, ['set']]);
    expect((await asOperator.post('/api/v1/sources', { name: 'local', url: fleet.git().url })).status).toBe(403);
  });
});
