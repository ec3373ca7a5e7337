import { setImmediate as turn } from 'node:timers/promises';
import { wordsOf } from '@svc/contract';
import MiniSearch from 'minisearch';

/** The texts of an object that words are searched in. */
interface SearchedTexts {
  readonly name: string;
  readonly slug: string;
  readonly tags: string;
  readonly image: string;
  readonly description: string;
}

type Member = keyof SearchedTexts;

/**
 * How much a word in a member counts. The ranking depends on the found object alone: frequencies of words would show
 * callers how often invisible objects contain them.
 */
const WEIGHTS: Readonly<Record<Member, number>> = { name: 5, slug: 4, tags: 3, image: 2, description: 1 };
const WHOLE = 4;
const START = 2;
const INSIDE = 1;
/** How much a name counts that consists of the searched words. */
const WHOLE_NAME = 20;

/** Shorter words match only whole words. */
const MIN_START = 2;
/** Shorter words do not match inside words. */
const MIN_INSIDE = 3;

/** An object with the version of its texts. */
export interface SearchedObject extends SearchedTexts {
  readonly id: string;
  readonly version: number;
}

/** The objects that the index should contain, as their source has them. */
interface Source {
  /** Identifies the state of the source. */
  readonly state: string;
  /** The versions of all objects. */
  versions():
    | Iterable<readonly [id: string, version: number]>
    | Promise<Iterable<readonly [id: string, version: number]>>;
  /** Reads objects. Those that no longer exist are left out. */
  read(ids: readonly string[]): Promise<readonly SearchedObject[]>;
}

export interface WordIndex {
  /**
   * Adds, replaces and removes objects, so that the index contains the objects of the source. It reads only those that
   * changed. Calls wait for each other.
   * @returns false if the source changed meanwhile
   */
  update(source: Source): Promise<boolean>;
  /** The objects with all words of a query, with their rank. A text without a word finds nothing. */
  find(query: string): Promise<ReadonlyMap<string, number>>;
}

/** The number of objects that are read at once. */
const READ = 500;
/** The number of objects that are indexed before other requests have their turn. */
const INDEXED = 20;

/** An index of the words of objects in memory. */
export function createWordIndex(): WordIndex {
  const versions = new Map<string, number>();
  /** All words, to find those that contain another one. Words of removed objects remain. */
  const vocabulary = new Set<string>();
  const index = new MiniSearch<SearchedObject & { readonly words: number }>({
    fields: Object.keys(WEIGHTS),
    storeFields: ['words'],
    tokenize: wordsOf,
    processTerm: (word) => {
      vocabulary.add(word);
      return word;
    },
  });
  let state: string | undefined;

  const remove = (id: string) => {
    if (versions.delete(id)) index.discard(id);
  };
  const put = (object: SearchedObject) => {
    remove(object.id);
    index.add({ ...object, words: new Set(wordsOf(object.name)).size });
    versions.set(object.id, object.version);
  };
  const putAll = async (objects: readonly SearchedObject[]) => {
    for (const [at, object] of objects.entries()) {
      put(object);
      if ((at + 1) % INDEXED === 0) await turn();
    }
  };
  const apply = async (source: Source): Promise<boolean> => {
    if (state === source.state) return true;
    const wanted = new Map(await source.versions());
    for (const id of versions.keys()) if (!wanted.has(id)) remove(id);
    const changed = [...wanted.keys()].filter((id) => versions.get(id) !== wanted.get(id));
    for (let start = 0; start < changed.length; start += READ) {
      await putAll(await source.read(changed.slice(start, start + READ)));
    }
    if (changed.some((id) => versions.get(id) !== wanted.get(id))) return false;
    state = source.state;
    return true;
  };

  /** The objects with a word. */
  const matching = (word: string) => {
    const inside = word.length < MIN_INSIDE ? [] : [...vocabulary].filter((other) => other.indexOf(word, 1) > 0);
    return index.search(
      { combineWith: 'OR', queries: [{ queries: [word], prefix: word.length >= MIN_START }, { queries: inside }] },
      { tokenize: (text) => [text], processTerm: (text) => text },
    );
  };

  const find = async (query: string): Promise<ReadonlyMap<string, number>> => {
    let found: ReadonlyMap<string, number> | undefined;
    for (const word of searchedWords(query)) {
      const ranks = new Map<string, number>();
      for (const { id, match, words: ofName } of matching(word)) {
        const before = found ? found.get(id) : 0;
        if (before !== undefined) ranks.set(id, before + rankOf(word, match, ofName));
      }
      found = ranks;
      if (found.size === 0) break;
      await turn();
    }
    return found ?? new Map();
  };

  return {
    update: inOrder(apply),
    // One word at a time, so that other requests wait for one at most.
    find: inOrder(find),
  };
}

/** Work of which each call starts after the previous one has ended. */
function inOrder<Given, Result>(work: (given: Given) => Promise<Result>): (given: Given) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (given) => {
    const run = last.then(() => work(given));
    last = run.catch(() => undefined); // the caller receives the error
    return run;
  };
}

/** The words that a search looks up. Long ones, which fewer objects have, are first. */
function searchedWords(query: string): string[] {
  const words = [...new Set(wordsOf(query))].sort((one, other) => other.length - one.length);
  // What has a word also has the parts of this word.
  const isPart = (word: string) =>
    word.length >= MIN_INSIDE && words.some((other) => other !== word && other.includes(word));
  return words.filter((word) => !isPart(word));
}

/** @param match the members that contain each found word */
function rankOf(word: string, match: Readonly<Record<string, string[]>>, wordsOfName: number): number {
  let best = 0;
  for (const [found, members] of Object.entries(match)) {
    const how = found === word ? WHOLE : found.startsWith(word) ? START : INSIDE;
    // MiniSearch knows the fields as text.
    for (const member of members as Member[]) best = Math.max(best, how * WEIGHTS[member]);
  }
  const isOfName = Object.hasOwn(match, word) && match[word]?.includes('name');
  return best + (isOfName ? WHOLE_NAME / wordsOfName : 0);
}
