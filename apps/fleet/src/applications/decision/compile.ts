import {
  type ApplicationPiece,
  type ApplicationSpec,
  applicationPieces,
  type FieldError,
  GRANTS_DEVICES,
  grantsDevices,
  type Part,
  type Placeholder,
  SECRET_MARKER,
  textsOfPart,
  workloadMembers,
} from '@svc/contract';
import { MAX_INSTANCES, type Overrides, type Uses, type WorkloadSpec } from '@svc/contract/fleet';
import { pickDefined } from '@svc/http';
import { portKey } from '../../render/allocation.ts';
import type { StoredEnv, StoredValue } from '../../render/env.ts';
import { encoded, isAddress, type StoredReference } from '../../render/references.ts';
import { portsOf } from '../../render/rendering.ts';
import { secretVariablesOf } from '../../resources/workloads.ts';
import { type Inputs, inputProblems, inputValues } from '../inputs.ts';
import { applyOverrides, overrideProblems } from '../overrides.ts';
import { isUsed, servedPort, useProblems } from '../uses.ts';

/** What an application consists of, and what a request gives to it. */
export interface Requested {
  /** The name of the application. */
  readonly name: string;
  readonly spec: ApplicationSpec;
  readonly inputs: Inputs;
  /** By the names of parts. */
  readonly replicas: Readonly<Record<string, number>>;
  /** By part and mount, as `<part>/<mount>`. */
  readonly volumes: Readonly<Record<string, RequestedVolume>>;
  /** What is set for parts instead of what the specification says, by their names. */
  readonly overrides: Overrides;
  /** The deployments that serve instead of parts, by the names of these. */
  readonly uses: Uses;
  /** The names of the deployments that exist, by the names of their parts. */
  readonly known?: ReadonlyMap<string, string>;
}

interface RequestedVolume {
  readonly size?: string | undefined;
  readonly storage_id?: string | undefined;
}

/** A part as the deployment that runs it. */
export interface CompiledPart {
  readonly name: string;
  /** The name of its deployment. */
  readonly deployment: string;
  /** The specification of its workload. */
  readonly spec: Partial<WorkloadSpec>;
  readonly env: StoredEnv;
  /** The ports of the host that are set for it; undefined: none. */
  readonly hostPorts: Readonly<Record<string, number>> | undefined;
  readonly replicas: number;
  readonly volumes: Readonly<Record<string, RequestedVolume>>;
  /** The ports that are reached from outside of the application, such as `8080/tcp`. */
  readonly published: readonly string[];
  /** The mounts whose volumes other parts mount as well. */
  readonly shared: readonly string[];
  readonly needs: Part['needs'];
  /** Of a job: how often it runs. */
  readonly run: Part['run'];
  /** The parts that are decided before it: those that it needs, whose addresses it has, or whose volume it shares. */
  readonly after: readonly string[];
}

interface Compiled {
  /** In an order in which each part comes after those that it needs. */
  readonly parts: readonly CompiledPart[];
  readonly problems: readonly FieldError[];
}

/** The longest name of a deployment. */
const MAX_NAME = 63;

/**
 * The parts of an application as deployments: texts are inserted, and other placeholders become references. The parts of an
 * application with problems are of no use. `idOf` is the id of the sealed value of a generated value.
 */
export function compile(requested: Requested, idOf: (generated: string) => string): Compiled {
  const { spec, name } = requested;
  const context: Context = {
    application: name,
    known: requested.known ?? new Map(),
    uses: requested.uses,
    parts: new Map(spec.parts.map((part) => [part.name, part])),
    inputs: inputValues(spec.inputs, requested.inputs),
    idOf,
  };
  const compiled = spec.parts.flatMap((part, index) =>
    isUsed(requested.uses, part.name) ? [] : [compilePart(context, requested, { part, index })],
  );
  const ordered = inOrder(compiled.map(({ part }) => part));
  return {
    parts: ordered ?? compiled.map(({ part }) => part),
    problems: [
      ...inputProblems(spec.inputs, requested.inputs),
      ...nameProblems(
        name,
        compiled.map(({ part }) => part),
      ),
      ...replicaProblems(requested),
      ...volumeProblems(requested),
      ...overrideProblems(spec, requested.overrides),
      ...useProblems(requested),
      ...compiled.flatMap(({ problems }) => problems),
      ...(ordered ? [] : [{ path: 'spec.parts', message: CYCLE }]),
    ],
  };
}

