import { MAX_KEYRING_CHARACTERS } from '@svc/contract/hub';
import { aSigner, keyringOf } from '../signers.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());
afterEach(() => world.database.client.publisher.deleteMany());

const PATH = '/api/v1/admin/publishers';
const CATALOG = '/api/v1/catalog/publishers';
const [root, nextRoot, key, stranger] = await Promise.all([aSigner(), aSigner(), aSigner(), aSigner()]);
const keys = [key.key];

const put = (keyring: string, given: object = {}) =>
  admin.put(`${PATH}/acme`, { name: 'Acme', root: root.key, keyring, ...given });
const shown = async () => (await world.anonymous.get(CATALOG)).body.publishers;

test('everyone reads publishers with their keyrings, and nobody their roots', async () => {
  const keyring = await keyringOf(root, { keys });
  const { status, body } = await put(keyring);
  expect([status, body.publisher]).toEqual([
    200,
    expect.objectContaining({ slug: 'acme', name: 'Acme', version: 1, root: root.key.kid, keyring, transitions: [] }),
  ]);
  expect(await shown()).toEqual([{ slug: 'acme', name: 'Acme', keyring, transitions: [] }]);
  expect((await admin.get(PATH)).body.publishers).toEqual([body.publisher]);
});

test('a reader with the entity tag receives 304 until a keyring changes', async () => {
  await put(await keyringOf(root, { keys }));
  const { headers } = await world.anonymous.get(CATALOG);
  const again = () => world.anonymous.get(CATALOG, { 'if-none-match': String(headers.etag) });
  expect((await again()).status).toBe(304);
  await put(await keyringOf(root, { keys, version: 2 }));
  expect((await again()).status).toBe(200);
});

test('a newer keyring replaces the known one; an older one, and another one with its version, do not', async () => {
  await put(await keyringOf(root, { keys, version: 2 }));
  for (const version of [1, 2]) {
    const refused = await put(await keyringOf(root, { keys: [], version }));
    expect([refused.status, refused.body.code]).toEqual([409, 'keyring_outdated']);
  }
  expect((await put(await keyringOf(root, { keys, version: 3 }))).body.publisher.version).toBe(3);
});

test.each([
  ['of a stranger', () => keyringOf(stranger, { keys }), {}],
  ['of another publisher', () => keyringOf(root, { keys, publisher: 'zeta' }), {}],
  [
    'that has expired',
    () => keyringOf(root, { issued_at: '2020-01-01T00:00:00Z', expires_at: '2020-01-02T00:00:00Z' }),
    {},
  ],
  ['that is no keyring', async () => 'a.b.c', {}],
  ['with a private root key', () => keyringOf(root, { keys }), { root: { ...root.key, d: 'AA' } }],
])('refuses a keyring %s', async (_name, make, given) => {
  const refused = await put(await make(), given);
  expect([refused.status, refused.body.code]).toEqual([422, 'keyring_invalid']);
  expect(refused.body.errors).toMatchObject([{ path: 'keyring' }]);
  expect(await shown()).toEqual([]);
});

test('keeps the first root, whatever root a request states', async () => {
  await put(await keyringOf(root, { keys }));
  const refused = await put(await keyringOf(stranger, { keys, version: 2 }), { root: stranger.key });
  expect([refused.status, refused.body.code]).toEqual([422, 'keyring_invalid']);
  await admin.delete(`${PATH}/acme`);
  const accepted = await put(await keyringOf(stranger, { keys, version: 2 }), { root: stranger.key });
  expect(accepted.body.publisher.root).toBe(stranger.key.kid);
});

test('follows an announced root, and keeps the keyring that announced it for fleets that were offline', async () => {
  const announcing = await keyringOf(root, { keys, next_root: nextRoot.key });
  await put(announcing);
  const newest = await keyringOf(nextRoot, { keys, version: 2 });
  expect((await put(newest)).body.publisher).toMatchObject({ root: nextRoot.key.kid, transitions: [announcing] });
  expect(await shown()).toMatchObject([{ keyring: newest, transitions: [announcing] }]);
});

test('follows a root that it missed, with the keyrings that a request states', async () => {
  await put(await keyringOf(root, { keys }));
  const announcing = await keyringOf(root, { keys, version: 2, next_root: nextRoot.key });
  const newest = await keyringOf(nextRoot, { keys, version: 3 });
  expect((await put(newest)).status).toBe(422);
  expect((await put(newest, { transitions: [announcing] })).body.publisher).toMatchObject({
    root: nextRoot.key.kid,
    transitions: [announcing],
  });
});

test('the same keyring again changes nothing, and its name can change', async () => {
  const keyring = await keyringOf(root, { keys });
  const first = await put(keyring);
  expect((await put(keyring)).body).toEqual(first.body);
  expect((await put(keyring, { name: 'Acme Ltd' })).body.publisher.name).toBe('Acme Ltd');
});

test('refuses more than the bound of all keyrings, and keeps what it had', async () => {
  await world.database.client.publisher.create({
    data: { slug: 'large', name: 'Large', root: { ...root.key }, keyring: 'x'.repeat(MAX_KEYRING_CHARACTERS) },
  });
  const refused = await put(await keyringOf(root, { keys }));
  expect([refused.status, refused.body.code]).toEqual([409, 'too_many_publishers']);
  expect(refused.body.detail).toContain(String(MAX_KEYRING_CHARACTERS));
  expect((await shown()).map(({ slug }: { slug: string }) => slug)).toEqual(['large']);
});

test('a deleted publisher is no longer shown, and a second deletion is a 404', async () => {
  await put(await keyringOf(root, { keys }));
  expect((await admin.delete(`${PATH}/acme`)).status).toBe(204);
  expect(await shown()).toEqual([]);
  expect((await admin.delete(`${PATH}/acme`)).status).toBe(404);
});

test('each change has an audit entry', async () => {
  await put(await keyringOf(root, { keys }));
  await admin.delete(`${PATH}/acme`);
  const { body } = await admin.get('/api/v1/admin/audit?limit=2');
  expect(body.entries.map(({ method, path }: { method: string; path: string }) => [method, path])).toEqual([
    ['DELETE', `${PATH}/acme`],
    ['PUT', `${PATH}/acme`],
  ]);
});
