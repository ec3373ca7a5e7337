// Rejects regular expressions whose matching time can grow faster than the length of the text, such as /-+$/. Checks
// the literals in the sources, or the files that are given as arguments.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { root, sources } from './sources.mjs';

process.env.RECHECK_BACKEND = 'pure'; // selects JavaScript instead of a native program, when the library is loaded
const { check } = (await import('recheck')).default;

/**
 * Without limits of time and with a fixed seed, the result does not depend on the speed of the machine. The lower limits
 * of steps halve the duration of the check.
 */
const OPTIONS = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  recallTimeout: -1, // no validation
  seedingTimeout: null,
  randomSeed: 1,
  attackLimit: 10_000_000,
  incubationLimit: 5000,
};

const given = process.argv.slice(2).map((file) => path.relative(root, file));
const places = new Map();
for (const { place, pattern, flags } of (given.length > 0 ? given : sources()).flatMap(expressionsIn)) {
  const expression = `/${pattern}/${flags}`;
  const known = places.get(expression);
  if (known) known.places.push(place);
  else places.set(expression, { pattern, flags, places: [place] });
}

const problems = [];
for (const [expression, { pattern, flags, places: found }] of places) {
  const { status, complexity, error } = await check(pattern, flags, OPTIONS);
  const result = complexity?.summary ?? error?.kind;
  if (status !== 'safe') problems.push(...found.map((place) => `${place}: ${expression} is ${status} (${result})`));
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('Make each of these expressions linear, or replace it by code.');
  process.exitCode = 1;
}

function expressionsIn(file) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const expressions = [];
  const add = ({ regex, start }) => {
    if (regex) expressions.push({ place: `${file}:${text.slice(0, start).split('\n').length}`, ...regex });
  };
  new Visitor({ Literal: add }).visit(program);
  return expressions;
}
