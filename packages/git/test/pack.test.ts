import { deflateSync } from 'node:zlib';
import { GIT_LIMITS, startWork } from '../src/bounds.ts';
import { type GitObject, readPack } from '../src/pack.ts';
import { blobObject } from './memory-repository.ts';
import { copyOf, deltaOf, idOf, packOf, packWith, sealed } from './packs.ts';
import { refusalOf } from './world.ts';

const MIB = 2 ** 20;
const texts = Array.from({ length: 40 }, (_, index) => `line one\nnumber ${index}\n${'the same\n'.repeat(index)}`);
const blobs: readonly GitObject[] = texts.map(blobObject);

const read = (pack: Buffer, limits = GIT_LIMITS) => readPack(pack, startWork(limits));
const refusalOfPack = (pack: Buffer, limits = GIT_LIMITS) => refusalOf(read(pack, limits));

const DAMAGED = 'The pack that the server sent is incomplete or damaged.';
const DELTA = 'A difference in the pack is malformed, or not for its base.';
const base = blobObject('0123456789');
const ofBase = (delta: Uint8Array) =>
  packOf([
    { kind: 3, data: base.data },
    { kind: 6, data: delta, base: 0 },
  ]);

describe('a pack', () => {
  it.each(['none', 'offsets', 'ids'] as const)(
    'contains all objects by their ids (differences: %s)',
    async (deltas) => {
      const objects = await read(packWith(blobs, deltas));
      expect(objects).toEqual(new Map(blobs.map((blob) => [idOf(blob), blob])));
    },
  );

  it('keeps no more memory than the objects have bytes', async () => {
    const small = Array.from({ length: 2000 }, (_, index) => blobObject(`${index} ${'x'.repeat(5000)}`));
    const objects = await read(packWith(small, 'none'));
    const buffers = new Set([...objects.values()].map(({ data }) => data.buffer));
    const kept = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(objects.size).toBe(2000);
    expect(kept).toBeLessThan(2000 * 5200);
  });

  it('can have no objects', async () => {
    expect((await read(packOf([]))).size).toBe(0);
  });

  it('is refused if it is cut anywhere', async () => {
    const pack = packWith(blobs.slice(0, 3), 'offsets');
    const reasons = new Set<string>();
    for (let length = 0; length < pack.length; length += 1) reasons.add(await refusalOfPack(pack.subarray(0, length)));
    expect([...reasons]).toEqual([DAMAGED]);
  });

  it('is refused if it has a wrong checksum, other bytes after its objects, or another version', async () => {
    const pack = packWith(blobs, 'none');
    const wrong = Buffer.from(pack);
    wrong[pack.length - 1] = (pack.at(-1) ?? 0) ^ 1;
    expect(await refusalOfPack(wrong)).toBe(DAMAGED);
    expect(await refusalOfPack(sealed(Buffer.concat([pack.subarray(0, -20), Buffer.from('more')])))).toBe(DAMAGED);
    const other = Buffer.from(pack.subarray(0, -20));
    other.writeUInt32BE(4, 4);
    expect(await refusalOfPack(sealed(other))).toMatch(/has the version 4 instead of 2 or 3/);
  });

  it.each([
    ['an unknown type', { kind: 5, data: base.data }],
    ['a size that is too small', { kind: 3, data: base.data, size: 9 }],
    ['a size that is too large', { kind: 3, data: base.data, size: 11 }],
    ['data that is not compressed', { kind: 3, data: base.data, compressed: base.data }],
    [
      'compressed data without an end',
      { kind: 3, data: base.data, compressed: deflateSync(base.data).subarray(0, -6) },
    ],
    ['an offset before the pack', { kind: 6, data: base.data, base: -1 }],
  ])('is refused if it has an object with %s', async (_what, entry) => {
    const { base: position, ...rest } = entry as typeof entry & { base?: number }; // only the last one has it
    const pack = position === undefined ? packOf([rest]) : sealed(withDistance(500));
    expect(await refusalOfPack(pack)).toBe(DAMAGED);
  });

  it.each([
    ['itself', 0],
    ['a position within another object', 3],
  ])('is refused if the base of a difference is %s', async (_what, distance) => {
    expect(await refusalOfPack(sealed(withDistance(distance)))).toBe('The pack lacks the base of a difference.');
  });

  it('is refused if it lacks the base of a difference, or two differences are the base of each other', async () => {
    const delta = deltaOf(10, 10, [copyOf(0, 10)]);
    const lacking = packOf([{ kind: 7, data: delta, base: idOf(base) }]);
    expect(await refusalOfPack(lacking)).toBe('The pack lacks the base of a difference.');
    const cycle = packOf(['1', '2'].map((digit) => ({ kind: 7, data: delta, base: digit.repeat(40) })));
    expect(await refusalOfPack(cycle)).toBe('The pack lacks the base of a difference.');
  });
});

