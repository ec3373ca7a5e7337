import { z } from 'zod';
import { type FieldError, limitFieldErrors } from '../shared/field-errors.ts';
import { nearestName } from '../shared/nearest-name.ts';
import { isReservedVariable } from '../template/container-options.ts';
import { namedPieces, type Placeholder, placeholderOf } from './placeholders.ts';

/** The maximum size of an application without its documentation, as JSON. */
export const MAX_APPLICATION_BYTES = 512 * 1024;

/** The maximum number of different placeholders in one text. */
const MAX_PLACEHOLDERS = 16;

/** The members of a part that are compared with others. */
interface ComparedPart {
  readonly name: string;
  readonly kind: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly command: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly files?: readonly { readonly content: string }[];
  readonly ports: readonly { readonly containerPort: number; readonly protocol: string; readonly publish: boolean }[];
  readonly needs: readonly { readonly part: string; readonly until: string }[];
  readonly run: string;
  readonly was: string | null;
}

interface Named {
  readonly name: string;
}

/** What an application consists of. */
export interface ComparedApplication {
  readonly inputs: readonly Named[];
  readonly generated: readonly Named[];
  readonly parts: readonly ComparedPart[];
}

/**
 * What is wrong with an application whose members are valid on their own: with the paths of the members. The size
 * in bytes is checked first.
 */
export function applicationProblems(application: ComparedApplication): readonly FieldError[] {
  const { inputs, generated, parts } = application;
  const bytes = new TextEncoder().encode(JSON.stringify({ inputs, generated, parts })).length;
  if (bytes > MAX_APPLICATION_BYTES) {
    const message = `must have at most ${MAX_APPLICATION_BYTES} bytes together with the inputs and generated values, and has ${bytes}`;
    return [{ path: 'parts', message }];
  }
  return limitFieldErrors(problemsOf(application));
}

/** Refuses an application with such a problem. */
export const refuseApplicationProblems = z.check<ComparedApplication>(({ value, issues }) => {
  for (const { path, message } of applicationProblems(value))
    issues.push({ code: 'custom', path: path.split('.'), message, input: value });
});

function* problemsOf(application: ComparedApplication): Generator<FieldError> {
  const { inputs, generated, parts } = application;
  yield* repeatedNames('inputs', inputs);
  yield* repeatedNames('generated', generated);
  yield* repeatedNames('parts', parts);
  yield* repeatedOrigins(parts);
  const names = namesOf(application);
  for (const [index, part] of parts.entries()) {
    for (const { path, message } of [
      ...problemsOfPart(part),
      ...problemsOfNeeds(part, names.parts),
      ...problemsOfTexts(part, names),
    ])
      yield { path: `parts.${index}.${path}`, message };
  }
  const cycle = cycleOf(parts);
  if (cycle) {
    const needs = cycle.map((name, index) => `${name} needs ${cycle[index + 1] ?? cycle[0]}`);
    const message = `must not wait for each other: ${needs.join(', ')}`;
    yield { path: 'parts', message };
  }
}

function* repeatedNames(list: string, named: readonly Named[]): Generator<FieldError> {
  const known = new Set<string>();
  for (const [index, { name }] of named.entries()) {
    if (known.has(name)) yield { path: `${list}.${index}.name`, message: `must be unique, and ${name} is repeated` };
    known.add(name);
  }
}

function* repeatedOrigins(parts: readonly ComparedPart[]): Generator<FieldError> {
  const known = new Set(parts.map(({ name }) => name));
  for (const [index, { was }] of parts.entries()) {
    if (was === null) continue;
    if (known.has(was))
      yield { path: `parts.${index}.was`, message: `must not be ${was}, which another part is or was` };
    known.add(was);
  }
}

function* problemsOfPart({ kind, run, ports }: ComparedPart): Generator<FieldError> {
  if (run !== 'once' && kind !== 'job') yield { path: 'run', message: 'is only for a part of the kind job' };
  const known = new Set<string>();
  for (const [index, { containerPort, protocol }] of ports.entries()) {
    const port = `${containerPort}/${protocol.toUpperCase()}`;
    if (known.has(port)) yield { path: `ports.${index}`, message: `must be unique, and ${port} is repeated` };
    known.add(port);
  }
}

function* problemsOfNeeds(
  { name, needs }: ComparedPart,
  parts: ReadonlyMap<string, ComparedPart>,
): Generator<FieldError> {
  const known = new Set<string>();
  for (const [index, { part, until }] of needs.entries()) {
    const needed = parts.get(part);
    const path = `needs.${index}`;
    if (!needed)
      yield { path: `${path}.part`, message: `must be the name of another part${hint(part, [...parts.keys()])}` };
    else if (part === name)
      yield { path: `${path}.part`, message: 'must be the name of another part, not of this one' };
    else if (known.has(part)) yield { path: `${path}.part`, message: `must be unique, and ${part} is repeated` };
    else if (until === 'finished' && needed.kind !== 'job')
      yield { path: `${path}.until`, message: `must be started or ready, because ${part} is not of the kind job` };
    known.add(part);
  }
}

const MAX_LISTED = 10;

/** What was probably meant, or what is allowed. */
function hint(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  if (known.length === 0) return '; there is none';
  return `; allowed: ${known.slice(0, MAX_LISTED).join(', ')}${known.length > MAX_LISTED ? ', …' : ''}`;
}

