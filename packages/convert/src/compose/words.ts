import { Refused } from './context.ts';

/** The words of a command line, as a POSIX shell divides them. @throws Refused for a quotation without an end */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    if (quote !== '') {
      if (character === quote) quote = '';
      else if (character === '\\' && quote === '"' && '"\\$`'.includes(line.charAt(index + 1)))
        word += line.charAt(++index);
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + (character === '\\' ? line.charAt(++index) : character);
    }
  }
  if (quote !== '') throw new Refused('has a quotation without an end');
  return word === undefined ? words : [...words, word];
}

const DURATION = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;

/** The seconds of a duration such as `1m30s`; undefined for another text. */
export function secondsOf(duration: string): number | undefined {
  const [whole, hours = '0', minutes = '0', seconds = '0'] = DURATION.exec(duration) ?? [];
  if (!whole) return undefined;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

const SIZE = /^(\d+(?:\.\d+)?)\s?([bkmg]?)b?$/i;
const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** An amount of memory such as `512m` as a quantity, in whole MiB; undefined for another text. */
export function memoryOf(size: string): string | undefined {
  const [, digits, unit = ''] = SIZE.exec(size) ?? [];
  if (digits === undefined) return undefined;
  return `${Math.max(1, Math.ceil((Number(digits) * (UNITS[unit.toLowerCase()] ?? 1)) / 2 ** 20))}Mi`;
}
