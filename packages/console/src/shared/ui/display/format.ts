import { locale } from '../../texts/language.ts';
import { t } from '../../texts/texts.ts';

/** Dates and numbers in the language and the time zone of the reader. */
const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const number = new Intl.NumberFormat(locale);
const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
const list = new Intl.ListFormat(locale, { type: 'conjunction', style: 'narrow' });

export const formatCount = (value: number): string => number.format(value);

/** Names as an enumeration. */
export const formatList = (names: readonly string[]): string => list.format(names);

export const formatMoment = (timestamp: string): string => moment.format(new Date(timestamp));

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** The distance from `now`, in milliseconds, such as `3 minutes ago`. */
export function formatRelative(timestamp: string, now: number): string {
  const seconds = Math.round((Date.parse(timestamp) - now) / 1000);
  if (Math.abs(seconds) < 5) return t('just now');
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return relative.format(Math.trunc(seconds / size), unit);
}

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value of a Kubernetes quantity; 0 for an empty one. */
export function parseQuantity(quantity: string): number {
  const [suffix = ''] = /[A-Za-z]{0,2}$/.exec(quantity) ?? [];
  return (Number.parseFloat(quantity) || 0) * (FACTORS[suffix] ?? 1);
}

/** An amount that no line break separates from its unit. */
const amount = (value: string, unit: string): string => `${value}\u00a0${unit}`;

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function formatBytes(bytes: number): string {
  const exponent = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return amount(decimal.format(bytes / 2 ** (10 * exponent)), BYTE_UNITS[exponent] ?? '');
}

export const formatDecimal = (value: number): string => decimal.format(value);

export const formatCpus = (cpus: number): string => amount(decimal.format(cpus), t('CPU'));

/** A code such as `ImagePullFailed` or `not_configured` as words. */
export const wordsOfCode = (code: string): string => {
  // An abbreviation, such as OOM, stays as it is.
  const words = (code.match(/[A-Z]{2,}(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]/g) ?? []).map((word) =>
    /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase(),
  );
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};
