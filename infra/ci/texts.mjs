// Writes the catalogue of the texts that the consoles show, from their code and from the declarations of
// the members of templates and the titles of problems, into packages/console/src/locales. Other languages keep their translations;
// new texts are empty until they are translated. With --check, nothing is written: it fails if a
// catalogue is not complete. In both cases, it fails if the code contains a text that is not translated.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { parseSync, Visitor } from 'oxc-parser';
import { problems as problemsOfServices, templateTexts } from '../../packages/contract/dist/index.js';
import { root, sources } from './sources.mjs';

const console_ = path.join('packages', 'console', 'src');
const locales = path.join(root, console_, 'locales');
const SOURCE = 'en.json';

/** Attributes, properties and parameters whose value is shown to users. */
const shown = new Set(
  'about action alt aria-description aria-label aria-roledescription aria-valuetext blocked caption detail emptyText emptyTitle hint label loading message nextStep noMatch none placeholder text title words'.split(
    ' ',
  ),
);
/** Elements whose text is the same in each language. */
const CODE = new Set(['code', 'kbd']);
const LETTERS = /\p{L}{2}/u;
/** The beginning of a sentence or of a heading. A literal like this is a text wherever it is. */
const SENTENCE = /^\p{Lu}\p{Ll}+(?:[ ,…:'’-]|$)/u;
const WORDS = /^\p{Lu}\p{Ll}*[\w'’-]* \p{L}/u;

const isCheck = process.argv.includes('--check');
const problems = new Set();
const texts = new Map();
for (const file of sources().filter(
  (one) => one.startsWith(console_) && !one.includes(`${path.sep}types${path.sep}`),
)) {
  collect(file);
}
const titles = Object.values(problemsOfServices).map(({ title }) => title);
for (const text of [...templateTexts, ...titles]) texts.set(text, 'packages/contract');
const catalogue = [...texts.keys()].sort();
updateSource();
for (const file of readdirSync(locales).filter((name) => name !== SOURCE)) updateTranslation(file);
for (const problem of problems) console.error(problem);
if (problems.size > 0) process.exitCode = 1;

function collect(file) {
  const source = readFileSync(path.join(root, file), 'utf8');
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const report = ({ start }, message) =>
    problems.add(`${file}:${source.slice(0, start).split('\n').length}: ${message}`);
  const translated = new Set();
  const literals = [];
  const missing = (node, text) => report(node, `"${text.trim()}" is not translated. Use t() or rich().`);
  const checkShown = (node, name) => {
    for (const part of partsOf(node)) {
      const text = textOf(part);
      if (text === undefined || translated.has(part) || !LETTERS.test(text)) continue;
      if (name === 'placeholder' && !SENTENCE.test(text)) continue; // an example of a value
      missing(part, text);
    }
  };
  const later = [];
  new Visitor({
    CallExpression(node) {
      if (node.callee.type !== 'Identifier' || !['t', 'rich'].includes(node.callee.name)) return;
      const [text, values] = node.arguments;
      if (text?.type !== 'Literal' || typeof text.value !== 'string') {
        report(node, 'the text is not a literal, so it cannot be collected');
        return;
      }
      translated.add(text);
      texts.set(text.value, `${file}:${source.slice(0, node.start).split('\n').length}`);
      checkArguments(text.value, values, (message) => report(node, message));
    },
    JSXText(node) {
      if (LETTERS.test(node.value)) later.push(() => translated.has(node) || missing(node, node.value));
    },
    JSXElement: ({ openingElement, children }) => {
      if (CODE.has(openingElement.name.name)) for (const child of children) translated.add(child);
      else later.push(() => checkChildren(children));
    },
    JSXFragment: ({ children }) => later.push(() => checkChildren(children)),
    JSXAttribute: ({ name, value }) => {
      if (value && shown.has(name.name)) later.push(() => checkShown(value.expression ?? value, name.name));
    },
    Property: ({ key, value }) => {
      const name = key.name ?? key.value;
      if (shown.has(name)) later.push(() => checkShown(value, name));
    },
    AssignmentPattern: ({ left, right }) => {
      if (shown.has(left.name)) later.push(() => checkShown(right, left.name));
    },
    ArrayExpression: ({ elements: [first] }) => {
      if (first?.type === 'Literal' && SENTENCE.test(String(first.value))) later.push(() => checkShown(first));
    },
    NewExpression: ({ callee, arguments: args }) => {
      if (callee.name === 'Error') for (const one of args) translated.add(one); // for developers
    },
    Literal: (node) => literals.push(node),
    TemplateLiteral: (node) => literals.push(node),
  }).visit(program);
  const checkChildren = (children) => {
    for (const child of children) if (child.type === 'JSXExpressionContainer') checkShown(child.expression);
  };
  for (const check of later) check();
  for (const node of literals) {
    const text = textOf(node);
    if (text !== undefined && !translated.has(node) && WORDS.test(text)) missing(node, text);
  }
}

/** The literals that an expression can evaluate to. */
function partsOf(node) {
  switch (node?.type) {
    case 'ConditionalExpression':
      return [...partsOf(node.consequent), ...partsOf(node.alternate)];
    case 'LogicalExpression':
      return node.operator === '&&' ? partsOf(node.right) : [...partsOf(node.left), ...partsOf(node.right)];
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
      return partsOf(node.expression);
    case 'ArrowFunctionExpression':
      return node.expression ? partsOf(node.body) : [];
    default:
      return node ? [node] : [];
  }
}

function textOf(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral') return undefined;
  return node.quasis.map(({ value }) => value.cooked).join('\u{fffc}');
}

function checkArguments(text, values, report) {
  const needed = argumentsOf(text, report);
  if (values?.type !== 'ObjectExpression') {
    if (!values && needed.size > 0) report(`"${text}" needs values for ${[...needed].join(', ')}`);
    return;
  }
  if (values.properties.some(({ type }) => type !== 'Property')) return;
  const given = new Set(values.properties.map(({ key }) => key.name ?? key.value));
  if (!isSame(needed, given)) {
    report(`"${text}" has the arguments ${[...needed].join(', ')}, but gets ${[...given].join(', ')}`);
  }
}

function isSame(one, other) {
  return one.size === other.size && [...one].every((name) => other.has(name));
}

/** The names of the arguments and of the tags of a message. */
function argumentsOf(message, report) {
  const names = new Set();
  const visit = (elements) => {
    for (const { type, value, options, children } of elements) {
      if (type !== TYPE.literal && type !== TYPE.pound) names.add(value);
      for (const option of Object.values(options ?? {})) visit(option.value);
      if (children) visit(children);
    }
  };
  try {
    visit(parse(message));
  } catch (error) {
    report(`"${message}" is not a valid message: ${error.message}`);
  }
  return names;
}

function updateSource() {
  const file = path.join(locales, SOURCE);
  const content = contentOf(catalogue.map((text) => [text, text]));
  if (isCheck && readFileSync(file, 'utf8') !== content) problems.add(`${SOURCE} is outdated. Run pnpm console:texts.`);
  if (!isCheck) writeFileSync(file, content);
}

function updateTranslation(name) {
  const file = path.join(locales, name);
  const translations = JSON.parse(readFileSync(file, 'utf8'));
  const unused = Object.keys(translations).filter((text) => !texts.has(text));
  if (isCheck) for (const text of unused) problems.add(`${name}: "${text}" is not used. Run pnpm console:texts.`);
  else writeFileSync(file, contentOf(catalogue.map((text) => [text, translations[text] ?? ''])));
  for (const text of catalogue) {
    const message = translations[text];
    const report = (problem) => problems.add(`${name}: ${problem}`);
    if (!message) report(`"${text}" is not translated`);
    else if (!isSame(argumentsOf(text, report), argumentsOf(message, report))) {
      report(`"${text}" and its translation have different arguments`);
    }
  }
}

function contentOf(entries) {
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
}
