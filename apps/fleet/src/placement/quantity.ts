const QUANTITY = /^(?=\.?\d)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const LONGEST = 64;
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

// Beyond it a quantity of at most 64 characters is over every cap, or less than one of anything: nothing is lost.
const FURTHEST_EXPONENT = 200;
const MOST = BigInt(Number.MAX_SAFE_INTEGER);

/** The CPU that a Kubernetes quantity asks for, in thousandths, rounded up; '' is 0. @throws RangeError for no quantity */
export const milli = (quantity: string): number => wholeUnits(quantity, 3);

/** The bytes that a Kubernetes quantity asks for, rounded up; '' is 0. @throws RangeError for no quantity */
export const bytes = (quantity: string): number => wholeUnits(quantity, 0);

function wholeUnits(quantity: string, extraExponent: number): number {
  if (quantity === '') return 0;
  const parts = quantity.length <= LONGEST ? QUANTITY.exec(quantity) : null;
  if (!parts) throw new RangeError('not a Kubernetes quantity such as 500m, 2 or 8Gi');
  const [, whole = '', fraction = '', binary, decimal, exponent = '0'] = parts;
  const digits = BigInt(whole + fraction) * 1024n ** BigInt(binary ? BINARY.indexOf(binary) + 1 : 0);
  const power = (decimal ? (DECIMAL[decimal] ?? 0) : clamped(Number(exponent))) + extraExponent - fraction.length;
  const units = power >= 0 ? digits * 10n ** BigInt(power) : dividedUp(digits, 10n ** BigInt(-power));
  return Number(units < MOST ? units : MOST);
}

const clamped = (exponent: number): number => Math.max(-FURTHEST_EXPONENT, Math.min(FURTHEST_EXPONENT, exponent));

const dividedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
