import { documentsIn, formatYaml, readYamlText } from '../src/index.ts';

test('documents are separated by lines with three hyphens, and keep the lines of their file', () => {
  const text = '# first\na: 1\n--- # second\nb: "---"\nc: |\n  --- text\n---\n\n# nothing\n--- {d: 2}\n';
  const documents = documentsIn(text);
  expect(documents.map(({ line }) => line)).toEqual([1, 3, 10]);
  const read = documents.map((each) => readYamlText(each.text, each.line));
  expect(read.map(({ value }) => value)).toEqual([{ a: 1 }, { b: '---', c: '--- text\n' }, { d: 2 }]);
  expect([read[0]?.lineOf('a'), read[1]?.lineOf('c'), read[2]?.lineOf('d')]).toEqual([2, 5, 10]);
});

test('a text with Windows line ends and a byte order mark has the same documents', () => {
  const documents = documentsIn('\ufeffa: 1\r\n---\r\nb: 2\r\n');
  expect(documents.map(({ text, line }) => readYamlText(text, line).value)).toEqual([{ a: 1 }, { b: 2 }]);
});

test('problems of a later document have the lines of their file', () => {
  const [, second] = documentsIn('a: 1\n---\nb: &anchor 2\nc: yes\n');
  expect(readYamlText(second?.text ?? '', second?.line).problems.map(({ line }) => line)).toEqual([3, 4]);
  const [directive] = documentsIn('\n%YAML 1.2\n---\na: 1\n');
  expect(readYamlText(directive?.text ?? '', directive?.line).problems[0]?.line).toBe(2);
});

test('a text of only comments has no documents, and JSON is one', () => {
  expect(documentsIn('# nothing\n---\n\n')).toEqual([]);
  const [json] = documentsIn('{"kind": "deployment",\n "name": "a"}');
  expect(readYamlText(json?.text ?? '', json?.line)).toMatchObject({ value: { kind: 'deployment', name: 'a' } });
});

test('formatted documents are read as they were', () => {
  const values = [{ text: '---' }, { text: '--- a\n---\n' }, { list: ['- a', '# b'] }];
  const read = documentsIn(values.map(formatYaml).join('---\n')).map(({ text }) => readYamlText(text).value);
  expect(read).toEqual(values);
});

test('numbers with decimals are formatted so that all parsers read them identically', () => {
  for (const value of [1.5, -0.25, 0.1, 1e21, -1e21, 1e-7, 2.5e-9, 5e-324, 1.7976931348623157e308, 1e20, -3, 0]) {
    const text = formatYaml({ value });
    expect({ text, ...readYamlText(text) }).toMatchObject({ text, value: { value }, problems: [] });
    expect(text).not.toMatch(/ -?\de/);
  }
});
