// Random repositories: nested folders, unusual names, links, submodules, empty files, and texts that compress as differences.
import type { GitCommit, GitFile } from '@svc/testing';
import fc from 'fast-check';

// Names of folders and of files differ, so that no path is both.
const FOLDERS = ['fleet', 'fleet-2', 'x y', 'b\u00fccher', '.hidden', '\u65e5\u672c', 'quote"d', 'a.b'];
const NAMES = [
  ...['a.yaml', 'b.yaml', 'with space.yaml', '-dash.yaml', "q'uote.yaml", '\u{1f680}.yaml', '#.yaml', '.yaml'],
  ...['\u00e9.yaml', 'e\u0301.yaml', 'LICENSE', 'note.txt', 'A.yaml', 'a.yaml.txt'],
];

const TITLE = ['a', 'B', '1', ' ', '"', '\\', '\n', '\u00fc', 'e\u0301', '\u{1f680}', '\u65e5'];

const lines = Array.from({ length: 80 }, (_, index) => `key-${index}: value of the line ${index}\n`);

/** Texts that differ in a few lines. */
const text = fc
  .tuple(fc.nat({ max: lines.length }), fc.nat({ max: 1000 }), fc.nat({ max: lines.length }))
  .map(([at, value, length]) => [...lines.slice(0, at), `changed: ${value}\n`, ...lines.slice(at, length)].join(''));

const file: fc.Arbitrary<GitFile> = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom('', '\n', '\ufeffa: b\r\n', 'gr\u00fc\u00dfe: \u{1f600}\n') },
  { weight: 1, arbitrary: text.map((content) => ({ mode: '100755' as const, content })) },
  { weight: 1, arbitrary: fc.constantFrom('a.yaml', '../..').map((content) => ({ mode: '120000' as const, content })) },
  { weight: 1, arbitrary: fc.constant({ mode: '160000' as const, commit: 'a'.repeat(40) }) },
);

const path = fc
  .tuple(fc.array(fc.constantFrom(...FOLDERS), { maxLength: 4 }), fc.constantFrom(...NAMES))
  .map(([folders, name]) => [...folders, name].join('/'));

const files = fc.array(fc.tuple(path, file), { maxLength: 25 });

/** The files of successive commits: each changes and removes some of the one before. */
const states = fc.array(fc.tuple(files, fc.nat({ max: 5 })), { minLength: 1, maxLength: 4 }).map((steps) => {
  let present = new Map<string, GitFile>();
  return steps.map(([changed, removed]) => {
    present = new Map([...[...present].slice(removed), ...changed]);
    return present;
  });
});

export interface History {
  readonly branch: string;
  readonly commits: readonly GitCommit[];
  /** A folder that exists or not. */
  readonly folder: string;
}

/** Histories of branches with these numbers. */
export const historyOf = (number: number): fc.Arbitrary<History> =>
  fc
    .tuple(states, fc.nat(), fc.string({ unit: fc.constantFrom(...TITLE), maxLength: 30 }))
    .map(([all, choice, title]) => {
      const branch = `history-${number}`;
      const paths = [...(all.at(-1)?.keys() ?? [])];
      const folders = paths.flatMap((each) =>
        each.split('/').map((_, index, parts) => parts.slice(0, index).join('/')),
      );
      const folder = [...folders, 'missing', 'fleet', ''][choice % (folders.length + 3)] ?? '';
      const message = `Change ${JSON.stringify(title)}\n\nwith a reason\n`;
      return { branch, folder, commits: all.map((present) => ({ branch, files: present, message })) };
    });

/** The parents of successive commits by their positions. */
export const graph = (size: number): fc.Arbitrary<number[][]> =>
  fc.tuple(
    ...Array.from({ length: size }, (_, index) =>
      index === 0
        ? fc.constant<number[]>([])
        : fc.uniqueArray(fc.integer({ min: Math.max(0, index - 6), max: index - 1 }), { minLength: 1, maxLength: 3 }),
    ),
  );

/** The number of steps from a commit to an ancestor over the fewest parents; undefined if it is none. */
export function distanceIn(parents: readonly (readonly number[])[], from: number, to: number): number | undefined {
  let generation = [from];
  for (let distance = 0; generation.length > 0; distance += 1) {
    if (generation.includes(to)) return distance;
    generation = [...new Set(generation.flatMap((commit) => parents[commit] ?? []))];
  }
  return undefined;
}
