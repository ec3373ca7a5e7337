import {
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type ScalarTag,
  visit,
} from 'yaml';

/** A problem of a YAML text, with the line where it is. */
interface YamlProblem {
  readonly line: number;
  readonly message: string;
}

/** The value of a YAML text. If there are problems, the value is undefined. */
export interface YamlText {
  readonly value: unknown;
  readonly problems: readonly YamlProblem[];
  /**
   * The line of a member, or of the innermost object on its path that exists: `ports.0.protocol`.
   */
  lineOf(path: string): number;
}

/**
 * Parses a YAML text that all parsers read identically. YAML 1.1 and 1.2 read some plain scalars
 * differently, such as `no`, `12:30` and `2024-01-01`; these must be quoted. Anchors, aliases,
 * tags, merge keys, directives and duplicate members are rejected. Lines are counted from `firstLine`.
 */
export function readYamlText(text: string, firstLine = 1): YamlText {
  const lines = new LineCounter();
  const options = { prettyErrors: false, merge: false, strict: true } as const;
  const document = parseDocument(text, { ...options, lineCounter: lines, version: '1.2' });
  const lineAt = (offset: number) => lines.linePos(offset).line + firstLine - 1;
  const lineOfNode = (node: Node) => lineAt(node.range?.[0] ?? 0);
  const invalid = document.errors.map(({ pos, message }) => ({
    line: lineAt(pos[0]),
    message: `cannot be read: ${message.split('\n', 1)[0] ?? ''}`,
  }));
  const readOtherwise = scalarsOf(parseDocument(text, { ...options, version: '1.1' }));
  const problems =
    invalid.length > 0
      ? invalid
      : problemsOf(document, readOtherwise).map(({ node, message }) => ({ line: lineOfNode(node), message }));
  const directive = text.split('\n').findIndex((line) => line.startsWith('%'));
  if (problems.length === 0 && directive >= 0 && isDirective(text, directive)) {
    problems.push({ line: directive + firstLine, message: 'must not contain directives' });
  }
  return {
    value: problems.length > 0 ? undefined : document.toJS(),
    problems,
    lineOf: (path) => (document.contents ? lineOfNode(nodeAt(document.contents, path)) : firstLine),
  };
}

/** A file of a template with lists of 256 entries has about 10,000 lexemes. */
const MAX_LEXEMES = 20_000;
const MAX_DEPTH = 20;
/** What the lexer puts before the text of a scalar. */
const SCALAR = '\u001f';
const OPENING = new Set(['[', '{']);
const CLOSING = new Set([']', '}']);
/** The start of an entry or of a key, which can be repeated in a line. */
const NESTING = new Set(['-', '?', ':']);

/** What is wrong with a text that has too many or too deep values. */
export const TOO_COMPLEX = `must not have so many values, or be nested so deeply: at most ${MAX_LEXEMES} lexemes and ${MAX_DEPTH} levels are allowed`;

/**
 * The number of lexemes of a text, which determines how long it takes to parse; undefined if it has
 * so many or so deep values that it would take seconds. Long texts in it take little time.
 */
export function countLexemes(text: string): number | undefined {
  let count = 0;
  let depth = 0;
  let inLine = 0;
  let previous = '';
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (previous !== SCALAR) {
      // Each escape can be an error.
      if (lexeme.startsWith('"')) count += lexeme.split('\\').length - 1;
      if (OPENING.has(lexeme)) depth += 1;
      else if (CLOSING.has(lexeme)) depth -= 1;
      else if (NESTING.has(lexeme)) inLine += depth === 0 ? 1 : 0;
      else if (lexeme.startsWith('\n') || lexeme.startsWith('\r')) inLine = 0;
    }
    if (count > MAX_LEXEMES || depth > MAX_DEPTH || inLine > MAX_DEPTH) return undefined;
    previous = lexeme;
  }
  return count;
}

