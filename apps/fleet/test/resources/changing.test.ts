// What all kinds of resources have alike: changing and deleting, and what somebody else did meanwhile.
import { inTurn } from '@svc/testing';
import { kindsIn } from './kinds.ts';
import { complainedOf, pathOf, type Shown, singulars, startResources } from './resources.ts';

const world = await startResources();
const { asAdmin, asViewer, make } = world;
const kinds = await kindsIn(world);
afterAll(() => world.stop());

const TENFOLD = Array.from({ length: 10 });

const turns = kinds.map((kind, index) => ({ ...kind, turn: { index, of: kinds.length } }));

describe.each(turns)('$plural', ({ turn, plural, said, change, shown, other, readOnly, deleted }) => {
  const singular = singulars[plural];
  const aNew = (given: object = {}) => make(plural, { labels: { team: 'ml' }, ...said, ...given });
  const put = (id: string, body: object, headers = {}) => asAdmin.put(pathOf(plural, id), body, headers);
  const read = (id: string): Promise<Shown> => world.read(plural, id);
  const readWithTag = async (id: string) => {
    const { body, headers } = await asViewer.get(pathOf(plural, id));
    return { row: body[singular], etag: headers.etag ?? '' };
  };

  test('a change is of what it names, and counts', async () => {
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

  test('what was read, with an edit, is sent back', async () => {
    const { id } = await aNew();
    const { row, etag } = await readWithTag(id);
    const { status, body } = await put(id, { ...row, labels: { edited: '' } }, { 'If-Match': etag });
    expect(status).toBe(200);
    const { version, updated_at, ...rest } = body[singular];
    expect({ ...rest, version }).toEqual({ ...row, labels: { edited: '' }, version: 2, updated_at: undefined });
    expect(updated_at).toBeDefined();
  });

  test('members that are only read are taken for what they are, whatever they say', async () => {
    const before = await aNew();
    const { status, body } = await put(before.id, { ...readOnly, labels: before.labels });
    expect(status).toBe(200);
    expect(body[singular]).toEqual({ ...before, version: 2, updated_at: expect.any(String) });
    const again = await asAdmin.post(pathOf(plural), { ...readOnly, ...said, name: world.aName('read-only') });
    expect([again.status, again.body[singular]?.version]).toEqual([201, 1]);
  });

  test('what is wrong with a change is said at once, and nothing is changed', async () => {
    const before = await aNew();
    const answer = await put(before.id, { ...change, labels: null, unknown: 1, 'second unknown': 1 });
    expect([answer.status, complainedOf(answer)]).toEqual([400, ['labels', 'second unknown', 'unknown']]);
    expect(await read(before.id)).toEqual(before);
  });

  test.each(inTurn(['[]', 'null', '"text"', '7', '{'], turn))('%s is no change', async (body) => {
    const before = await aNew();
    const answer = await asAdmin.send({ method: 'PUT', path: pathOf(plural, before.id), body });
    expect(answer.status).toBe(400);
    expect(await read(before.id)).toEqual(before);
  });

  test('a name is for good', async () => {
    const before = await aNew();
    const answer = await put(before.id, { name: `${before.name}-2`, ...change });
    expect([answer.status, complainedOf(answer)]).toEqual([400, ['name']]);
    expect(await read(before.id)).toEqual(before);
    expect((await put(before.id, { name: before.name, labels: {} })).status).toBe(200);
  });

  test('a change is made to the version that its caller has seen', async () => {
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

  test('what was not changed since it was read need not be read again', async () => {
    const { id } = await aNew();
    const { etag } = await readWithTag(id);
    const readAgain = () => asViewer.get(pathOf(plural, id), { 'If-None-Match': etag });
    expect((await readAgain()).status).toBe(304);
    await put(id, { labels: {} });
    expect((await readAgain()).status).toBe(200);
  });

  const stale = ['"1"', '"7"', '"1", "3"', '"1.of-another-look"'];
  test.each(inTurn(stale, turn))('a change from the version %s is refused', async (seen) => {
    const { id } = await aNew();
    await put(id, { labels: {} });
    const before = await read(id);
    const answers = [
      await put(id, change, { 'If-Match': seen }),
      await asAdmin.delete(pathOf(plural, id), undefined, { 'If-Match': seen }),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([412, 'version_conflict']);
    expect(await read(id)).toEqual(before);
  });

  const invalid = ['2', '""', 'W/"1"', '"one"', '"1" "2"', '"1",', '"-1"'];
  test.each(inTurn(invalid, turn))('%s names no version', async (seen) => {
    const before = await aNew();
    const answers = [
      await put(before.id, change, { 'If-Match': seen }),
      await asAdmin.delete(pathOf(plural, before.id), undefined, { 'If-Match': seen }),
    ];
    for (const answer of answers) expect([answer.status, complainedOf(answer)]).toEqual([400, ['If-Match']]);
    expect(await read(before.id)).toEqual(before);
  });

  test('of ten that go on from the same version at the same moment one is made', async () => {
    const { id } = await aNew();
    const answers = await Promise.all(
      TENFOLD.map((_, index) => put(id, { labels: { from: `n${index}` } }, { 'If-Match': '"1"' })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
    expect(await read(id)).toEqual(won[0]?.body[singular]);
  });

  test('of ten that look at no version all are made, one after the other', async () => {
    const { id } = await aNew();
    const bodies = TENFOLD.map((_, index) => (index % 2 === 0 ? change : other));
    const answers = await Promise.all(bodies.map((body) => put(id, { ...body, labels: {} })));
    const versions = answers.map(({ status, body }) => (status === 200 ? body[singular].version : body));
    expect(versions.sort((a, b) => a - b)).toEqual(TENFOLD.map((_, index) => index + 2));
    expect((await read(id)).version).toBe(11);
  });

  test('one that is deleted is gone, and its name is free', async () => {
    const { id, name } = await aNew();
    const { etag } = await readWithTag(id);
    const { status } = await asAdmin.delete(pathOf(plural, id), undefined, { 'If-Match': etag });
    expect(status).toBe(deleted);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? {} : undefined;
      expect((await asAdmin.send({ method, path: pathOf(plural, id), body })).status).toBe(404);
    }
    expect((await asViewer.get(`${pathOf(plural)}?search=${name}`)).body.pagination.total).toBe(0);
    expect((await make(plural, { ...said, name })).id).not.toBe(id);
  });

  test('of ten deletions at the same moment one is made', async () => {
    const { id } = await aNew();
    const answers = await Promise.all(TENFOLD.map(() => asAdmin.delete(pathOf(plural, id))));
    expect(answers.map(({ status }) => status).sort()).toEqual([deleted, ...Array(9).fill(404)]);
  });
});
