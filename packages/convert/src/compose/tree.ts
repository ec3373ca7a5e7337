// The content of a YAML file with its lines: aliases are resolved, and maps are merged.
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';

interface TextNode {
  readonly kind: 'text';
  readonly line: number;
  /** '' for null. */
  readonly text: string;
  readonly isNull: boolean;
}
interface ListNode {
  readonly kind: 'list';
  readonly line: number;
  readonly items: readonly Tree[];
}
export interface MapNode {
  readonly kind: 'map';
  readonly line: number;
  readonly entries: ReadonlyMap<string, Tree>;
}
export type Tree = TextNode | ListNode | MapNode;

/** The maximum number of values, and of characters of their texts, by default. */
const MAX_NODES = 20_000;
const MAX_TEXTS = 1_048_576;

// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern finds control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** A file that cannot be read. */
export class Unreadable extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

export interface TreeOptions {
  /** The maximum number of values, after aliases are resolved. */
  readonly values?: number;
  /** The maximum number of characters of all texts, after aliases are resolved. */
  readonly texts?: number;
  /** Whether a list can be merged into a map: its items have their places as names. */
  readonly mergesLists?: boolean;
}

/** @throws Unreadable */
export function readTree(
  text: string,
  { values = MAX_NODES, texts = MAX_TEXTS, mergesLists = false }: TreeOptions = {},
): Tree {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: false, prettyErrors: false, strict: true });
  const lineOf = (offset: number) => lines.linePos(offset).line || 1;
  const [error] = document.errors;
  if (error) throw new Unreadable(lineOf(error.pos[0]), error.message.split('\n', 1)[0] ?? '');
  let nodes = 0;
  let characters = 0;
  const read = (node: Node | null, line: number): Tree => {
    nodes += 1;
    if (nodes > values) throw new Unreadable(line, `must have at most ${values} values, with those of aliases`);
    if (isAlias(node)) {
      const target = node.resolve(document);
      if (!target) throw new Unreadable(line, `the alias ${node.source} is not defined`);
      return read(target, line);
    }
    const at = node?.range ? lineOf(node.range[0]) : line;
    if (isMap(node)) return readMap(node.items as readonly Pair<Node, Node | null>[], at); // the types of a parsed document
    if (isSeq(node)) return { kind: 'list', line: at, items: node.items.map((item) => read(item as Node | null, at)) }; // as above
    if (!isScalar(node) || node.value === null) return { kind: 'text', line: at, text: '', isNull: true };
    const value = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
    if (CONTROL.test(value)) throw new Unreadable(at, 'a text contains control characters');
    characters += value.length;
    if (characters > texts)
      throw new Unreadable(line, `must have at most ${texts} characters of text, with those of aliases`);
    return { kind: 'text', line: at, text: value, isNull: false };
  };
  const readMap = (pairs: readonly Pair<Node, Node | null>[], line: number): MapNode => {
    const own = new Map<string, Tree>();
    const merged = new Map<string, Tree>();
    for (const { key, value } of pairs) {
      const at = key.range ? lineOf(key.range[0]) : line;
      const name = isScalar(key) ? String(key.value) : '';
      const child = read(value, at);
      if (name !== MERGE) {
        // The line of a member is that of its key.
        own.set(name, { ...child, line: at });
        continue;
      }
      if (mergesLists && child.kind === 'list' && child.items.every((item) => item.kind === 'text')) {
        for (const [index, item] of child.items.entries()) merged.set(String(index), item);
        continue;
      }
      for (const source of child.kind === 'list' ? child.items : [child]) {
        if (source.kind !== 'map') throw new Unreadable(at, 'only maps can be merged');
        for (const [member, each] of source.entries) if (!merged.has(member)) merged.set(member, each);
      }
    }
    return { kind: 'map', line, entries: new Map([...merged, ...own]) };
  };
  return read(document.contents, 1);
}

const MERGE = '<<';

/** The text of a member of a map; '' if there is none. */
export function memberText(tree: Tree, name: string): string {
  const member = tree.kind === 'map' ? tree.entries.get(name) : undefined;
  return member?.kind === 'text' ? member.text : '';
}

/** All texts of a tree, and the names of its members. */
export function textsIn(tree: Tree): readonly string[] {
  if (tree.kind === 'text') return [tree.text];
  if (tree.kind === 'list') return tree.items.flatMap(textsIn);
  return [...tree.entries].flatMap(([name, value]) => [name, ...textsIn(value)]);
}

/** A value as text for a report. */
export function shownOf(tree: Tree): string {
  if (tree.kind === 'text') return tree.text;
  if (tree.kind === 'list') return `[${tree.items.map(shownOf).join(', ')}]`;
  return `{${[...tree.entries].map(([name, value]) => `${name}: ${shownOf(value)}`).join(', ')}}`;
}
