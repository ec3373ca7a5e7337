// Summarizes CPU profiles.
import path from 'node:path';

const repository = path.resolve(import.meta.dirname, '../..');

const fileOf = ({ url }) =>
  url
    .replace('file://', '')
    .replace(`${repository}/`, '')
    .replace(/^.*node_modules\//, '');

function functionOf(frame) {
  const file = fileOf(frame);
  return `${frame.functionName || 'anonymous'}${file && ` (${file}:${frame.lineNumber + 1})`}`;
}

/** The package, or the folder of a service. Functions without a file belong to Node. */
function partOf(frame) {
  const file = fileOf(frame);
  if (file === '' || file.startsWith('node:'))
    return frame.functionName === '(garbage collector)' ? 'garbage collector' : 'Node';
  return file
    .split('/')
    .slice(0, /^apps|^packages/.test(file) ? 4 : file.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * The functions and the parts of the program with the most CPU time of their own, as lines of text.
 */
export function hottest({ nodes, samples, timeDeltas }, count) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const isIdle = (id) => frames.get(id).functionName === '(idle)';
  const busy = samples.reduce((sum, id, index) => sum + (isIdle(id) ? 0 : timeDeltas[index]), 0);
  const largest = (titleOf) => {
    const titles = new Map([...frames].map(([id, frame]) => [id, titleOf(frame)]));
    const times = new Map();
    for (const [index, id] of samples.entries())
      if (!isIdle(id)) times.set(titles.get(id), (times.get(titles.get(id)) ?? 0) + timeDeltas[index]);
    const sorted = [...times].sort(([, one], [, other]) => other - one).slice(0, count);
    return sorted.map(([title, time]) => `  ${((100 * time) / busy).toFixed(1)} % ${title}`);
  };
  return [
    `CPU profile of ${(busy / 1e6).toFixed(1)} s, by function:`,
    ...largest(functionOf),
    'by part:',
    ...largest(partOf),
  ];
}
