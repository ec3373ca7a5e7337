import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @returns a message for each edit whose text does not occur exactly once in its file */
export function problemsOf(root, mutations) {
  return mutations.flatMap(({ name, edits }) =>
    edits.flatMap(({ file, find }) => {
      const count = occurrences(root, file, find);
      if (count === 1) return [];
      return [`"${name}": the text to replace occurs ${count} times in ${file}: ${JSON.stringify(find)}`];
    }),
  );
}

/** Applies a mutation. @returns a function that restores the files */
export function applyMutation(root, { edits }) {
  const originals = new Map();
  for (const { file, find, replace } of edits) {
    const target = path.join(root, file);
    const text = readFileSync(target, 'utf8');
    if (!originals.has(target)) originals.set(target, text);
    writeFileSync(
      target,
      text.replace(find, () => replace),
    );
  }
  return () => {
    for (const [target, text] of originals) writeFileSync(target, text);
  };
}

function occurrences(root, file, find) {
  try {
    return readFileSync(path.join(root, file), 'utf8').split(find).length - 1;
  } catch (error) {
    if (error.code === 'ENOENT') return 0;
    throw error;
  }
}
