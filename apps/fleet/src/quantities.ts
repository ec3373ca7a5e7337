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

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;
const STEP = 1024n;

/** Thousandths of a CPU as a Kubernetes quantity. */
const showCpu = (millis: bigint): string => (millis % 1000n === 0n ? `${millis / 1000n}` : `${millis}m`);

/** Bytes as a Kubernetes quantity, exactly. */
function showBytes(bytes: bigint): string {
  let [value, unit] = [bytes, 0];
  while (value > 0n && value % STEP === 0n && unit < UNITS.length - 1) [value, unit] = [value / STEP, unit + 1];
  return `${value}${UNITS[unit]}`;
}

export interface Amount {
  readonly cpu_millis: bigint;
  readonly memory_bytes: bigint;
  readonly gpu_count: number;
}

export const showAmount = ({ cpu_millis, memory_bytes, gpu_count }: Amount) => ({
  cpu: showCpu(cpu_millis),
  memory: showBytes(memory_bytes),
  gpu_count,
});

/** CPU as Kubernetes takes it, no finer than a thousandth; as it was written where that will do. Undefined for none. */
export const cpuAmount = (quantity: string): string | undefined => {
  const amount = milli(quantity);
  if (amount === 0) return undefined;
  return /^\d+m?$/.test(quantity) ? quantity : `${amount}m`;
};

/** Memory, or the size of a volume, as Kubernetes takes it: in whole bytes. Undefined for none. */
export const byteAmount = (quantity: string): string | undefined => {
  const amount = bytes(quantity);
  if (amount === 0) return undefined;
  return /^\d+(?:[KMGTPE]i|[kMGTPE])?$/.test(quantity) ? quantity : String(amount);
};
