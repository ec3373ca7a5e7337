import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import { bytes, milli } from '../../src/placement/quantities.ts';

test.each([
  ['', 0],
  ['0', 0],
  ['2', 2000],
  ['500m', 500],
  ['0.5', 500],
  ['.5', 500],
  ['1.', 1000],
  ['0.1', 100],
  ['0.0001', 1],
  ['1500u', 2],
  ['1n', 1],
  ['1000000n', 1],
  ['1000001n', 2],
  ['1e3', 1_000_000],
  ['1E3', 1_000_000],
  ['1e-3', 1],
  ['1e+1', 10_000],
  ['1k', 1_000_000],
  ['1Ki', 1_024_000],
])('the quantity %p is this number of thousandths of a CPU: %p', (quantity, expected) => {
  expect(milli(quantity)).toBe(expected);
});

test.each([
  ['', 0],
  ['8Gi', 8 * 1024 ** 3],
  ['1Ki', 1024],
  ['1Mi', 1024 ** 2],
  ['1Ti', 1024 ** 4],
  ['1Pi', 1024 ** 5],
  ['1k', 1e3],
  ['1M', 1e6],
  ['1G', 1e9],
  ['1T', 1e12],
  ['1P', 1e15],
  ['0.001E', 1e15],
  ['0.0001Ei', 115_292_150_460_685],
  ['1.1Gi', 1_181_116_007],
  ['0.3G', 300_000_000],
  ['1e9', 1e9],
  ['1E9', 1e9],
  ['128974848000m', 128_974_848],
  ['1m', 1],
  ['1.5', 2],
])('the quantity %p is this number of bytes: %p', (quantity, expected) => {
  expect(bytes(quantity)).toBe(expected);
});

test('a quantity that is too large becomes the largest safe integer', () => {
  expect(bytes('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  for (const quantity of ['9007199254740992', '8Pi', '1E', '1Ei', '1e999999999999999999999999999999', '9'.repeat(64)]) {
    expect(bytes(quantity)).toBe(Number.MAX_SAFE_INTEGER);
    expect(milli(quantity)).toBe(Number.MAX_SAFE_INTEGER);
  }
});

test('a quantity that is too small becomes 1, and zero stays zero', () => {
  expect(bytes('1e-999999999999999999999999999999')).toBe(1);
  expect(milli('0.000000000000000000000000000000000000000000000000000000001n')).toBe(1);
  expect(bytes('0e999999999999999999999999999999')).toBe(0);
});

test.each([
  ' ',
  '.',
  '-1',
  '+1',
  '1 Gi',
  '1gi',
  '1K',
  '1mi',
  '1e',
  '1e1.5',
  '1Gi ',
  'NaN',
  'Infinity',
  '0x10',
  '1_000',
])('%p is not a quantity', (text) => {
  expect(() => bytes(text)).toThrow(RangeError);
});

test('a quantity with too many characters is rejected before it is parsed', () => {
  expect(() => bytes('1'.repeat(65))).toThrow(RangeError);
});

test('a quantity is parsed without loss of precision', () => {
  const scales = { n: -9n, u: -6n, m: -3n, '': 0n, k: 3n, M: 6n, G: 9n };
  const written = fc.record({
    whole: fc.bigInt(0n, 9_000_000n),
    fraction: fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 12 }),
    suffix: fc.constantFrom(...(Object.keys(scales) as (keyof typeof scales)[])),
  });
  assertProperty(
    fc.property(written, ({ whole, fraction, suffix }) => {
      const thousandths = milli(`${whole}.${fraction}${suffix}`);
      // In units of 10^-24, all values here are integers. The result is the smallest number of
      // thousandths that is not less than the quantity.
      const exact = (whole * 10n ** 12n + BigInt(fraction.padEnd(12, '0'))) * 10n ** (12n + scales[suffix]);
      const oneThousandth = 10n ** 21n;
      const capped = exact > BigInt(Number.MAX_SAFE_INTEGER) * oneThousandth;
      if (capped) return thousandths === Number.MAX_SAFE_INTEGER;
      const answered = BigInt(thousandths) * oneThousandth;
      return answered >= exact && answered - oneThousandth < exact;
    }),
  );
});
