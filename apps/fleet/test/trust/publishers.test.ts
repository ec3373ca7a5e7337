// Which publishers and keyrings a fleet accepts, from an admin and from a hub.
import { startDeploymentWorld } from '../deployments/world.ts';
import { refuse } from '../fake-hub.ts';
import { aPublisher, aSigner, keyringOf } from './signed.ts';

const fleet = await startDeploymentWorld();
const { admin, hub, operator, sync } = fleet;
const acme = await aPublisher(fleet);
const { root, key } = acme;
const [nextRoot, stranger] = await Promise.all([aSigner(), aSigner()]);
const keys = [key.key];

const PATH = '/api/v1/settings/publishers';
const trust = (given: object = {}) =>
  admin.post(PATH, { slug: 'acme', name: 'Acme', root: root.key, images: ['docker.io/library/*'], ...given });
const known = async () => (await admin.get(PATH)).body.publishers[0];
const importKeyring = async (by: typeof root, given: object = {}, transitions: readonly string[] = []) =>
  admin.put(`${PATH}/acme/keyring`, { keyring: await keyringOf(by, { keys, ...given }), transitions });

beforeEach(() => acme.forget());

test('a publisher is trusted by its root key, as a JWK or in PEM, with a scope that admits no secret by default', async () => {
  expect((await trust()).body.publisher).toMatchObject({
    slug: 'acme',
    root: root.key.kid,
    slugs: ['*'],
    secrets: [],
    keyring_version: null,
    expires_at: null,
  });
  expect((await trust()).body.code).toBe('slug_taken');
  const pem =
    '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAiojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=\n-----END PUBLIC KEY-----\n';
  const other = await trust({ slug: 'zeta', root: pem });
  expect(other.body.publisher.root).toBe('UDDReOZl1ipXAfp9wYsm13sDBMK5og--QWdBjzuf6o4');
});

test.each([
  ['a private key', { root: { ...root.key, d: 'AA' } }, 422],
  ['text that is no key', { root: 'x' }, 422],
  ['an image with a pattern in the middle', { images: ['ghcr.io/*/app'] }, 400],
  ['no images', { images: undefined }, 400],
  ['more than 100 images', { images: Array(101).fill('*') }, 400],
])('a publisher with %s is refused', async (_name, given, status) => {
  expect((await trust(given)).status).toBe(status);
  expect(await known()).toBeUndefined();
});

test('only admins read and change who is trusted', async () => {
  expect((await operator.get(PATH)).status).toBe(403);
  expect((await operator.put('/api/v1/settings/trust', {})).status).toBe(403);
});

test('keyrings are imported by hand; older ones and those of strangers are refused', async () => {
  await trust();
  expect((await importKeyring(root, { version: 2 })).body.publisher.keyring_version).toBe(2);
  expect((await importKeyring(root, { version: 1 })).body.code).toBe('keyring_outdated');
  expect((await importKeyring(stranger, { version: 3 })).body.code).toBe('keyring_invalid');
  expect((await known()).keyring_version).toBe(2);
});

test('another root key is accepted only if the trusted one is named, and forgets the keyring', async () => {
  await trust();
  await importKeyring(root);
  const put = (given: object) => admin.put(`${PATH}/acme`, { root: nextRoot.key, ...given });
  const refused = await put({});
  expect([refused.status, refused.body.code]).toEqual([409, 'root_changed']);
  expect(refused.body.detail).toContain(root.key.kid);
  expect((await put({ replaces: root.key.kid })).body.publisher).toMatchObject({
    root: nextRoot.key.kid,
    keyring_version: null,
  });
});

test('an announced root key replaces the trusted one, also after a keyring that was missed', async () => {
  await trust();
  await importKeyring(root);
  const announcing = await keyringOf(root, { version: 2, keys, next_root: nextRoot.key });
  expect((await importKeyring(nextRoot, { version: 3 })).body.code).toBe('keyring_invalid');
  expect((await importKeyring(nextRoot, { version: 3 }, [announcing])).body.publisher).toMatchObject({
    root: nextRoot.key.kid,
    keyring_version: 3,
  });
});

test('a keyring is extended once for each version', async () => {
  await trust();
  const extend = () => admin.post(`${PATH}/acme/extension`, { reason: 'the publisher is on holiday' });
  expect((await extend()).body.code).toBe('already_extended');
  await importKeyring(root);
  expect((await extend()).body.publisher.extended_until).not.toBeNull();
  expect((await extend()).body.code).toBe('already_extended');
  await importKeyring(root, { version: 2 });
  expect((await known()).extended_until).toBeNull();
});

describe('from a hub', () => {
  const shown = async (by: typeof root, given: object = {}) => ({
    slug: 'acme',
    name: 'Another name',
    keyring: await keyringOf(by, { keys, ...given }),
    transitions: [],
  });

  test('a sync fetches the keyrings of trusted publishers, and no others', async () => {
    hub.setPublishers(await shown(root), { ...(await shown(stranger)), slug: 'zeta' });
    await sync();
    expect(hub.requests.some(({ call }) => call === 'publishers')).toBe(false);
    await trust();
    await sync();
    expect(await known()).toMatchObject({ name: 'Acme', keyring_version: 1, root: root.key.kid });
    expect((await admin.get(PATH)).body.publishers).toHaveLength(1);
  });

  test.each([
    ['of a stranger', () => shown(stranger, { version: 9 })],
    ['that is older', () => shown(root, { version: 1, keys: [] })],
    ['that is another one with the same version', () => shown(root, { version: 2, keys: [] })],
    ['that is no keyring', async () => ({ slug: 'acme', keyring: 'x', transitions: [] })],
    ['without a form', async () => ({ slug: 'acme', keyring: 5 })],
  ])('a keyring %s changes nothing, and the sync succeeds', async (_name, make) => {
    await trust();
    await importKeyring(root, { version: 2 });
    const before = await known();
    hub.setPublishers(await make());
    await sync();
    expect(await known()).toEqual(before);
  });

  test('a hub of an earlier version has no publishers, and the sync succeeds', async () => {
    await trust();
    hub.behave(refuse('not_found'), 'publishers');
    await sync();
    expect((await known()).keyring_version).toBeNull();
  });
});

test('what was verified is remembered after a publisher is no longer trusted', async () => {
  await trust();
  expect((await admin.put('/api/v1/settings/trust/slugs/tool', { publisher: 'acme' })).body).toEqual({
    slug: 'tool',
    publisher: 'acme',
  });
  expect((await admin.put('/api/v1/settings/trust/slugs/tool', { publisher: 'nobody' })).status).toBe(404);
  expect((await admin.delete(`${PATH}/acme`)).status).toBe(204);
  expect((await admin.delete(`${PATH}/acme`)).status).toBe(404);
  expect(await fleet.client.trustSlug.count()).toBe(1);
});
