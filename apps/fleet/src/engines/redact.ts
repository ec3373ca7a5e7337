import type { EngineFailure } from './errors.ts';

const MAX_WORDS = 65_536;

/** Text of an engine in one line, without what moves a cursor. */
export const oneLine = (text: string): string =>
  text
    .slice(0, MAX_WORDS)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();

/** Shorter ones would take a part of every word with them. */
const LEAST = 4;
const INSTEAD = '•••';

/** Takes what an engine was given out of its words. */
export function scrubberOf(values: readonly string[]): (text: string) => string {
  const needles = [...new Set(values.flatMap(formsOf))]
    .filter(({ length }) => length >= LEAST)
    .sort((a, b) => b.length - a.length);
  return (text) => needles.reduce((clean, needle) => clean.replaceAll(needle, INSTEAD), text);
}

/** A value as it is, as engines quote it, and each of its lines. */
const formsOf = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  ...value.split(/\s*\n\s*/),
  value.replace(/\s+/g, ' ').trim(),
];

const MAX_SAID = 300;

/** No more of what an engine says than is read. */
export const cut = (said: string): string => (said.length > MAX_SAID ? `${said.slice(0, MAX_SAID)}…` : said);

/**
 * A failure in a sentence, with what the engine says of it: cleaned first and cut then, so that no value is cut in two. Names that
 * the engine gave are in our own words, too.
 */
export function sentenceOf({ message, answer }: EngineFailure, clean = (text: string) => text): string {
  const said = clean(answer?.said ?? '');
  return said === '' ? clean(message) : `${clean(message)} The engine says: ${cut(said)}`;
}
