// Creation, reading and listing of all kinds of resources.
import { inTurn } from '@svc/testing';
import { kindsIn } from './kinds.ts';
import { invalidPathsOf, pathOf, singulars, startResources } from './resources.ts';

const world = await startResources();
const { aName, asAdmin, asViewer, make } = world;
const kinds = await kindsIn(world);
afterAll(() => world.stop());

const ABSENT = '019a0000-0000-7000-8000-000000000000';

const turns = kinds.map((kind, index) => ({ ...kind, turn: { index, of: kinds.length } }));

describe.each(turns)('reading $plural:', ({ turn, plural, members, wrong, wrongPaths }) => {
  const path = pathOf(plural);
  const named = async (query: string): Promise<string[]> => {
    const { status, body } = await asViewer.get(`${path}?${query}`);
    expect(status).toBe(200);
    expect(body.pagination.total).toBe(body[plural].length);
    return body[plural].map(({ name }: { name: string }) => name).sort();
  };

  test('a created resource is read and listed as in the response to its creation', async () => {
    const name = aName('new');
    const { status, body } = await asAdmin.post(path, { name, labels: { team: 'ml' }, ...members });
    expect(status).toBe(201);
    const made = body[singulars[plural]];
    const [token] = await world.client.token.findMany({ where: { role: 'admin' } });
    expect(made).toMatchObject({ name, labels: { team: 'ml' }, version: 1, created_by: `token:${token?.name}` });
    expect(Math.abs(Date.now() - Date.parse(made.created_at))).toBeLessThan(3_600_000);
    expect(made.updated_at).toBe(made.created_at);
    expect((await asViewer.get(pathOf(plural, made.id))).body).toEqual({ [singulars[plural]]: made });
    expect((await asViewer.get(`${path}?search=${name}`)).body[plural]).toContainEqual(made);
  });

  test('a search is case-insensitive and literal', async () => {
    const one = aName('found-me');
    const other = aName('found-me');
    for (const name of [one, other]) await make(plural, { name, ...members });
    expect(await named(`search=${one.toUpperCase()}`)).toEqual([one]);
    expect(await named(`search=${encodeURIComponent('ＦＯＵＮＤ-me')}`)).toEqual([one, other].sort());
    for (const text of ['%', '_', '\\', 'found%', 'found_me', "' OR true --"]) {
      expect(await named(`search=${encodeURIComponent(text)}`)).toEqual([]);
    }
  });

  test('label selectors by key and by value filter a list, and are combined', async () => {
    const all = [{ gpu: '' }, { gpu: 'a', team: 'ml' }, { team: 'ml', 'example.com/gpu': 'b' }, { team: 'web' }];
    const [bare, both, prefixed] = await Promise.all(
      all.map(async (labels) => (await make(plural, { labels: { ...labels, here: 'labels' }, ...members })).name),
    );
    const labelled = (wish: string) => named(`label=${encodeURIComponent(`here=labels,${wish}`)}`);
    expect(await labelled('gpu')).toEqual([bare, both].sort());
    expect(await labelled('gpu=')).toEqual([bare]);
    expect(await labelled('team=ml')).toEqual([both, prefixed].sort());
    expect(await labelled('team=ml,gpu')).toEqual([both]);
    expect(await labelled('example.com/gpu=b')).toEqual([prefixed]);
    expect(await labelled('team=ML')).toEqual([]);
    expect(await labelled('team=ml,team=web')).toEqual([]);
  });

  const labels = ['', ',', 'gpu,', '=ml', 'a b', 'team=a=b', 'team=a b', '-gpu', 'a/b/c'];
  test.each(inTurn(labels, turn))('an invalid label selector is rejected by name: %j', async (label) => {
    const answer = await asViewer.get(`${path}?label=${encodeURIComponent(label)}`);
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual(['label']);
  });

  test('pages are consecutive, newest first', async () => {
    const made = [];
    for (let index = 0; index < 5; index++) made.push(await make(plural, { labels: { here: 'pages' }, ...members }));
    const newest = made
      .sort((a, b) => b.created_at.localeCompare(a.created_at) || a.id.localeCompare(b.id))
      .map(({ id }) => id);
    const page = async (number: number) => {
      const { body } = await asViewer.get(`${path}?label=here%3Dpages&limit=2&page=${number}`);
      expect(body.pagination).toEqual({ page: number, limit: 2, total: 5, totalPages: 3 });
      return body[plural].map(({ id }: { id: string }) => id);
    };
    expect([...(await page(1)), ...(await page(2)), ...(await page(3))]).toEqual(newest);
    expect(await page(4)).toEqual([]);
    expect(await page(999_999)).toEqual([]);
  });

  test('resources with the same time of creation are ordered by ID', async () => {
    await Promise.all(Array.from({ length: 6 }, () => make(plural, { labels: { here: 'order' }, ...members })));
    const table = plural === 'storage' ? 'volumes' : plural;
    await world.client.$executeRawUnsafe(
      `UPDATE ${table} SET created_at = '2026-01-01T00:00:00Z' WHERE labels->>'here' = 'order'`,
    );
    const { body } = await asViewer.get(`${path}?label=here%3Dorder`);
    const ids = body[plural].map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(6);
    expect(ids).toEqual([...ids].sort());
  });

  const queries = ['limit=101', 'limit=0', 'page=0', 'limit=ten', 'page=1&page=2', 'sort=colour'];
  test.each(inTurn(queries, turn))('a list with the query %s is rejected', async (query) => {
    const answer = await asViewer.get(`${path}?${query}`);
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual([query.split('=')[0]]);
  });

  test.each(inTurn([ABSENT, 'nothing', `${ABSENT}0`, '%00', '..%2f'], turn))(
    'a request for the unknown ID %s is answered 404',
    async (id) => {
      const answers = [
        await asAdmin.get(`${path}/${id}`),
        await asAdmin.put(`${path}/${id}`, {}),
        await asAdmin.delete(`${path}/${id}`),
      ];
      const refusals = answers.map(({ status, body }) => [status, body.code, body.detail]);
      const { body } = await asAdmin.get(`${path}/${ABSENT}`);
      expect(refusals).toEqual(answers.map(() => [404, 'not_found', body.detail]));
    },
  );

  test('an ID is accepted in upper and lower case', async () => {
    const { id } = await make(plural, members);
    expect((await asViewer.get(pathOf(plural, id.toUpperCase()))).status).toBe(200);
  });

  test('all errors of a new resource are reported at once, and nothing is created', async () => {
    const name = 'Not a label';
    const answer = await asAdmin.post(path, { name, labels: { 'a b': 'x' }, unknown: 1, ...members, ...wrong });
    const paths = ['name', 'labels.a b', 'unknown', ...wrongPaths].sort();
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('validation_failed');
    expect(invalidPathsOf(answer)).toEqual(paths);
    expect(await named(`search=${encodeURIComponent(name)}`)).toEqual([]);
  });

  test('a name is unique, also in concurrent requests', async () => {
    const name = aName('once');
    const answers = await Promise.all(Array.from({ length: 5 }, () => asAdmin.post(path, { name, ...members })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    const codes = answers.filter(({ status }) => status === 409).map(({ body }) => body.code);
    expect(new Set(codes)).toEqual(new Set(['name_taken']));
    expect(await named(`search=${name}`)).toEqual([name]);
  });
});