const CYCLE =
  'must not have parts that need each other, also by addresses: leave out one of the addresses, or make it an input';

function nameProblems(name: string, parts: readonly { readonly name: string }[]): FieldError[] {
  const longest = Math.max(0, ...parts.map((part) => part.name.length));
  const most = MAX_NAME - 1 - longest;
  if (name.length <= most) return [];
  return [
    {
      path: 'name',
      message: `must have at most ${most} characters, because the deployments are named after it and a part`,
    },
  ];
}

function replicaProblems({ spec, replicas }: Requested): FieldError[] {
  const parts = new Map(spec.parts.map((part) => [part.name, part]));
  const errors = Object.entries(replicas).flatMap(([name, count]): FieldError[] => {
    const part = parts.get(name);
    const path = `replicas.${name}`;
    if (!part) return [{ path, message: unknownPart([...parts.keys()]) }];
    if (part.scalable || count === 1) return [];
    return [{ path, message: 'must be 1, because the part is not made for several instances' }];
  });
  const total = spec.parts.reduce((sum, { name }) => sum + (replicas[name] ?? 1), 0);
  if (total <= MAX_INSTANCES) return errors;
  return [...errors, { path: 'replicas', message: `must be at most ${MAX_INSTANCES} in all, and are ${total}` }];
}

const unknownPart = (names: readonly string[]) => `is not a part of the application, which has ${names.join(', ')}`;

function volumeProblems({ spec, volumes, uses }: Requested): FieldError[] {
  const own = spec.parts.filter((part) => !isUsed(uses, part.name));
  const mounts = own.flatMap((part) => part.volume_mounts.map((mount) => `${part.name}/${mount.name}`));
  return Object.keys(volumes)
    .filter((mount) => !mounts.includes(mount))
    .map((mount) => ({
      path: `volumes.${mount}`,
      message: `is not a volume mount of the application, which has ${mounts.join(', ') || 'none'}`,
    }));
}

interface Context {
  readonly application: string;
  readonly known: ReadonlyMap<string, string>;
  readonly uses: Uses;
  readonly parts: ReadonlyMap<string, Part>;
  readonly inputs: ReturnType<typeof inputValues>;
  readonly idOf: (generated: string) => string;
}

/** The name of the deployment that runs a part, or serves instead of it. */
const deploymentOf = ({ application, known, uses }: Context, part: string): string =>
  (isUsed(uses, part) ? uses[part]?.deployment : known.get(part)) ?? `${application}-${part}`;

/** The value of a variable; its problem if it has one. */
type CompiledValue = StoredValue | { readonly problem: string };

interface CompiledWithProblems {
  readonly part: CompiledPart;
  readonly problems: readonly FieldError[];
}

