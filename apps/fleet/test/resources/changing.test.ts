// Changes and deletions of all kinds of resources, with concurrent changes.
import { inTurn } from '@svc/testing';
import { kindsIn } from './kinds.ts';
import { invalidPathsOf, pathOf, type Shown, singulars, startResources } from './resources.ts';

const world = await startResources();
const { asAdmin, asViewer, make } = world;
const kinds = await kindsIn(world);
afterAll(() => world.stop());

const TENFOLD = Array.from({ length: 10 });

const turns = kinds.map((kind, index) => ({ ...kind, turn: { index, of: kinds.length } }));

describe.each(turns)('changes of $plural:', ({ turn, plural, members, change, shown, other, readOnly, deleted }) => {
  const singular = singulars[plural];
  const aNew = (given: object = {}) => make(plural, { labels: { team: 'ml' }, ...members, ...given });
  const put = (id: string, body: object, headers = {}) => asAdmin.put(pathOf(plural, id), body, headers);
  const read = (id: string): Promise<Shown> => world.read(plural, id);
  const readWithTag = async (id: string) => {
    const { body, headers } = await asViewer.get(pathOf(plural, id));
    return { row: body[singular], etag: headers.etag ?? '' };
  };

  test('a change replaces the members that it names, and increases the version', async () => {
    const before = await aNew();
    const { status, body } = await put(before.id, change);
    expect(status).toBe(200);
    const after = body[singular];
    expect(after).toMatchObject({ ...shown, version: 2, id: before.id, created_at: before.created_at });
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    const named = ['version', 'updated_at', 'revision', 'generation', 'last_rotated_at', ...Object.keys(shown)];
    const rest = (row: object) => Object.entries(row).filter(([member]) => !named.includes(member));
    expect(rest(after)).toEqual(rest(before));
    expect(await read(before.id)).toEqual(after);
  });

  test('labels are replaced as a whole', async () => {
    const { id } = await aNew();
    expect((await put(id, { labels: { tier: 'back' } })).body[singular].labels).toEqual({ tier: 'back' });
    expect((await put(id, { labels: {} })).body[singular].labels).toEqual({});
  });

  test('a representation that was read can be sent back with an edit', async () => {
    const { id } = await aNew();
    const { row, etag } = await readWithTag(id);
    const { status, body } = await put(id, { ...row, labels: { edited: '' } }, { 'If-Match': etag });
    expect(status).toBe(200);
    const { version, updated_at, ...rest } = body[singular];
    expect({ ...rest, version }).toEqual({ ...row, labels: { edited: '' }, version: 2, updated_at: undefined });
    expect(updated_at).toBeDefined();
  });

  test('read-only members are ignored, whatever their value', async () => {
    const before = await aNew();
    const { status, body } = await put(before.id, { ...readOnly, labels: before.labels });
    expect(status).toBe(200);
    expect(body[singular]).toEqual({ ...before, version: 2, updated_at: expect.any(String) });
    const again = await asAdmin.post(pathOf(plural), { ...readOnly, ...members, name: world.aName('read-only') });
    expect({ status: again.status, version: again.body[singular]?.version }).toEqual({ status: 201, version: 1 });
  });

  test('all errors of a change are reported at once, and nothing is changed', async () => {
    const before = await aNew();
    const answer = await put(before.id, { ...change, labels: null, unknown: 1, 'second unknown': 1 });
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual(['labels', 'second unknown', 'unknown']);
    expect(await read(before.id)).toEqual(before);
  });

  test.each(inTurn(['[]', 'null', '"text"', '7', '{'], turn))('%s is not a change', async (body) => {
    const before = await aNew();
    const answer = await asAdmin.send({ method: 'PUT', path: pathOf(plural, before.id), body });
    expect(answer.status).toBe(400);
    expect(await read(before.id)).toEqual(before);
  });

  test('a name cannot be changed', async () => {
    const before = await aNew();
    const answer = await put(before.id, { name: `${before.name}-2`, ...change });
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual(['name']);
    expect(await read(before.id)).toEqual(before);
    expect((await put(before.id, { name: before.name, labels: {} })).status).toBe(200);
  });

  test('a change with If-Match applies to the version that the caller has read', async () => {
    const { id } = await aNew();
    const { etag } = await readWithTag(id);
    expect((await put(id, change, { 'If-Match': etag })).status).toBe(200);
    expect((await put(id, { labels: {} }, { 'If-Match': '"2"' })).status).toBe(200);
    expect((await put(id, { labels: {} }, { 'If-Match': '"1", "3"' })).status).toBe(200);
    expect((await put(id, { labels: {} }, { 'If-Match': '*' })).status).toBe(200);
    expect((await put(id, { labels: {} }, { 'If-Match': '"5.looked-otherwise-then"' })).status).toBe(200);
    expect((await put(id, { labels: {} })).body[singular].version).toBe(7);
    expect((await readWithTag(id)).etag).not.toBe(etag);
  });

  test('a version that is still current can be used again', async () => {
    const { id } = await aNew();
    const { etag } = await readWithTag(id);
    const readAgain = () => asViewer.get(pathOf(plural, id), { 'If-None-Match': etag });
    expect((await readAgain()).status).toBe(304);
    await put(id, { labels: {} });
    expect((await readAgain()).status).toBe(200);
  });

  const stale = ['"1"', '"7"', '"1", "3"', '"1.of-another-look"'];
  test.each(inTurn(stale, turn))('a change from the version %s is rejected', async (seen) => {
    const { id } = await aNew();
    await put(id, { labels: {} });
    const before = await read(id);
    const answers = [
      await put(id, change, { 'If-Match': seen }),
      await asAdmin.delete(pathOf(plural, id), undefined, { 'If-Match': seen }),
    ];
    for (const { status, body } of answers)
      expect({ status, code: body.code }).toEqual({ status: 412, code: 'version_conflict' });
    expect(await read(id)).toEqual(before);
  });

  const invalid = ['2', '""', 'W/"1"', '"one"', '"1" "2"', '"1",', '"-1"'];
  test.each(inTurn(invalid, turn))('%s is not a valid version', async (seen) => {
    const before = await aNew();
    const answers = [
      await put(before.id, change, { 'If-Match': seen }),
      await asAdmin.delete(pathOf(plural, before.id), undefined, { 'If-Match': seen }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect(invalidPathsOf(answer)).toEqual(['If-Match']);
    }
    expect(await read(before.id)).toEqual(before);
  });

  test('one of ten concurrent changes from the same version succeeds', async () => {
    const { id } = await aNew();
    const answers = await Promise.all(
      TENFOLD.map((_, index) => put(id, { labels: { from: `n${index}` } }, { 'If-Match': '"1"' })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
    expect(await read(id)).toEqual(won[0]?.body[singular]);
  });

  test('ten concurrent changes without a version all succeed', async () => {
    const { id } = await aNew();
    const bodies = TENFOLD.map((_, index) => (index % 2 === 0 ? change : other));
    const answers = await Promise.all(bodies.map((body) => put(id, { ...body, labels: {} })));
    const versions = answers.map(({ status, body }) => (status === 200 ? body[singular].version : body));
    expect(versions.sort((a, b) => a - b)).toEqual(TENFOLD.map((_, index) => index + 2));
    expect((await read(id)).version).toBe(11);
  });

  test('a deleted resource is not found, and its name can be used again', async () => {
    const { id, name } = await aNew();
    const { etag } = await readWithTag(id);
    const { status } = await asAdmin.delete(pathOf(plural, id), undefined, { 'If-Match': etag });
    expect(status).toBe(deleted);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? {} : undefined;
      expect((await asAdmin.send({ method, path: pathOf(plural, id), body })).status).toBe(404);
    }
    expect((await asViewer.get(`${pathOf(plural)}?search=${name}`)).body.pagination.total).toBe(0);
    expect((await make(plural, { ...members, name })).id).not.toBe(id);
  });

  test('one of ten concurrent deletions succeeds', async () => {
    const { id } = await aNew();
    const answers = await Promise.all(TENFOLD.map(() => asAdmin.delete(pathOf(plural, id))));
    expect(answers.map(({ status }) => status).sort()).toEqual([deleted, ...Array(9).fill(404)]);
  });
});
