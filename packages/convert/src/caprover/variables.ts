import { labelOf } from '../compose/compose.ts';
import { type Conversion, type Key, type Piece, Refused, type Variable } from '../compose/context.ts';
import { isSecretName } from '../secret-names.ts';

/** A variable that the file declares. */
export interface Declared {
  /** Such as `$$cap_name`. It is replaced in all texts. */
  readonly id: string;
  readonly label: string;
  readonly fallback: string | undefined;
  /** An expression such as `/^(a|b)$/`; undefined: any text. */
  readonly expression: string | undefined;
}

const PREFIX = '$$cap_';

/** The name of a variable without the characters with which ids begin. */
const shortNameOf = (id: string): string => id.replace(/^\$+(?:cap_)?/, '');
const APP_NAME = '$$cap_appname';
const ROOT_DOMAIN = '$$cap_root_domain';
const RANDOM = /\$\$cap_gen_random_hex\((\d{1,4})\)/y;
/** The host name of an app begins with this. */
const HOST = 'srv-captain--';

const MIN_LENGTH = 16;
const MAX_LENGTH = 128;

/** An expression such as `/^.*$/` or `/[a-z]{0,}/`, which also accepts no text. */
const ANY = /^\/\^?(?:\.|\\[wdsS]|\[[^\]]*\]|\([^()]*\))(?:\*|\?|\{0,\d*\})\$?\/$/;

/** The texts that an expression such as `/^(a|b)$/` permits; undefined: it is another one. */
function choicesIn({ expression, fallback }: Declared): readonly string[] | undefined {
  const [, alternatives] = /^\/\^\(([\w.|-]+)\)\$\/$/.exec(expression ?? '') ?? [];
  const choices = [...new Set(alternatives?.split('|'))];
  if (choices.length < 2 || choices.some((choice) => !/^[\w-][\w.-]*$/.test(choice))) return undefined;
  return fallback === undefined || choices.includes(fallback) ? choices : undefined;
}

/** The variables in the texts of a file. */
export class Variables {
  readonly #declared: ReadonlyMap<string, Declared>;
  readonly #services: readonly string[];
  readonly #appName: string;
  readonly #random = new Map<string, string>();

  constructor(declared: readonly Declared[], services: readonly string[], appName: string) {
    this.#declared = new Map(declared.map((variable) => [variable.id, variable]));
    this.#services = services;
    this.#appName = appName;
  }

  /**
   * The pieces of a text. `scope` names the place of the text, so that generated values of different places differ.
   * @throws Refused
   */
  pieces(conversion: Conversion, text: string, scope: string): Piece[] {
    const pieces: Piece[] = [];
    let from = 0;
    for (let index = 0; index < text.length; ) {
      const found = this.#at(conversion, text, index, scope);
      if (!found) {
        index += 1;
        continue;
      }
      if (index > from) pieces.push(text.slice(from, index));
      pieces.push(...found.pieces);
      index += found.length;
      from = index;
    }
    if (from < text.length) pieces.push(text.slice(from));
    return pieces;
  }