/** Whether a line that begins with % precedes the content of the document. */
const isDirective = (text: string, index: number): boolean =>
  text
    .split('\n')
    .slice(0, index)
    .every((line) => /^\s*(?:#.*)?$/.test(line));

interface NodeProblem {
  readonly node: Node;
  readonly message: string;
}

/** The scalars of a document in the order of the text. */
function scalarsOf(document: Document.Parsed): Scalar[] {
  const scalars: Scalar[] = [];
  visit(document, { Scalar: (_, node) => void scalars.push(node) });
  return scalars;
}

/**
 * Everything that other parsers can read differently. `readOtherwise` has the same scalars as YAML
 * 1.1 reads them.
 */
function problemsOf(document: Document.Parsed, readOtherwise: readonly Scalar[]): NodeProblem[] {
  const problems: NodeProblem[] = [];
  const scalars = scalarsOf(document);
  const otherwise = new Map(scalars.map((scalar, index) => [scalar, readOtherwise[index]?.value]));
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.source === '<<' && key.type === 'PLAIN') {
        problems.push({ node: key, message: 'merge keys (<<) must not be used; repeat the members' });
      } else if (isScalar(key) && key.value === '__proto__') {
        problems.push({ node: key, message: 'the name __proto__ must not be used' });
      } else if (isScalar(key) && typeof key.value !== 'string') {
        problems.push({ node: key, message: `the name ${key.source ?? ''} must be quoted, because it is not text` });
      }
    },
    Node: (_, node) => {
      if (isAlias(node) || node.anchor !== undefined) {
        problems.push({ node, message: 'anchors and aliases must not be used; repeat the value' });
      } else if (node.tag !== undefined) {
        problems.push({ node, message: `the tag ${node.tag} must not be used` });
      } else if (isScalar(node) && typeof node.value === 'string' && !node.value.isWellFormed()) {
        problems.push({ node, message: 'must not contain half of a surrogate pair, which is no character' });
      } else if (isScalar(node) && node.type === 'PLAIN' && isAmbiguous(node, otherwise.get(node))) {
        problems.push({ node, message: `${node.source} must be quoted, because YAML parsers read it differently` });
      }
    },
  });
  return problems;
}

/** Integers, and numbers with a decimal point: with an exponent but without a point, YAML 1.1 reads a text. */
const NUMBER = /^(?:0|-?[1-9]\d*|-?(?:0|[1-9]\d*)\.\d+(?:e[-+]\d+)?)$/;

function isAmbiguous({ source = '', value }: Scalar, otherwise: unknown): boolean {
  if (source === '<<') return false; // reported as a merge key
  if (source === '=') return true; // a special value of YAML 1.1
  return !Object.is(value, otherwise) || (typeof value === 'number' && !NUMBER.test(source));
}

/** The innermost existing node on a path. Names of members can contain dots. */
function nodeAt(node: Node, path: string): Node {
  if (isMap<Node, Node | null>(node)) {
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (path === name) return key;
      if (value && path.startsWith(`${name}.`)) {
        const found = nodeAt(value, path.slice(name.length + 1));
        return found === value ? key : found;
      }
    }
  }
  const [index = '', ...rest] = path.split('.');
  const item = isSeq<Node>(node) ? node.items[Number(index)] : undefined;
  return item ? nodeAt(item, rest.join('.')) : node;
}

/**
 * Formats a value as YAML that all parsers read identically. Texts that a parser could read as
 * another type, and texts with unusual white space, are quoted. Lines are never folded.
 */
export function formatYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.2',
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) =>
      tags.map((tag) => (typeof tag === 'object' && tag.collection === undefined ? withPoint(tag) : tag)),
  });
  visit(document, {
    Scalar: (_, node) => {
      const style = typeof node.value === 'string' ? styleOf(node.value) : undefined;
      if (style) node.type = style;
    },
  });
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  // Only quoted scalars contain these characters.
  return text.replace(SPECIAL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Numbers such as 1e+21, which YAML 1.1 reads as text, are written as 1.0e+21. */
const withPoint = (tag: ScalarTag): ScalarTag => ({
  ...tag,
  stringify: (node, ...rest) => {
    const text = tag.stringify?.(node, ...rest) ?? String(node.value);
    return typeof node.value === 'number' ? text.replace(/^(-?\d)e/, '$1.0e') : text;
  },
});

/** Characters that a parser changes, rejects or reads as the end of a line, without tab and line feed. */
const SPECIAL = /(?![\t\n])[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/gu;
/** White space at the start or the end of a text or a line, and tabs, which parsers treat differently. */
const UNUSUAL_SPACE = /^\s|\s$|\t|[ \u00a0]\n/;

/** The style of a text in which all parsers read it identically; undefined: the default of the library. */
function styleOf(text: string): Scalar.Type | undefined {
  if (text === '=' || text === '<<' || text.search(SPECIAL) !== -1) return 'QUOTE_DOUBLE';
  if (!text.includes('\n')) return UNUSUAL_SPACE.test(text) ? 'QUOTE_DOUBLE' : undefined;
  return UNUSUAL_SPACE.test(text.replace(/\n$/, '')) ? 'QUOTE_DOUBLE' : 'BLOCK_LITERAL';
}
