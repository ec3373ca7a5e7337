import type { EngineFailure } from './errors.ts';

const MAX_INPUT = 65_536;

/** Reduces text of an engine to one line without control characters. */
export const oneLine = (text: string): string =>
  text
    .slice(0, MAX_INPUT)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();

/** Shorter values are not redacted, because they occur within ordinary words. */
const MIN_LENGTH = 4;
const REPLACEMENT = '•••';

/**
 * Returns a function that replaces the values, which an engine received, in messages of that
 * engine.
 */
export function redactorOf(values: readonly string[]): (text: string) => string {
  const needles = [...new Set(values.flatMap(formsOf))]
    .filter(({ length }) => length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  return (text) => needles.reduce((result, needle) => result.replaceAll(needle, REPLACEMENT), text);
}

/**
 * The forms in which an engine may repeat a value: unchanged, quoted, each of its lines, and with
 * collapsed whitespace.
 */
const formsOf = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  ...value.split('\n').map((line) => line.trim()),
  value.replace(/\s+/g, ' ').trim(),
];

const MAX_SHOWN = 300;

/** Shortens a message of an engine to `MAX_SHOWN` characters. */
export const truncate = (engineMessage: string): string =>
  engineMessage.length > MAX_SHOWN ? `${engineMessage.slice(0, MAX_SHOWN)}…` : engineMessage;

/**
 * Describes a failure, with the message of the engine. The message is redacted before it is
 * truncated, because a truncated value would not be recognized. The fleet's own message is also
 * redacted, because it can contain names that the engine returned.
 */
export function messageOfFailure({ message, response }: EngineFailure, redact = (text: string) => text): string {
  const engineMessage = redact(response?.engineMessage ?? '');
  return engineMessage === '' ? redact(message) : `${redact(message)} The engine reported: ${truncate(engineMessage)}`;
}
