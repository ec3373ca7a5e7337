const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Whether a number that can't be shown exactly is shown a little larger or a little smaller: what is needed, what is free. */
export type Rounding = 'up' | 'down';

const sized = (bytes: number, rounding: Rounding): { readonly number: string; readonly unit: string } => {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const hundredths = (bytes / 1024 ** power) * 100;
  const rounded = rounding === 'up' ? Math.ceil(hundredths) : Math.floor(hundredths);
  return { number: String(rounded / 100), unit: UNITS[power] ?? 'bytes' };
};

/** Memory for people: `1.5 GiB`. */
export const memory = (bytes: number, rounding: Rounding): string => {
  const { number, unit } = sized(bytes, rounding);
  return `${number} ${unit}`;
};

/** A part of some memory: `1.5 of 8 GiB`, `512 MiB of 8 GiB`. */
export function memoryOf(part: number, whole: number): string {
  const free = sized(part, 'down');
  const total = sized(whole, 'down');
  const sameUnit = free.unit === total.unit || part === 0;
  return `${sameUnit ? free.number : `${free.number} ${free.unit}`} of ${total.number} ${total.unit}`;
}

/** Thousandths of a CPU as CPUs, exactly: `1.5`. */
export const cores = (millis: number): string => String(millis / 1000);

/** A number with its noun: `1 CPU`, `0.5 CPUs`. */
export const counted = (number: number | string, noun: string): string =>
  `${number} ${noun}${Number(number) === 1 ? '' : 's'}`;

/** The verb for a number of things. */
export const areOrIs = (number: number | string): string => (Number(number) === 1 ? 'is' : 'are');

/** Orders texts the same way on every machine, whatever its language. */
export const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