interface Names {
  readonly inputs: readonly string[];
  readonly generated: readonly string[];
  readonly parts: ReadonlyMap<string, ComparedPart>;
  /** The placeholders without ports. */
  readonly placeholders: readonly string[];
}

function namesOf({ inputs, generated, parts }: ComparedApplication): Names {
  const names = (named: readonly Named[]) => named.map(({ name }) => name);
  return {
    inputs: names(inputs),
    generated: names(generated),
    parts: new Map(parts.map((part) => [part.name, part])),
    placeholders: [
      ...names(inputs).map((name) => `inputs.${name}`),
      ...names(generated).map((name) => `generated.${name}`),
      ...names(parts).map((name) => `parts.${name}.host`),
      'application.name',
    ],
  };
}

/** The texts of a part that can contain placeholders, with their paths. */
export const textsOfPart = ({
  env,
  command,
  entrypoint = [],
  files = [],
}: Pick<ComparedPart, 'env' | 'command' | 'entrypoint' | 'files'>): readonly { path: string; text: string }[] => [
  ...env.map(({ value }, index) => ({ path: `env.${index}.value`, text: value })),
  ...command.map((text, index) => ({ path: `command.${index}`, text })),
  ...entrypoint.map((text, index) => ({ path: `entrypoint.${index}`, text })),
  ...files.map(({ content }, index) => ({ path: `files.${index}.content`, text: content })),
];

function* problemsOfTexts(part: ComparedPart, names: Names): Generator<FieldError> {
  const reserved = new Set(
    part.env.flatMap(({ name }, index) => (isReservedVariable(name) ? [`env.${index}.value`] : [])),
  );
  for (const { path, text } of textsOfPart(part)) {
    const pieces = namedPieces(text);
    if (!pieces) {
      const message = `must contain only placeholders such as \${inputs.name}: write $\${…} with two dollar signs for text that is none`;
      yield { path, message };
      continue;
    }
    const used = new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.name)));
    if (used.size > MAX_PLACEHOLDERS)
      yield { path, message: `must contain at most ${MAX_PLACEHOLDERS} different placeholders, and has ${used.size}` };
    else if (used.size > 0 && reserved.has(path)) {
      const message =
        'must not contain placeholders, because it configures the container; a command can read the variables of the part';
      yield { path, message };
    } else
      for (const name of used) {
        const reason = problemOfPlaceholder(name, part, names);
        if (reason !== undefined) yield { path, message: `must not contain the placeholder ${name}${reason}` };
      }
  }
}

/** Why a placeholder has no value. */
function problemOfPlaceholder(name: string, self: ComparedPart, names: Names): string | undefined {
  const placeholder = placeholderOf(name);
  if (!placeholder) return `, which does not exist${hint(name, names.placeholders)}`;
  switch (placeholder.kind) {
    case 'input':
      return unknownOf('input', placeholder.name, names.inputs);
    case 'generated':
      return unknownOf('generated value', placeholder.name, names.generated);
    case 'own-url':
      return problemOfOwnPort(placeholder.port, self);
    case 'application-name':
      return undefined;
    default:
      return problemOfOther(placeholder, names);
  }
}

const unknownOf = (noun: string, name: string, known: readonly string[]): string | undefined =>
  known.includes(name) ? undefined : `: there is no ${noun} ${name}${hint(name, known)}`;

function problemOfOther(
  placeholder: Extract<Placeholder, { readonly part: string }>,
  { parts }: Names,
): string | undefined {
  const part = parts.get(placeholder.part);
  if (!part) return unknownOf('part', placeholder.part, [...parts.keys()]);
  if (placeholder.kind === 'host') return undefined;
  const ports = part.ports.map(({ containerPort }) => containerPort);
  return ports.includes(placeholder.port)
    ? undefined
    : `: the part ${part.name} has no port ${placeholder.port}${hint(String(placeholder.port), ports.map(String))}`;
}

function problemOfOwnPort(port: number, { ports }: ComparedPart): string | undefined {
  const published = ports.filter(({ publish, protocol }) => publish && protocol.toUpperCase() === 'TCP');
  return published.some(({ containerPort }) => containerPort === port)
    ? undefined
    : `: this part publishes no TCP port ${port}${hint(
        String(port),
        published.map(({ containerPort }) => String(containerPort)),
      )}`;
}

/** Parts that wait for each other, in the order in which they do; undefined if there are none. */
function cycleOf(parts: readonly ComparedPart[]): readonly string[] | undefined {
  const needs = new Map(
    parts.map(({ name, needs }) => [name, needs.map(({ part }) => part).filter((part) => part !== name)]),
  );
  for (let before = needs.size + 1; needs.size < before; ) {
    before = needs.size;
    for (const [name, needed] of needs) if (!needed.some((part) => needs.has(part))) needs.delete(name);
  }
  const [first] = needs.keys();
  if (first === undefined) return undefined;
  const walk = [first];
  for (;;) {
    const next = needs.get(walk.at(-1) ?? '')?.find((part) => needs.has(part)) ?? first;
    const start = walk.indexOf(next);
    if (start >= 0) return walk.slice(start);
    walk.push(next);
  }
}