function compilePart(
  context: Context,
  { replicas, volumes, overrides }: Requested,
  { part, index }: { readonly part: Part; readonly index: number },
): CompiledWithProblems {
  const problems: FieldError[] = [];
  const fixed: { name: string; value: string }[] = [];
  const specified: Record<string, StoredValue> = {};
  for (const [position, { name, value }] of part.env.entries()) {
    const pieces = applicationPieces(value) ?? [value];
    if (pieces.every((piece) => typeof piece === 'string')) {
      fixed.push({ name, value: pieces.join('') });
      continue;
    }
    const compiled: CompiledValue = grantsDevices(name)
      ? { problem: GRANTS_DEVICES }
      : valueOfPieces(context, part, pieces);
    if (typeof compiled === 'object' && 'problem' in compiled)
      problems.push({ path: `spec.parts.${index}.env.${position}.value`, message: compiled.problem });
    else specified[name] = compiled;
  }
  const members = structuredClone(pickDefined(part, workloadMembers));
  for (const { path, text } of textsOfPart(part).filter((each) => !each.path.startsWith('env.'))) {
    const inserted = insertedText(context, part, text);
    if (inserted === undefined) problems.push({ path: `spec.parts.${index}.${path}`, message: ONLY_TEXT });
    else setText(members, path, inserted);
  }
  const secretNames = [
    ...secretVariablesOf(part),
    ...Object.entries(specified).flatMap(([name, value]) => (isSecret(value) ? [name] : [])),
  ];
  const set = applyOverrides(overrides, part.name, {
    spec: { ...members, env: fixed },
    env: specified,
    secretNames,
  });
  problems.push(...set.problems);
  const { env } = set;
  const known = part.env_schema.filter(({ name }) => !Object.hasOwn(env, name));
  const declared = Object.entries(env).map(([name, value]) => ({
    name,
    required: false,
    default_value: '',
    description: isSecret(value) || secretNames.includes(name) ? SECRET_MARKER : '',
  }));
  const spec: Partial<WorkloadSpec> = {
    ...set.spec,
    env_schema: [...known, ...declared],
    ports: part.ports.map(({ publish: _, ...port }) => port),
    volume_mounts: part.volume_mounts.map(({ shared: __, ...mount }) => mount),
  };
  const shared = sharedMounts(context, part);
  return {
    problems,
    part: {
      name: part.name,
      deployment: deploymentOf(context, part.name),
      spec,
      env,
      hostPorts: set.hostPorts,
      replicas: replicas[part.name] ?? 1,
      volumes: volumesOf(part, volumes),
      published: portsOf({ ports: part.ports.filter(({ publish }) => publish) }).map(portKey),
      shared,
      needs: part.needs.filter((need) => !isUsed(context.uses, need.part)),
      run: part.run,
      after: [...new Set([...part.needs.map((need) => need.part), ...addressedParts(context, env)])].filter(
        (name) => name !== part.name && !isUsed(context.uses, name),
      ),
    },
  };
}

const ONLY_TEXT =
  'must not contain generated values, secrets and addresses, which everybody would see here: use a variable, which the program or its command reads';

/** Sets the text at a path such as `command.0`. */
function setText(target: object, path: string, text: string): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) Reflect.set(target, first, text);
  const next: unknown = Reflect.get(target, first);
  if (typeof next === 'object' && next !== null) setText(next, rest.join('.'), text);
}

/** A text such as that of a command; undefined if it needs more than texts. */
function insertedText(context: Context, part: Part, text: string): string | undefined {
  const value = valueOfPieces(context, part, applicationPieces(text) ?? [text]);
  return typeof value === 'string' ? value : undefined;
}

const isSecret = (value: StoredValue): boolean => {
  if (typeof value === 'string' || 'value' in value) return false;
  const references = 'compose' in value ? Object.values(value.with) : [value];
  return references.some((reference) => !('port' in reference));
};

/** A piece with the text or the reference for its placeholder. */
type Resolved = string | { readonly reference: StoredReference; readonly isEncoded: boolean };

function valueOfPieces(context: Context, part: Part, pieces: readonly ApplicationPiece[]): CompiledValue {
  const resolved: Resolved[] = [];
  for (const piece of pieces) {
    const next = typeof piece === 'string' ? piece : resolve(context, part, piece);
    if (typeof next === 'object' && 'problem' in next) return next;
    const last = resolved.at(-1);
    if (typeof next === 'string' && typeof last === 'string') resolved[resolved.length - 1] = last + next;
    else if (next !== '') resolved.push(next);
  }
  const [first = '', ...rest] = resolved;
  if (rest.length === 0 && typeof first === 'string') return first;
  if (rest.length === 0 && typeof first === 'object' && !first.isEncoded) return first.reference;
  return compositionOf(resolved);
}