  /** What is at a place of a text, and its length; undefined: a character. */
  #at(
    conversion: Conversion,
    text: string,
    index: number,
    scope: string,
  ): { readonly pieces: readonly Piece[]; readonly length: number } | undefined {
    if (text.startsWith(HOST, index)) {
      const service = longestAt(text, index + HOST.length, this.#services, true);
      if (service === undefined) return undefined;
      const placeholder = `\${parts.${partNameOf(service, this.#appName)}.host}`;
      return { pieces: [{ kind: 'determined', placeholder }], length: HOST.length + service.length };
    }
    if (text.charAt(index) !== '$') return undefined;
    RANDOM.lastIndex = index;
    const [random, digits] = RANDOM.exec(text) ?? [];
    if (random !== undefined)
      return {
        pieces: [this.#generate(conversion, `${scope} ${index}`, scope, Number(digits))],
        length: random.length,
      };
    const id = longestAt(text, index, [...this.#declared.keys(), APP_NAME, ROOT_DOMAIN]);
    if (id === undefined && text.startsWith(PREFIX, index))
      throw new Refused('names a variable that the file does not declare');
    if (id === undefined) return undefined;
    if (id === APP_NAME) {
      const piece = { kind: 'determined', placeholder: `\${application.name}`, plain: this.#appName } as const;
      return { pieces: [piece], length: id.length };
    }
    const declared = this.#declared.get(id);
    return { pieces: declared ? this.#declaredPieces(conversion, declared) : [ROOT], length: id.length };
  }

  #declaredPieces(conversion: Conversion, declared: Declared): readonly Piece[] {
    const { id, label, fallback, expression } = declared;
    const variable = shortNameOf(id);
    const isComputed = fallback?.includes(PREFIX) === true;
    if (isComputed && fallback.includes('$$cap_gen_random_hex')) return this.pieces(conversion, fallback, id);
    const choices = choicesIn(declared);
    return [
      {
        kind: 'variable',
        variable,
        label,
        fallback: isComputed ? undefined : fallback,
        isRequired: isComputed || (fallback === undefined && expression !== undefined && !ANY.test(expression)),
        ...(choices && { choices, isSecret: false }),
        ...(isComputed && { harmless: 'public_address' }),
      },
    ];
  }

  #generate(conversion: Conversion, place: string, scope: string, requested: number): Piece {
    const length = Math.min(MAX_LENGTH, Math.max(MIN_LENGTH, requested));
    const name = shortNameOf(scope.split(' ').at(-1) ?? scope);
    const present = this.#random.get(place);
    const taken = new Set(this.#random.values());
    let free = present ?? name;
    for (let number = 2; present === undefined && taken.has(free); number += 1) free = `${name}_${number}`;
    this.#random.set(place, free);
    return {
      kind: 'determined',
      placeholder: conversion.generate(free, { length, format: 'hex' }),
      ...(length > requested && { harmless: 'generated_text' }),
      ...(length < requested && { note: `The file requests ${requested} characters. A fleet generates ${length}.` }),
    };
  }
}

const ROOT: Variable = {
  kind: 'variable',
  variable: 'root_domain',
  label: 'Domain of which the application has a subdomain',
  fallback: undefined,
  isRequired: true,
  harmless: 'public_address',
};

/** The longest of the texts that begins at a place; of `names`, the next character must not continue it. */
function longestAt(text: string, index: number, candidates: readonly string[], isName = false): string | undefined {
  return candidates
    .filter((candidate) => text.startsWith(candidate, index))
    .filter((candidate) => !isName || !/[A-Za-z0-9-]/.test(text.charAt(index + candidate.length)))
    .toSorted((one, other) => other.length - one.length)[0];
}

/** The name of the part of a service: without the name of the app, which a fleet adds itself. */
export function partNameOf(service: string, appName: string): string {
  const rest = service.startsWith(`${APP_NAME}-`) ? service.slice(APP_NAME.length + 1) : service;
  return labelOf(rest.replaceAll(APP_NAME, appName), 'part');
}

const isGenerated = ({ fallback }: Declared): boolean => fallback?.includes('$$cap_gen_random_hex') === true;

/** The fates of the members of a declared variable. `key` is the variable. */
export function reportVariable(conversion: Conversion, key: Key, declared: Declared, isUsed: boolean) {
  if (key.tree.kind !== 'map') return conversion.refuse(key, 'It must be a map.');
  if (!isUsed) return conversion.harmless(key, 'unused');
  for (const [name, tree] of key.tree.entries) {
    const child: Key = { ...key, path: [...key.path, name], tree };
    const isSecret = isSecretName(declared.id) && !isGenerated(declared);
    if (name === 'defaultValue' && isSecret && declared.fallback !== undefined && !choicesIn(declared))
      conversion.harmless(child, 'default_of_secret');
    else if (name === 'id' || name === 'label' || name === 'defaultValue') conversion.same(child);
    else if (name === 'description') conversion.harmless(child, 'catalog');
    else if (name === 'validRegex') {
      if (choicesIn(declared) || isGenerated(declared) || declared.expression === undefined) conversion.same(child);
      else conversion.harmless(child, 'validation');
    } else conversion.harmless(child, 'platform');
  }
}
