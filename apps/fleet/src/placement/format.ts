const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/**
 * The direction in which a displayed number is rounded: `up` for required amounts, `down` for
 * available amounts.
 */
export type Rounding = 'up' | 'down';

const scaled = (bytes: number, rounding: Rounding): { readonly number: string; readonly unit: string } => {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const hundredths = (bytes / 1024 ** power) * 100;
  const rounded = rounding === 'up' ? Math.ceil(hundredths) : Math.floor(hundredths);
  return { number: String(rounded / 100), unit: UNITS[power] ?? 'bytes' };
};

/** An amount of memory as text: `1.5 GiB`. */
export const formatMemory = (bytes: number, rounding: Rounding): string => {
  const { number, unit } = scaled(bytes, rounding);
  return `${number} ${unit}`;
};

/** A part of an amount of memory as text: `1.5 of 8 GiB`, `512 MiB of 8 GiB`. */
export function formatMemoryOf(part: number, whole: number): string {
  const free = scaled(part, 'down');
  const total = scaled(whole, 'down');
  const sameUnit = free.unit === total.unit || part === 0;
  return `${sameUnit ? free.number : `${free.number} ${free.unit}`} of ${total.number} ${total.unit}`;
}

/** Thousandths of a CPU as CPUs, exactly: `1.5`. */
export const formatCores = (millis: number): string => String(millis / 1000);

/** A number with its noun: `1 CPU`, `0.5 CPUs`. */
export const pluralize = (number: number | string, noun: string): string =>
  `${number} ${noun}${Number(number) === 1 ? '' : 's'}`;

/** The form of "to be" for a number. */
export const areOrIs = (number: number | string): string => (Number(number) === 1 ? 'is' : 'are');

/** Compares strings by code units, independent of the locale. */
export const compareStrings = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
