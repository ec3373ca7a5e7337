const QUANTITY = /^(?=\.?\d)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const MAX_LENGTH = 64;
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

// With a larger exponent, a quantity of at most 64 characters exceeds the maximum or rounds to one
// unit, so the result is the same.
const MAX_EXPONENT = 200;
const MAX_UNITS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * A Kubernetes quantity of CPU in thousandths of a CPU, rounded up; '' is 0.
 * @throws RangeError for an invalid quantity
 */
export const milli = (quantity: string): number => wholeUnits(quantity, 3);

/**
 * A Kubernetes quantity in bytes, rounded up; '' is 0. @throws RangeError for an invalid quantity
 */
export const bytes = (quantity: string): number => wholeUnits(quantity, 0);

/** Whether two quantities are the same number of bytes. */
export const isSameSize = (a: string, b: string): boolean => bytes(a) === bytes(b);

function wholeUnits(quantity: string, extraExponent: number): number {
  if (quantity === '') return 0;
  const parts = quantity.length <= MAX_LENGTH ? QUANTITY.exec(quantity) : null;
  if (!parts) throw new RangeError('must be a Kubernetes quantity such as 500m, 2 or 8Gi');
  const [, whole = '', fraction = '', binary, decimal, exponent = '0'] = parts;
  const digits = BigInt(whole + fraction) * 1024n ** BigInt(binary ? BINARY.indexOf(binary) + 1 : 0);
  const power = (decimal ? (DECIMAL[decimal] ?? 0) : clamped(Number(exponent))) + extraExponent - fraction.length;
  const units = power >= 0 ? digits * 10n ** BigInt(power) : dividedUp(digits, 10n ** BigInt(-power));
  return Number(units < MAX_UNITS ? units : MAX_UNITS);
}

const clamped = (exponent: number): number => Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, exponent));

const dividedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;
const STEP = 1024n;

/** Thousandths of a CPU as a Kubernetes quantity. */
const formatCpu = (millis: bigint): string => (millis % 1000n === 0n ? `${millis / 1000n}` : `${millis}m`);

/** Bytes as a Kubernetes quantity, without rounding. */
export function formatBytes(bytes: bigint): string {
  let value = bytes;
  let unit = 0;
  while (value > 0n && value % STEP === 0n && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  return `${value}${UNITS[unit]}`;
}

export interface Amount {
  readonly cpu_millis: bigint;
  readonly memory_bytes: bigint;
  readonly gpu_count: number;
}

export const formatAmount = ({ cpu_millis, memory_bytes, gpu_count }: Amount) => ({
  cpu: formatCpu(cpu_millis),
  memory: formatBytes(memory_bytes),
  gpu_count,
});

/**
 * CPU as Kubernetes accepts it, rounded up to thousandths; the given text if it is valid there.
 * Undefined for 0.
 */
export const cpuAmount = (quantity: string): string | undefined => {
  const amount = milli(quantity);
  if (amount === 0) return undefined;
  return isWritten(quantity, /^\d+m?$/, amount) ? quantity : `${amount}m`;
};

/**
 * Memory or the size of a volume as Kubernetes accepts it, in whole bytes; the given text if it is
 * valid there. Undefined for 0.
 */
export const byteAmount = (quantity: string): string | undefined => {
  const amount = bytes(quantity);
  if (amount === 0) return undefined;
  return isWritten(quantity, /^\d+(?:[KMGTPE]i|[kMGTPE])?$/, amount) ? quantity : String(amount);
};

/** Whether a quantity can be sent as it was given: it has this form, and is less than the largest amount. */
const isWritten = (quantity: string, form: RegExp, amount: number): boolean =>
  amount < Number(MAX_UNITS) && form.test(quantity);