/** A text with references, as decision 142 defines compositions. */
function compositionOf(resolved: readonly Resolved[]): CompiledValue {
  const names = new Map<string, string>();
  const references: Record<string, StoredReference> = {};
  const texts = resolved.map((piece, index) => {
    if (typeof piece === 'string') {
      const endsWithDollar = piece.endsWith('$') && index < resolved.length - 1;
      return endsWithDollar ? undefined : piece.replaceAll(`\${`, `$\${`);
    }
    const key = JSON.stringify(piece.reference);
    const name = names.get(key) ?? `v${names.size + 1}`;
    names.set(key, name);
    references[name] = piece.reference;
    return `\${${name}${piece.isEncoded ? '|url' : ''}}`;
  });
  if (texts.some((text) => text === undefined))
    return { problem: 'must not have a dollar sign directly before a value that is inserted' };
  return { compose: texts.join(''), with: references };
}

function resolve(
  context: Context,
  part: Part,
  { placeholder, isEncoded }: Exclude<ApplicationPiece, string>,
): Resolved | { readonly problem: string } {
  const found = valueOfPlaceholder(context, part, placeholder);
  if (typeof found === 'string') return encoded(found, isEncoded);
  return 'problem' in found ? found : { reference: found, isEncoded };
}

function valueOfPlaceholder(
  context: Context,
  part: Part,
  placeholder: Placeholder,
): string | StoredReference | { readonly problem: string } {
  const { application, inputs, idOf } = context;
  switch (placeholder.kind) {
    case 'input':
      return inputs.get(placeholder.name) ?? '';
    case 'generated':
      return { application, generated: placeholder.name, id: idOf(placeholder.name) };
    case 'application-name':
      return application;
    case 'own-url':
      return { deployment: deploymentOf(context, part.name), port: placeholder.port, as: 'url' };
    case 'host':
      return hostOf(context, placeholder.part);
    default: {
      const as = placeholder.kind === 'url' ? 'url' : 'host:port';
      return { ...portOf(context, placeholder.part, placeholder.port), as };
    }
  }
}

/** The host of a part is that of its first port. */
function hostOf(context: Context, part: string): StoredReference | { readonly problem: string } {
  const port = context.parts.get(part)?.ports[0]?.containerPort;
  if (port === undefined)
    return {
      problem: `must not contain the host of the part ${part}, which has no port: declare the port that is used`,
    };
  return { ...portOf(context, part, port), as: 'host' };
}

/** A port of what runs a part. */
const portOf = (context: Context, part: string, port: number) => ({
  deployment: deploymentOf(context, part),
  port: servedPort(context.uses, part, port),
});

/** The other parts whose addresses an environment has. */
function addressedParts(context: Context, env: StoredEnv): string[] {
  const addressed = Object.values(env).flatMap((value) => {
    if (typeof value === 'string') return [];
    const references = 'compose' in value ? Object.values(value.with) : [value];
    return references.flatMap((reference) =>
      'port' in reference && isAddress(reference) ? [reference.deployment] : [],
    );
  });
  return [...context.parts.keys()].filter((name) => addressed.includes(deploymentOf(context, name)));
}

/** The mounts of a part that another part has with the same name, and that both share. */
const sharedMounts = ({ parts }: Context, part: Part): string[] =>
  sharedNames(part).filter((mount) =>
    [...parts.values()].some((other) => other.name !== part.name && sharedNames(other).includes(mount)),
  );

const sharedNames = ({ volume_mounts }: Part): string[] =>
  volume_mounts.filter(({ shared }) => shared).map(({ name }) => name);

function volumesOf({ name, volume_mounts }: Part, volumes: Requested['volumes']) {
  return Object.fromEntries(
    volume_mounts.flatMap((mount) => {
      const requested = volumes[`${name}/${mount.name}`];
      return requested === undefined ? [] : [[mount.name, requested]];
    }),
  );
}

/** The parts, each after those in `after`, otherwise as they are listed; undefined if some are after each other. */
function inOrder(parts: readonly CompiledPart[]): CompiledPart[] | undefined {
  const ordered: CompiledPart[] = [];
  const left = new Map(parts.map((part) => [part.name, part]));
  while (left.size > 0) {
    const next = [...left.values()].find(({ after }) => !after.some((name) => left.has(name)));
    if (!next) return undefined;
    left.delete(next.name);
    ordered.push(next);
  }
  return ordered;
}