/** A pack without checksum with an object and a difference, whose base is this number of bytes before it. */
function withDistance(distance: number): Buffer {
  const [first, second] = [deflateSync(base.data), deflateSync(deltaOf(10, 10, [copyOf(0, 10)]))];
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x02', 'latin1');
  const bytes = distance < 128 ? [distance] : [128 | ((distance >> 7) - 1), distance & 127];
  const size = deltaOf(10, 10, [copyOf(0, 10)]).length;
  return Buffer.concat([head, Buffer.from([0x3a]), first, Buffer.from([0x60 | size, ...bytes]), second]);
}

describe('a difference', () => {
  it('copies parts of its base and inserts bytes', async () => {
    const delta = deltaOf(10, 14, [copyOf(4, 3), [4, Buffer.from('abcd')], copyOf(0, 7)]);
    const objects = [...(await read(ofBase(delta))).values()].map(({ data }) => data.toString());
    expect(objects).toEqual(['0123456789', '456abcd0123456']);
  });

  it('copies 65,536 bytes if it states no length', async () => {
    const large = blobObject('x'.repeat(70_000));
    const delta = deltaOf(70_000, 65_536, [[0x80]]);
    const pack = packOf([
      { kind: 3, data: large.data },
      { kind: 6, data: delta, base: 0 },
    ]);
    expect([...(await read(pack)).values()].map(({ data }) => data.length)).toEqual([70_000, 65_536]);
  });

  it.each([
    ['is for a base of another size', deltaOf(9, 9, [copyOf(0, 9)])],
    ['copies more than its base has', deltaOf(10, 10, [copyOf(1, 10)])],
    ['copies from after its base', deltaOf(10, 1, [copyOf(2 ** 31, 1)])],
    ['produces more than it states', deltaOf(10, 9, [copyOf(0, 10)])],
    ['produces less than it states', deltaOf(10, 11, [copyOf(0, 10)])],
    ['inserts more bytes than it has', deltaOf(10, 5, [[5, Buffer.from('abc')]])],
    ['has a reserved instruction', deltaOf(10, 1, [[0]])],
    ['ends within an instruction', deltaOf(10, 10, [[0xff, 0, 0]])],
    ['is empty', Buffer.alloc(0)],
    ['states an endless size', Buffer.alloc(100, 0xff)],
  ])('is refused if it %s', async (_what, delta) => {
    expect(await refusalOfPack(ofBase(delta))).toBe(DELTA);
  });
});

describe('the bounds of a pack', () => {
  const limits = { ...GIT_LIMITS, objectBytes: 1000, totalBytes: 5000, objects: 10 };

  it('refuse an object that is larger than the bound, before it is decompressed', async () => {
    const pack = packOf([{ kind: 3, data: base.data, size: 1001 }]);
    expect(await refusalOfPack(pack, limits)).toBe('An object of the commit is larger than 1000 bytes.');
    expect(await refusalOfPack(packOf([{ kind: 3, data: base.data, size: 2 ** 40 }]))).toMatch(/larger than 2 MiB/);
    expect(await refusalOfPack(packOf([{ kind: 3, data: base.data, size: 2 ** 60 }]))).toBe(DAMAGED);
  });

  it('refuse an object that states few bytes and decompresses to 64 MiB', async () => {
    const bomb = { kind: 3, data: base.data, size: 10, compressed: deflateSync(Buffer.alloc(64 * MIB)) };
    expect(await refusalOfPack(packOf([bomb]))).toBe(DAMAGED);
  });

  it('refuse a difference that produces a GiB, before it is applied', async () => {
    const copies = Array.from({ length: 2 ** 14 }, () => [0x80]);
    expect(await refusalOfPack(ofBase(deltaOf(10, 2 ** 30, copies)))).toBe(
      'An object of the commit is larger than 2 MiB.',
    );
  });

  it('refuse chains of differences that produce more than the bound together', async () => {
    const doubling = [900, 900, 900, 900, 900, 900].map((size, index) =>
      index === 0
        ? { kind: 3, data: Buffer.alloc(size) }
        : { kind: 6, data: deltaOf(900, 900, [copyOf(0, 450), copyOf(0, 450)]), base: index - 1 },
    );
    expect(await refusalOfPack(packOf(doubling), limits)).toBe(
      'The objects of the commit are larger than 5000 bytes together.',
    );
    const work = startWork(limits);
    await readPack(packOf(doubling), work).catch(() => undefined);
    expect(work.budget.usedBytes()).toBeLessThanOrEqual(5000);
  });

  it('refuse 2^31 objects', async () => {
    expect(await refusalOfPack(packOf([], 2 ** 31))).toBe('The commit has more than 100000 objects.');
  });

  it('apply a chain of 20,000 differences in any order', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => blobObject(String(index)));
    expect((await read(packWith(many, 'ids'))).size).toBe(20_000);
  });
});
