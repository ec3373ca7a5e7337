// Volumes: their size and target.
import { randomUUID } from 'node:crypto';
import { invalidPathsOf, pathOf, startResources } from './resources.ts';

const world = await startResources();
const { aHost, aName, aVolume, asAdmin, read } = world;
const host = await aHost();
const target = { host_id: host.id };
afterAll(() => world.stop());

const create = (given: object) => asAdmin.post(pathOf('storage'), { name: aName('volume'), ...given });
const put = (id: string, body: object) => asAdmin.put(pathOf('storage', id), body);

test('a volume without further members has the defaults', async () => {
  expect(await aVolume()).toMatchObject({
    size: '10Gi',
    access_mode: 'ReadWriteOnce',
    storage_class: null,
    reclaim: 'retain',
    target: null,
    deployment_id: null,
    phase: 'pending',
    attached_to: [],
  });
});

describe('the size of a volume', () => {
  test.each(['4Mi', '10Gi', '1.5Gi', '500M', '1e9', '.5Ti', '1E'])('can be %s', async (size) => {
    expect((await aVolume({ size })).size).toBe(size);
  });

  test.each([
    '',
    '0',
    '0Gi',
    '0.0e9',
    '-1Gi',
    '+1Gi',
    '1GB',
    '1 Gi',
    ' 1Gi',
    '1gi',
    'ten',
    '0x10',
    'Infinity',
    '1',
    '1e3',
    '500m',
    '100Ki',
    `${'9'.repeat(65)}`,
    7,
    null,
  ])('cannot be %j', async (size) => {
    const volume = await aVolume();
    for (const answer of [await create({ size }), await put(volume.id, { size })]) {
      expect(answer.status).toBe(400);
      expect(invalidPathsOf(answer)).toEqual(['size']);
    }
    expect(await read('storage', volume.id)).toEqual(volume);
  });

  test.each([
    ['1Gi', '1023Mi'],
    ['1Gi', '1G'],
    ['8000000', '5000000'],
    ['1e7', '9999999'],
    ['8Ti', '8T'],
  ])('can grow but never shrink: not from %s to %s', async (size, smaller) => {
    const volume = await aVolume({ size });
    const answer = await put(volume.id, { size: smaller });
    expect(answer.status).toBe(400);
    expect(invalidPathsOf(answer)).toEqual(['size']);
    expect(answer.body.errors[0].message).toContain(size);
    expect(await read('storage', volume.id)).toEqual(volume);
  });

  test.each([
    ['1Gi', '1Gi'],
    ['1Gi', '1024Mi'],
    ['1G', '1Gi'],
    ['9999999', '10M'],
  ])('can become equal or larger: from %s to %s', async (size, larger) => {
    const { id } = await aVolume({ size });
    const { status, body } = await put(id, { size: larger });
    expect(status).toBe(200);
    expect(body.storage.size).toEqual(larger);
  });

  test('does not shrink through two concurrent changes', async () => {
    const { id } = await aVolume({ size: '1Gi' });
    const sizes = ['5Gi', '3Gi', '4Gi', '2Gi'];
    const answers = await Promise.all(sizes.map((size) => put(id, { size })));
    expect(answers[0]?.status).toBe(200);
    expect((await read('storage', id)).size).toBe('5Gi');
  });
});

describe('the size of a volume in a cluster', () => {
  const classes = [
    { name: 'standard', is_default: true, allows_expansion: false },
    { name: 'elastic', is_default: false, allows_expansion: true },
    { name: 'checked-by-an-earlier-version', is_default: false },
  ];

  /** A volume that the cluster has, of a storage class. */
  async function aClaim(storage_class: string | null, given: object = { sent_to_engine: true, phase: 'bound' }) {
    const { id: cluster_id } = await world.aCluster();
    await world.client.cluster.update({ where: { id: cluster_id }, data: { storage_classes: classes } });
    const { id } = await aVolume({ target: { cluster_id }, storage_class, size: '5Gi' });
    await world.client.volume.update({ where: { id }, data: given });
    return id;
  }

  test.each([null, 'standard'])('cannot grow if its storage class (%j) does not allow it', async (storage_class) => {
    const id = await aClaim(storage_class);
    const message =
      'must be 5Gi, because the storage class standard does not allow larger volumes (allowVolumeExpansion)';
    const { status, body } = await put(id, { size: '6Gi' });
    expect({ status, code: body.code, errors: body.errors }).toEqual({
      status: 422,
      code: 'unsupported_value',
      errors: [{ path: 'size', message }],
    });
    expect((await put(id, { size: '5120Mi', labels: { a: 'b' } })).status).toBe(200);
    // A size that an earlier version has stored, and that the cluster has refused.
    expect((await put(id, { size: '4Gi' })).status).toBe(200);
  });

  test.each(['elastic', 'unknown', 'checked-by-an-earlier-version'])('can grow with the class %s', async (name) => {
    const id = await aClaim(name);
    expect((await put(id, { size: '6Gi' })).status).toBe(200);
    expect((await put(id, { size: '5Gi' })).status).toBe(400);
  });

  test('can grow before the cluster has the volume', async () => {
    expect((await put(await aClaim('standard', {}), { size: '6Gi' })).status).toBe(200);
  });
});

describe('the target of a volume', () => {
  test.each([
    ['host_id', { host_id: randomUUID() }],
    ['cluster_id', { cluster_id: randomUUID() }],
    ['cluster_id', { cluster_id: host.id }],
  ])('is rejected by name if it does not exist: %s', async (member, unknown) => {
    const name = aName('nowhere');
    const answer = await create({ name, target: unknown });
    expect(answer).toMatchObject({ status: 422, body: { code: 'unknown_target' } });
    expect(invalidPathsOf(answer)).toEqual([`target.${member}`]);
    expect((await asAdmin.get(`${pathOf('storage')}?search=${name}`)).body.storage).toEqual([]);
  });

  test.each([{}, { host_id: null }, { host_id: 'x' }, { host_id: host.id, cluster_id: host.id }, { pod: 'x' }, []])(
    'is one host or cluster: not %j',
    async (wrong) => {
      expect((await create({ target: wrong })).status).toBe(400);
    },
  );

  test('is returned as given, and can be given as returned', async () => {
    const volume = await aVolume({ target });
    expect(volume.target).toEqual({ host_id: host.id, cluster_id: null });
    expect((await aVolume({ target: volume.target })).target).toEqual(volume.target);
    const elsewhere = { host_id: (await aHost()).id };
    expect((await put(volume.id, { target: elsewhere, access_mode: 'x' })).body.storage.target).toEqual(volume.target);
  });
});
