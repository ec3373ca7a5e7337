const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;
const STEP = 1024n;

/** Thousandths of a CPU as a Kubernetes quantity. */
export const showCpu = (millis: bigint): string => (millis % 1000n === 0n ? `${millis / 1000n}` : `${millis}m`);

/** Bytes as a Kubernetes quantity, exactly. */
export function showBytes(bytes: bigint): string {
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
