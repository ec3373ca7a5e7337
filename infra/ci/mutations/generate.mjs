import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

/** The operators of expressions, each with those that replace it. */
const OPERATORS = {
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '===': ['!=='],
  '!==': ['==='],
  '<': ['>=', '<='],
  '<=': ['>', '<'],
  '>': ['<=', '>='],
  '>=': ['<', '>'],
};

/** Methods of arrays and collections, with what replaces them. */
const METHODS = { some: 'every', every: 'some' };

/** Words and operators of SQL, each with what replaces it. The first pattern that matches at a position counts. */
const SQL = [
  [/IS NOT NULL/y, ['IS NULL']],
  [/IS NULL/y, ['IS NOT NULL']],
  [/NOT EXISTS/y, ['EXISTS']],
  [/EXISTS/y, ['NOT EXISTS']],
  [/NOT (?=[a-z(])/y, ['']],
  [/\bAND\b/y, ['OR']],
  [/\bOR\b/y, ['AND']],
  [/\bUNION(?: ALL)?\b/y, ['EXCEPT']],
  [/\bgreatest(?=\()/y, ['least']],
  [/\bleast(?=\()/y, ['greatest']],
  [/\btrue\b/y, ['false']],
  [/\bfalse\b/y, ['true']],
  [/<=/y, ['>', '<']],
  [/>=/y, ['<', '>']],
  [/ = /y, [' <> ']],
  [/ < /y, [' >= ', ' <= ']],
  [/ > /y, [' <= ', ' >= ']],
];

/**
 * Changes of one operator or condition each in a source file, also in its SQL.
 * @returns `line` (from 1), `source` (the text of the line), `change` (for example `AND → OR`), `start` and `end` (offsets
 * of the replaced text), `replacement`, and `removesGuard`: whether a condition under which the source throws is never met
 */
export function mutantsOf(root, file) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const found = [];
  visit(program, (node) => found.push(...changesOf(node, text)));
  return found
    .sort((left, right) => left.start - right.start)
    .map((each) => {
      const line = text.slice(0, each.start).split('\n').length;
      const change = `${text.slice(each.start, each.end).trim()} → ${each.replacement.trim() || 'nothing'}`;
      return { file, line, source: text.split('\n')[line - 1].trim(), change: shortened(change), ...each };
    });
}

const shortened = (change) => (change.length <= 60 ? change : `${change.slice(0, 57)}...`);

function visit(node, use) {
  if (Array.isArray(node)) {
    for (const each of node) visit(each, use);
  } else if (typeof node?.type === 'string') {
    if (node.type.startsWith('TS') && !('expression' in node)) return; // types have no effect
    use(node);
    for (const [key, value] of Object.entries(node)) if (key !== 'typeAnnotation') visit(value, use);
  }
}

function changesOf(node, text) {
  switch (node.type) {
    case 'LogicalExpression':
    case 'BinaryExpression':
      return changedOperator(node, text);
    case 'UnaryExpression':
      return node.operator === '!' ? [{ start: node.start, end: node.start + 1, replacement: '' }] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((replacement) => ({
        start: node.test.start,
        end: node.test.end,
        replacement,
        removesGuard: replacement === 'false' && isGuard(node),
      }));
    case 'Literal':
      return typeof node.value === 'boolean' ? [{ ...positionOf(node), replacement: String(!node.value) }] : [];
    case 'MemberExpression':
      return Object.hasOwn(METHODS, node.property.name ?? '')
        ? [{ ...positionOf(node.property), replacement: METHODS[node.property.name] }]
        : [];
    case 'TaggedTemplateExpression':
      return node.quasi.quasis.flatMap((quasi) => changedSql(quasi, text));
    default:
      return [];
  }
}

/** Whether a statement does nothing but throw under a condition. */
function isGuard({ type, consequent, alternate }) {
  if (type !== 'IfStatement' || alternate) return false;
  const [only, ...more] = consequent.type === 'BlockStatement' ? consequent.body : [consequent];
  return only?.type === 'ThrowStatement' && more.length === 0;
}

const positionOf = ({ start, end }) => ({ start, end });

function changedOperator({ left, right, operator }, text) {
  const start = text.indexOf(operator, left.end);
  if (start < 0 || start >= right.start) return [];
  return (OPERATORS[operator] ?? []).map((replacement) => ({ start, end: start + operator.length, replacement }));
}

function changedSql({ start, end }, text) {
  const changes = [];
  for (let at = start; at < end; at += 1) {
    for (const [pattern, replacements] of SQL) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (!match || match.index + match[0].length > end) continue;
      for (const replacement of replacements) changes.push({ start: at, end: at + match[0].length, replacement });
      at += match[0].length - 1;
      break;
    }
  }
  return changes;
}
