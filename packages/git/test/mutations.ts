import fc from 'fast-check';

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** A change of bytes. Places are shares of their length. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), place, bit: fc.nat({ max: 7 }) }),
  fc.record({ kind: fc.constant('cut' as const), place }),
  fc.record({ kind: fc.constant('insert' as const), place, bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }) }),
  fc.record({ kind: fc.constant('remove' as const), place, length: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constant('repeat' as const), place, length: fc.integer({ min: 1, max: 200 }) }),
  // The length of a packet line.
  fc.record({ kind: fc.constant('length' as const), place, length: fc.integer({ min: 0, max: 0xffff }) }),
  fc.record({
    kind: fc.constant('replace' as const),
    place,
    byte: fc.constantFrom(0, 1, 0x20, 0x30, 0x7f, 0x80, 0xff),
  }),
);
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

/** One to three changes of bytes. */
export const changes = fc.array(change, { minLength: 1, maxLength: 3 });

export const changed = (bytes: Uint8Array, all: readonly Change[]): Buffer =>
  all.reduce(changedOnce, Buffer.from(bytes));

function changedOnce(bytes: Buffer, { place, ...change }: Change): Buffer {
  const at = Math.floor(place * bytes.length);
  const put = (removed: number, ...inserted: Uint8Array[]) =>
    Buffer.concat([bytes.subarray(0, at), ...inserted, bytes.subarray(at + removed)]);
  switch (change.kind) {
    case 'flip':
      return put(1, Buffer.from([(bytes[at] ?? 0) ^ (1 << change.bit)]));
    case 'cut':
      return bytes.subarray(0, at);
    case 'insert':
      return put(0, change.bytes);
    case 'remove':
      return put(change.length);
    case 'repeat':
      return put(0, bytes.subarray(at, at + change.length));
    case 'length':
      return put(4, Buffer.from(change.length.toString(16).padStart(4, '0')));
    case 'replace':
      return put(1, Buffer.from([change.byte]));
  }
}
