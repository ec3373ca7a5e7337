import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { formatYaml, readYamlText } from '@svc/documents';
import { seed } from '@svc/testing';
import fc from 'fast-check';
import yaml from 'js-yaml';
import { HARDEST } from './hardest-texts.ts';

// js-yaml 3 reads YAML 1.1: `12:30`, `0777` and `2024-01-01` are not text.
const { load } = yaml;

const CATALOG = path.resolve(import.meta.dirname, '../../../../infra/catalog');
const files = readdirSync(CATALOG, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));

test.each(files)('all YAML parsers read infra/catalog/%s identically', (name) => {
  const text = readFileSync(path.join(CATALOG, name), 'utf8');
  const { value, problems } = readYamlText(text);
  expect(problems).toEqual([]);
  expect(load(text)).toEqual(value);
});

const BOOLEANS = ['on', 'off', 'yes', 'no', 'y', 'N', 'Yes', 'OFF'];
const INTEGERS = ['1_000', '0o7', '0777', '007', '0x1F', '0b11', '+1', '12:30', '190:20:30'];
const FLOATS = ['1.', '1e3', '.5', '01.5', '1.5e3', '.inf', '-.INF', '.nan'];
const TIMES = ['2024-01-01', '2024-01-01T00:00:00Z', '2001-12-14 21:59:43.10 -5'];
const AMBIGUOUS = [...BOOLEANS, ...INTEGERS, ...FLOATS, ...TIMES, '='];

test.each(AMBIGUOUS)('the plain scalar %s is rejected with its line, as a value, an entry and a name', (scalar) => {
  for (const text of [
    `a: b\nc: ${scalar}\n`,
    `a:\n  - ${scalar}\n`,
    `a: b\n${scalar}: c\n`,
    `a: b\nc: [${scalar}]\n`,
  ]) {
    const { problems, value } = readYamlText(text);
    expect({ text, line: problems[0]?.line, value }).toEqual({ text, line: 2, value: undefined });
    expect(problems[0]?.message).toMatch(/must be quoted, because/);
  }
  expect(readYamlText(`a: "${scalar}"\n'${scalar}': b\n`)).toMatchObject({
    problems: [],
    value: { a: scalar, [scalar]: 'b' },
  });
});

test.each([
  'true',
  'false',
  'null',
  '~',
  '',
  '0',
  '-1',
  '65535',
  'text',
  '1.5.2',
  '10.0.0.1',
  '4Gi',
  '500m',
  'a:b',
  'http://a:80/',
])('the plain scalar %j is read like by another parser', (scalar) => {
  const text = `a: ${scalar}\n`;
  expect(readYamlText(text)).toMatchObject({ problems: [], value: load(text) });
});

test.each([
  ['an anchor', 'a: b\nc: &x d\n', 2, /anchors and aliases must not be used/],
  ['an alias', 'a: &x b\nc: *x\n', 1, /anchors and aliases must not be used/],
  ['a merge key', 'a: b\n<<: { c: d }\n', 2, /merge keys \(<<\) must not be used/],
  ['a tag', 'a: b\nc: !!str 1\n', 2, /the tag tag:yaml.org,2002:str must not be used/],
  ['a duplicate member', 'a: b\nc: d\na: e\n', 3, /cannot be read/],
  ['a directive', '%YAML 1.1\n---\na: b\n', 1, /must not contain directives/],
  ['a directive that declares a tag', '%TAG !e! tag:example.com,2000:\n---\na: b\n', 1, /must not contain directives/],
  ['an unknown directive', '# c\n%SOME thing\n---\na: b\n', 2, /must not contain directives/],
  ['a lone surrogate', 'a: b\nc: "\\ud800"\n', 2, /half of a surrogate pair/],
  ['a member __proto__', 'a: b\n__proto__: { c: d }\n', 2, /the name __proto__ must not be used/],
  ['a second document', 'a: b\n---\nc: d\n', 2, /cannot be read/],
  ['a syntax error', 'a: b\nc: [\n', 3, /cannot be read/],
  ['a name that is a number', 'a: b\n1: c\n', 2, /the name 1 must be quoted/],
])('%s is rejected with its line', (_, text, line, message) => {
  expect(readYamlText(text)).toMatchObject({
    value: undefined,
    problems: expect.arrayContaining([{ line, message: expect.stringMatching(message) }]),
  });
});

test.each([
  ['', 1],
  ['name', 1],
  ['ports', 2],
  ['ports.0.protocol', 4],
  ['ports.1', 5],
  ['ports.1.containerPort', 5],
  ['labels.a.b/c', 7],
  ['labels.a.b/c.d', 7],
  ['colour', 1],
])('the line of the member %j is %i', (member, line) => {
  const text = 'name: x\nports:\n  - containerPort: 1\n    protocol: TCP\n  - { protocol: UDP }\nlabels:\n  a.b/c: d\n';
  expect(readYamlText(text).lineOf(member)).toBe(line);
});

const text = fc.oneof(
  fc.string({ unit: 'binary-ascii' }),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(' ', '\n', '\t', 'a', '#', ':', '-', 'word ', '\r', '\u0085', '\u2028') }),
  fc.constantFrom(...AMBIGUOUS, ...HARDEST, '<<', '- a', '# b', 'a: b', '&a', '!b', ' c ', 'd\n', '\n\te'),
);

test.each(HARDEST)('the text %j is read back by both parsers, and formatted equally again', (given) => {
  const value = { a: given, b: [given, { c: given }] };
  const formatted = formatYaml(value);
  const { value: read, problems } = readYamlText(formatted);
  expect({ problems, read }).toEqual({ problems: [], read: value });
  expect(load(formatted)).toEqual(value);
  expect(formatYaml(read)).toBe(formatted);
  expect(formatted).not.toMatch(/(?!\n)[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/u);
});

test(`formatted values are read back by both parsers, also unusual text (seed ${seed})`, () => {
  const value = fc.dictionary(
    text.filter((name) => name !== '__proto__'),
    fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text)),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b'), value), (given) => {
      const formatted = formatYaml(given);
      const { value: read, problems } = readYamlText(formatted);
      expect({ formatted, problems, read }).toEqual({ formatted, problems: [], read: given });
      expect(load(formatted)).toEqual(given);
    }),
    { seed, numRuns: 300 },
  );
});
