import english from 'virtual:texts/en';
import { TYPE } from '@formatjs/icu-messageformat-parser';
import { IntlMessageFormat } from 'intl-messageformat';
import { createElement, Fragment, type ReactNode } from 'react';
import { type Language, language, locale } from './language.ts';

/**
 * The messages of a language by their English text. The build has compiled those with plurals or
 * elements.
 */
type Catalogue = typeof english;
type Compiled = Exclude<Catalogue[string], string>;

/**
 * The catalogues. That of English contains only compiled messages, because the others are in the
 * code.
 */
const catalogues: Readonly<Record<Language, () => Promise<{ readonly default: Catalogue }>>> = {
  en: async () => ({ default: english }),
  de: () => import('virtual:texts/de'),
};

// Modules that import this one run after the catalogue is loaded, so that their constants can
// contain texts. Without its catalogue, the console is usable in English.
const { default: messages } = await catalogues[language]().catch(() => ({ default: english }));
document.documentElement.lang = locale;

const formats = new Map<string, IntlMessageFormat>();

/** The message of an English text that contains arguments. */
function formatOf(text: string): IntlMessageFormat {
  const known = formats.get(text);
  if (known) return known;
  const message = messages[text] ?? english[text] ?? text;
  const format = new IntlMessageFormat(typeof message === 'string' ? compile(message) : message, locale);
  formats.set(text, format);
  return format;
}

/** A message that contains only texts and arguments such as `{name}`. */
const compile = (message: string): Compiled =>
  message.split(/\{(\w+)\}/).map((value, index) => ({ type: index % 2 === 0 ? TYPE.literal : TYPE.argument, value }));

/**
 * A text in the language of the user. `text` is a literal, because `pnpm console:texts` collects
 * it: an English message in the syntax of ICU, such as `Delete {name}?` or `{count, plural, one {#
 * host} other {# hosts}}`.
 */
export const t = (text: string, values?: Readonly<Record<string, string | number>>): string =>
  values === undefined
    ? String(messages[text] ?? text)
    : String(
        formatOf(text).format(mapValues(values, (value) => (typeof value === 'string' ? isolated(value) : value))),
      );

/** A text that the contract declares (`templateTexts`), in the language of the user. */
export const declaredText = (text: string): string => String(messages[text] ?? text);

type Element = (words: ReactNode) => ReactNode;

/**
 * A text that contains elements: `{time}` is replaced by a node, and a function surrounds the words
 * of `<link>add a host</link>`.
 */
export function rich(text: string, values: Readonly<Record<string, ReactNode | Element>>): ReactNode {
  const nodes = formatOf(text).format<ReactNode>(
    mapValues(values, (value) => {
      if (typeof value === 'string') return isolated(value);
      return typeof value === 'function' ? (parts: ReactNode[]) => value(together(parts)) : value;
    }),
  );
  return Array.isArray(nodes) ? together(nodes) : nodes;
}

/** The parts of a sentence keep their places, so they need no keys. */
const together = (parts: readonly ReactNode[]): ReactNode => createElement(Fragment, null, ...parts);

const mapValues = <V, W>(values: Readonly<Record<string, V>>, change: (value: V) => W): Record<string, W> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

/** Characters without a width that change the order of the text after them. */
export const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/**
 * A value that does not change the order of the words around it in a sentence. Elsewhere, the
 * styles isolate elements.
 */
export function isolated(value: string): string {
  const visible = value.replace(DIRECTIONS, '\ufffd');
  return RIGHT_TO_LEFT.test(visible) ? `\u2068${visible}\u2069` : visible;
}
