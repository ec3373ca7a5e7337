// Converts complete lists of applications, and counts what becomes of their files:
//
//   node packages/convert/corpus.mjs coolify=<folder> caprover=<folder> portainer=<templates.json> compose=<folder> …
//
// --stacks <folder>   the files of stacks of Portainer's lists: <folder>/<owner>/<repository>/<path>
// --with-files        convert the files beside Compose files
// --reasons           count the reasons of notes and refusals
// --report <file>     write all reports and applications to this file, as JSON
// --seed <number>     print a sample of 40 files with their classes and reasons instead
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { convertCaprover, convertCompose, convertCoolify, convertPortainer } from './src/index.ts';

const CLASSES = ['complete', 'harmless', 'note', 'refused'];
const MAX_BESIDE = 65_536;
const SAMPLE = 40;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    stacks: { type: 'string' },
    'with-files': { type: 'boolean', default: false },
    reasons: { type: 'boolean', default: false },
    report: { type: 'string' },
    seed: { type: 'string' },
  },
});

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();

/** The small files in a folder, by their paths. */
const beside = (folder) =>
  new Map(
    filesIn(folder)
      .filter((file) => statSync(file).size <= MAX_BESIDE)
      .map((file) => [path.relative(folder, file), readFileSync(file, 'utf8')]),
  );

const isYaml = (file) => /\.ya?ml$/.test(file);
const isCompose = (file) => /^(?:docker-)?compose(?:\.[\w-]+)?\.ya?ml$/.test(path.basename(file));

/** A file of a list with its result. */
const result = (list, name, { application, report }) => {
  const services = new Set(report.flatMap(({ part }) => part ?? []));
  const fates = new Set(report.map((entry) => entry.class));
  const fate = fates.has('refused')
    ? 'refused'
    : fates.has('note')
      ? 'note'
      : fates.has('harmless')
        ? 'harmless'
        : 'complete';
  if ((fate === 'refused') === (application !== undefined)) throw new Error(`${name} is ${fate} with an application`);
  return { list, name, fate, report, application, parts: Math.max(1, services.size) };
};

function* convertedIn(kind, source) {
  const convert = { compose: convertCompose, coolify: convertCoolify, caprover: convertCaprover }[kind];
  if (convert) {
    for (const file of filesIn(source).filter(kind === 'compose' ? isCompose : isYaml)) {
      const folder = path.dirname(file);
      const isNamedByFolder = kind === 'compose';
      yield result(
        kind,
        path.relative(source, file),
        convert({
          file: path.basename(file),
          text: readFileSync(file, 'utf8'),
          name: isNamedByFolder ? path.basename(folder) : path.parse(file).name,
          ...(values['with-files'] && isNamedByFolder && { files: beside(folder) }),
        }),
      );
    }
    return;
  }
  if (kind !== 'portainer') throw new Error(`${kind} must be compose, coolify, caprover or portainer`);
  const text = readFileSync(source, 'utf8');
  const { templates } = JSON.parse(text);
  const files = new Map();
  const fileOf = ({ url = '', stackfile = '' }) => [...url.split('/').slice(3, 5), stackfile].join('/');
  for (const { repository } of templates) {
    const file = path.join(values.stacks ?? '', repository ? fileOf(repository) : '');
    if (values.stacks && repository?.stackfile && existsSync(file))
      files.set(fileOf(repository), readFileSync(file, 'utf8'));
  }
  const converted = convertPortainer({ file: path.basename(source), text, name: 'list', files });
  for (const [index, { title, ...each }] of converted.templates.entries()) {
    const { type, repository } = templates[index];
    if (type === 1) yield result('portainer, containers', title, each);
    else if (repository && files.has(fileOf(repository))) yield result('portainer, stacks', title, each);
  }
}

const results = positionals.flatMap((argument) => {
  const [kind, ...source] = argument.split('=');
  return [...convertedIn(kind, source.join('='))];
});

const share = (count, all) => (all === 0 ? '' : ` (${Math.round((1000 * count) / all) / 10} %)`);

function row(name, found) {
  const counts = CLASSES.map((fate) => found.filter((each) => each.fate === fate).length);
  const good = counts[0] + counts[1];
  console.log(
    `| ${name} | ${found.length} | ${counts.join(' | ')} | ${good}${share(good, found.length)} | ${counts[3]}${share(counts[3], found.length)} |`,
  );
}

function summary() {
  console.log('| list | files | complete | harmless | note | refused | complete or harmless | refused |');
  console.log('|---|---|---|---|---|---|---|---|');
  for (const list of new Set(results.map((each) => each.list)))
    row(
      list,
      results.filter((each) => each.list === list),
    );
  row('all', results);
  row(
    'those with several containers',
    results.filter((each) => each.parts > 1),
  );
}

function reasons() {
  for (const fate of ['refused', 'note', 'harmless']) {
    const files = new Map();
    for (const each of results)
      for (const { reason } of each.report.filter((entry) => entry.class === fate))
        files.set(reason, (files.get(reason) ?? new Set()).add(`${each.list}/${each.name}`));
    console.log(`\n${fate}:`);
    for (const [reason, names] of [...files].sort(([, one], [, other]) => other.size - one.size).slice(0, 80))
      console.log(`${String(names.size).padStart(5)} ${reason}   [${[...names].slice(0, 2).join(', ')}]`);
  }
}

/** A generator of numbers from 0 to 1 with a seed (mulberry32). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sample() {
  const next = numbers(Number(values.seed));
  const rest = [...results];
  for (let count = 0; count < SAMPLE && rest.length > 0; count += 1) {
    const [chosen] = rest.splice(Math.floor(next() * rest.length), 1);
    console.log(`\n## ${chosen.list}: ${chosen.name} — ${chosen.fate}`);
    for (const { line, part, member, value, class: fate, reason } of chosen.report)
      console.log(`${line}: ${fate}: ${[part, member].filter(Boolean).join('.')} = ${JSON.stringify(value)} ${reason}`);
    console.log(JSON.stringify(chosen.application, null, 1));
  }
}

if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(results));
if (values.seed !== undefined) sample();
else summary();
if (values.reasons) reasons();
