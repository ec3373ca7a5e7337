import { expect, test } from '@jest/globals';
import { wordsOf } from '@svc/contract';
import { createWordIndex, type SearchedObject } from '../src/index.ts';

const object = (id: string, given: Partial<SearchedObject>): SearchedObject => ({
  id,
  version: 1,
  name: '',
  slug: '',
  tags: '',
  image: '',
  description: '',
  ...given,
});

/** A source that can change, and remembers what was read. */
function aSource(...initial: SearchedObject[]) {
  const objects = new Map(initial.map((each) => [each.id, each]));
  const reads: string[] = [];
  return {
    objects,
    reads,
    put: (changed: SearchedObject) => objects.set(changed.id, changed),
    at: (state: string) => ({
      state,
      versions: () => [...objects.values()].map(({ id, version }) => [id, version] as const),
      read: async (ids: readonly string[]) => {
        reads.push(...ids);
        return ids.flatMap((id) => objects.get(id) ?? []);
      },
    }),
  };
}

async function indexOf(...objects: SearchedObject[]) {
  const words = createWordIndex();
  expect(await words.update(aSource(...objects).at('one'))).toBe(true);
  return words;
}

/** The ids that a query finds, the best match first. */
const found = async (words: Awaited<ReturnType<typeof indexOf>>, query: string) =>
  [...(await words.find(query))].sort(([, one], [, other]) => other - one).map(([id]) => id);

const objects = [
  object('1', { name: 'PostgreSQL', slug: 'postgresql', image: 'docker.io/library/postgres:17', tags: 'database sql' }),
  object('2', { name: 'pgAdmin', slug: 'pgadmin', image: 'dpage/pgadmin4:9', description: 'Console of PostgreSQL' }),
  object('3', { name: 'Crème brûlée', slug: 'creme', description: 'A dessert with vanilla, not a database' }),
  object('4', { name: 'Ollama', slug: 'ollama', image: 'ollama/ollama', tags: 'llm' }),
  object('5', { name: 'Llama server', slug: 'llama-server', tags: 'llm' }),
];

test.each([
  ['a word of the name', 'ollama', ['4']],
  ['words in any order', 'server llama', ['5']],
  ['words of different members', 'console pgadmin', ['2']],
  ['a word without its accents', 'creme brulee', ['3']],
  ['a word with other accents', 'CRÈME', ['3']],
  ['the start of a word, in the name before the description', 'postgre', ['1', '2']],
  ['a part of a word', 'gresq', ['1', '2']],
  ['a word of an image', 'library', ['1']],
  ['a tag before a description', 'database', ['1', '3']],
  ['a word of the name before a part of one', 'llama', ['5', '4']],
  ['a word and a part of it', 'postgresql gresq', ['1', '2']],
  ['nothing without each word', 'ollama postgres', []],
  ['nothing without a word', ' -- ', []],
  ['nothing for a letter inside words', 'l', []],
])('finds %s', async (_, query, expected) => {
  expect(await found(await indexOf(...objects), query)).toEqual(expected);
});

test('a name that consists of the words is before longer names', async () => {
  const names = ['Another redis', 'Redis exporter for metrics', 'Redis'];
  const words = await indexOf(...names.map((name, n) => object(String(n), { name })));
  expect((await found(words, 'redis'))[0]).toBe('2');
});

test('finds what a comparison of all words finds', async () => {
  const words = await indexOf(...objects);
  const textsOf = ({ name, slug, tags, image, description }: SearchedObject) =>
    wordsOf([name, slug, tags, image, description].join(' '));
  const queries = [...new Set(objects.flatMap(textsOf))].flatMap((word) => [word, word.slice(1), word.slice(0, -1)]);
  for (const query of queries.filter((word) => word.length > 2)) {
    const expected = objects.filter((each) => textsOf(each).some((word) => word.includes(query))).map(({ id }) => id);
    expect({ query, found: (await found(words, query)).sort() }).toEqual({ query, found: expected });
  }
});

test('the ranks of objects do not depend on other objects', async () => {
  const ranks = async (...others: SearchedObject[]) => {
    const all = await (await indexOf(...objects, ...others)).find('database');
    return objects.map(({ id }) => all.get(id));
  };
  const many = Array.from({ length: 50 }, (_, n) => object(`other-${n}`, { name: 'database database', tags: 'sql' }));
  expect(await ranks(...many)).toEqual(await ranks());
});

test('an update reads only what changed, and removes what is gone', async () => {
  const words = createWordIndex();
  const source = aSource(object('1', { name: 'old' }), object('2', { name: 'other' }));
  await words.update(source.at('one'));
  source.put(object('1', { name: 'new', version: 2 }));
  source.objects.delete('2');
  source.reads.length = 0;
  expect(await words.update(source.at('two'))).toBe(true);
  expect(source.reads).toEqual(['1']);
  expect(await found(words, 'old')).toEqual([]);
  expect(await found(words, 'other')).toEqual([]);
  expect(await found(words, 'new')).toEqual(['1']);
});

test('an update of a state that is known reads nothing', async () => {
  const words = createWordIndex();
  const source = aSource(...objects);
  await Promise.all([words.update(source.at('one')), words.update(source.at('one'))]);
  expect(source.reads).toEqual(objects.map(({ id }) => id));
});

test('an update reports that the source changed meanwhile, and a later one succeeds', async () => {
  const words = createWordIndex();
  const source = aSource(object('1', { name: 'old' }));
  const { read, ...rest } = source.at('one');
  const changing = async (ids: readonly string[]) => {
    source.put(object('1', { name: 'new', version: 2 }));
    return read(ids);
  };
  expect(await words.update({ ...rest, read: changing })).toBe(false);
  expect(await words.update(source.at('two'))).toBe(true);
  expect(await found(words, 'new')).toEqual(['1']);
});

test('an update that fails does not prevent the next one', async () => {
  const words = createWordIndex();
  const source = aSource(object('1', { name: 'redis' }));
  const failing = { ...source.at('one'), read: () => Promise.reject(new Error('not reachable')) };
  await expect(words.update(failing)).rejects.toThrow('not reachable');
  expect(await words.update(source.at('one'))).toBe(true);
  expect(await found(words, 'redis')).toEqual(['1']);
});
