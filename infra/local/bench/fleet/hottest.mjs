// Summarizes CPU profiles.
import path from 'node:path';

const repository = path.resolve(import.meta.dirname, '../../../..');

function titleOf({ functionName, url, lineNumber }) {
  const file = url
    .replace('file://', '')
    .replace(`${repository}/`, '')
    .replace(/^.*node_modules\//, '');
  return `${functionName || 'anonymous'}${file && ` (${file}:${lineNumber + 1})`}`;
}

/** The functions with the most CPU time of their own, as lines of text. */
export function hottest({ nodes, samples, timeDeltas }, count) {
  const titles = new Map(nodes.map(({ id, callFrame }) => [id, titleOf(callFrame)]));
  const times = new Map();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const title = titles.get(id);
    if (title === '(idle)') continue;
    busy += timeDeltas[index];
    times.set(title, (times.get(title) ?? 0) + timeDeltas[index]);
  }
  const sorted = [...times].sort(([, one], [, other]) => other - one).slice(0, count);
  return [
    `CPU profile of ${(busy / 1e6).toFixed(1)} s:`,
    ...sorted.map(([title, time]) => `  ${((100 * time) / busy).toFixed(1)} % ${title}`),
  ];
}
