import type { Application, ApplicationPart, Description, PartPort } from '../application.ts';
import type { Entry } from '../report.ts';
import { withImagePorts, withUsedPorts } from './addresses.ts';
import { Conversion, childOf, type Key, type ReadPieces, Refused } from './context.ts';
import { isNamedIn, withPartNames } from './hosts.ts';
import { conflictOfPlaces, sourceOf, type Volumes } from './mounts.ts';
import { refuseUnknown } from './ports.ts';
import { nested, type PartDraft, type Rule, sentence } from './rules.ts';
import { withSecretInputs } from './secrets.ts';
import { SERVICE } from './service.ts';
import { type MapNode, memberText, readTree, type Tree, type TreeOptions, Unreadable } from './tree.ts';
import { piecesIn } from './variables.ts';

/** A file, and what it refers to. */
export interface SourceFile {
  /** The name of the file in the report. */
  readonly file: string;
  readonly text: string;
  /** The content of the files beside it, by their paths; undefined: they are not converted. */
  readonly files?: ReadonlyMap<string, string>;
  /** The name of the application, unless the file states one. */
  readonly name: string;
}

export interface Converted {
  /** Undefined if a key is refused. */
  readonly application: Application | undefined;
  /** What becomes of each key, in the order of the lines. */
  readonly report: readonly Entry[];
}

/** The maximum size of a file in characters. */
export const MAX_FILE = 262_144;
// Those of an application.
const MAX_PARTS = 32;
const MAX_INPUTS = 64;
const MAX_GENERATED = 32;
const MAX_APPLICATION = 512 * 1024;

/** How a kind of file with services differs from Compose. */
export interface Dialect {
  readonly pieces: ReadPieces;
  /** The rules of members of a service that are not those of Compose. */
  readonly service?: Readonly<Record<string, Rule>>;
  /** The rule of members of a service that have no rule; by default, they are refused. */
  readonly unknown?: Rule;
  /** The fates of members beside `services` that are not those of Compose. */
  readonly beside?: Readonly<Record<string, (key: Key, conversion: Conversion) => void>>;
  readonly volumes?: Pick<Volumes, 'folderBeside' | 'hasContent'>;
  /** The name of the part of a service, before it becomes a DNS label. */
  readonly partName?: (service: string) => string;
  /** Whether programs of other files reach each port of a service by its name. */
  readonly isReachedByOthers?: boolean;
  /** Completes a part whose members are converted. */
  readonly complete?: (service: Key, draft: PartDraft, conversion: Conversion) => void;
  /** What the file says for a catalog. */
  readonly description?: Description & { readonly name?: string };
}

/** A key of the whole file. */
export const whole = (line: number): Key => ({
  part: null,
  path: [],
  tree: { kind: 'text', line, text: '', isNull: true },
});

/** The content of a file; undefined if it cannot be read, which is refused. */
export function treeIn(
  conversion: Conversion,
  text: string,
  { characters = MAX_FILE, ...options }: { readonly characters?: number } & TreeOptions = {},
): Tree | undefined {
  if (text.length > characters) {
    conversion.refuse(whole(1), `The file has more than ${characters} characters.`);
    return undefined;
  }
  try {
    return readTree(text, options);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    conversion.refuse(whole(error.line), `The file cannot be read: ${error.message}.`);
    return undefined;
  }
}

/** Converts a Compose file to an application. Nothing of it is read or changed outside of the arguments. */
export function convertCompose(source: SourceFile): Converted {
  const conversion = new Conversion(source.file, (text) => piecesIn(text));
  const tree = treeIn(conversion, source.text);
  return converted(conversion, tree && convertServices(conversion, tree, source, { pieces: conversion.pieces }));
}

/** The result of a conversion: a refused file has no application. */
export function converted(conversion: Conversion, application: Application | undefined): Converted {
  const report = conversion.entries;
  return { application: report.some((entry) => entry.class === 'refused') ? undefined : application, report };
}

/** Converts a file with services; undefined if it has none, or too many. */
export function convertServices(
  conversion: Conversion,
  tree: Tree,
  { files, name }: Pick<SourceFile, 'files' | 'name'>,
  dialect: Dialect,
): Application | undefined {
  const root: Key = { part: null, path: [], tree };
  const services = tree.kind === 'map' ? tree.entries.get('services') : undefined;
  if (tree.kind !== 'map' || services?.kind !== 'map' || services.entries.size === 0) {
    conversion.refuse(whole(1), 'The file has no services.');
    return undefined;
  }
  const key = childOf(root, 'services', services);
  if (services.entries.size > MAX_PARTS) {
    conversion.refuse(key, `It has more than ${MAX_PARTS} services.`);
    return undefined;
  }
  const stated = topLevel(conversion, root, tree, dialect);
  const parts = partsOf(conversion, services, files, dialect);
  const cycle = cycleIn(parts);
  if (cycle) conversion.refuse(key, `The services ${cycle.join(', ')} wait for each other.`);
  const { name: described, ...description } = dialect.description ?? {};
  const application = applicationOf(conversion, key, { name: described ?? stated ?? name, description, parts });
  for (const leaf of leavesOf(root)) {
    if (!conversion.hasFate(leaf)) conversion.refuse(leaf, 'This value has no meaning here.');
  }
  return application;
}

/** The application with these parts. What exceeds its bounds is refused at the key. */
export function applicationOf(
  conversion: Conversion,
  key: Key,
  given: {
    readonly name: string;
    readonly description?: Description;
    readonly parts: readonly ApplicationPart[];
  },
): Application {
  const { name, description } = given;
  const parts = withSecretInputs(conversion, given.parts);
  const { inputs, generated } = conversion;
  if (inputs.length > MAX_INPUTS) conversion.refuse(key, `It has more than ${MAX_INPUTS} variables.`);
  if (generated.length > MAX_GENERATED) conversion.refuse(key, `It has more than ${MAX_GENERATED} generated values.`);
  const application: Application = {
    name,
    slug: labelOf(name, 'application'),
    ...description,
    inputs,
    ...(generated.length > 0 && { generated }),
    parts,
  };
  if (JSON.stringify(parts).length > MAX_APPLICATION)
    conversion.refuse(key, `The application has more than ${MAX_APPLICATION} characters.`);
  return application;
}

const MAX_LABEL = 40;

/** A DNS label of at most 40 characters for a name. */
export const labelOf = (name: string, otherwise: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, MAX_LABEL)
    .replace(/-$/, '') || otherwise;

/** The fates of the members beside `services`. @returns the name that the file states */
function topLevel(
  conversion: Conversion,
  root: Key,
  { entries }: MapNode,
  { beside = {} }: Dialect,
): string | undefined {
  let name: string | undefined;
  for (const [member, tree] of entries) {
    const key = childOf(root, member, tree);
    if (member === 'services') continue;
    const own = Object.hasOwn(beside, member) ? beside[member] : undefined;
    if (own) {
      own(key, conversion);
      continue;
    }
    if (member === 'name' && tree.kind === 'text') {
      name = tree.text;
      conversion.same(key);
    } else if (member === 'version' || member === 'name') conversion.harmless(key, 'project');
    else if (member === 'networks') eachOf(conversion, key, (child) => networkFate(conversion, child));
    else if (member === 'volumes') eachOf(conversion, key, (child) => volumeFate(conversion, child));
    else if (member.startsWith('x-')) conversion.harmless(key, 'extension');
    else if (member === 'secrets' || member === 'configs')
      conversion.refuse(key, 'Files of the whole project are not converted.');
    else if (member === 'include') conversion.refuse(key, 'Put the included files into this one.');
    else conversion.refuse(key, 'This member is not known.');
  }
  return name;
}

function eachOf(conversion: Conversion, key: Key, convert: (child: Key) => void): void {
  if (isEmpty(key.tree)) conversion.same(key);
  if (key.tree.kind !== 'map') return;
  for (const [name, tree] of key.tree.entries) convert(childOf(key, name, tree));
}

const isEmpty = (tree: Tree): boolean =>
  tree.kind === 'text' ? tree.isNull : (tree.kind === 'list' ? tree.items.length : tree.entries.size) === 0;

const isTrue = (tree: Tree | undefined): boolean =>
  tree !== undefined && !(tree.kind === 'text' && ['false', ''].includes(tree.text));

function networkFate(conversion: Conversion, key: Key): void {
  const entries = key.tree.kind === 'map' ? key.tree.entries : undefined;
  if (isTrue(entries?.get('external')))
    conversion.note(
      key,
      'The file shares this network with others. The parts reach only each other, and what publishes its ports.',
    );
  else conversion.harmless(key, 'default_network');
}

function volumeFate(conversion: Conversion, key: Key): void {
  const entries = key.tree.kind === 'map' ? key.tree.entries : undefined;
  if (isTrue(entries?.get('external')))
    conversion.note(key, 'The volume exists already. Choose it when the application is deployed.');
  else if (entries?.get('driver_opts'))
    conversion.refuse(key, 'The options of its driver can mount anything of the host.');
  else {
    refuseUnknown(conversion, key, ['external', 'name', 'driver', 'labels']);
    conversion.harmless(key, 'volume');
  }
}

function partsOf(
  conversion: Conversion,
  services: MapNode,
  files: ReadonlyMap<string, string> | undefined,
  dialect: Dialect,
): readonly ApplicationPart[] {
  const { partName = (service) => service, service: own = {}, complete } = dialect;
  const rules = { ...SERVICE, ...own };
  const names = new Map([...services.entries.keys()].map((service) => [service, labelOf(partName(service), 'part')]));
  const partOf = (service: string): string => {
    const part = names.get(service);
    if (part === undefined) throw new Refused(`names the service ${service}, which does not exist`);
    return part;
  };
  const shared = sharedVolumes(conversion, services);
  const awaited = awaitedServices(services);
  const volumes: Volumes = { ...dialect.volumes, files, isShared: (source) => shared.has(source) };
  const renamed = new Map<string, { readonly self: Key; readonly name: string }>();
  const selves = new Map<string, Key>();
  const parts = [...services.entries].map(([service, tree]): ApplicationPart => {
    const key: Key = { part: service, path: [], tree: withHealthLast(tree) };
    const isJob = awaited.has(service) || (rules.restart === SERVICE.restart && runsOnce(tree));
    const draft: PartDraft = isJob ? { kind: 'job' } : {};
    try {
      nested(key, draft, { conversion, partOf, volumes, isJob }, rules, dialect.unknown);
      complete?.(key, draft, conversion);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse({ ...key, path: [service] }, sentence(error));
    }
    const name = partOf(service);
    const self: Key = {
      part: service,
      path: ['(name)'],
      tree: { kind: 'text', line: tree.line, text: service, isNull: false },
    };
    selves.set(name, self);
    if ([...names.values()].filter((each) => each === name).length > 1)
      conversion.refuse(self, `Several services would have the name ${name}.`);
    else if (name === 'localhost') conversion.refuse(self, 'A part cannot have the name localhost.');
    else if (name !== partName(service)) renamed.set(service, { self, name });
    if (
      draft.image_name === undefined &&
      tree.kind === 'map' &&
      !tree.entries.has('image') &&
      !tree.entries.has('build')
    )
      conversion.refuse(self, 'The service has no image.');
    const conflict = conflictOfPlaces(draft);
    if (conflict !== undefined) conversion.refuse({ ...self, path: ['(places)'] }, conflict);
    const ports = draft.ports && withoutExposed(draft.ports);
    return { ...draft, ...(ports && { ports }), name, image_name: draft.image_name ?? '' };
  });
  const corrected = withPartNames(parts, new Map([...renamed].map(([service, { name }]) => [service, name])));
  for (const [service, { self, name }] of renamed) {
    if (isNamedIn(corrected, service))
      conversion.note(self, `The part is named ${name}. Correct values that contain ${service}.`);
    else conversion.harmless(self, 'part_name');
  }
  const addressed = withUsedPorts(corrected, conversion.inputs);
  const reached = dialect.isReachedByOthers ? withImagePorts(addressed.parts) : undefined;
  for (const [part, self] of selves) {
    const ports = { ...self, path: ['(ports)'] };
    if (addressed.unknown.includes(part)) conversion.refuse(ports, NO_PORT);
    else if (addressed.completed.includes(part)) conversion.harmless(ports, 'used_port');
    else if (reached?.completed.includes(part)) conversion.harmless(ports, 'image_port');
    else if (reached?.unknown.includes(part)) conversion.note(ports, NO_PORT_FOR_OTHERS);
  }
  return reached?.parts ?? addressed.parts;
}

const NO_PORT = 'Other services use its address, but no port of it is known: state the port in expose.';

const NO_PORT_FOR_OTHERS =
  'The platform lets other programs reach each port of this service by its name. Add its port if others connect to it.';

/** Whether a service is not started again when it ends, and nothing expects that it runs. */
const runsOnce = (service: Tree): boolean =>
  service.kind === 'map' &&
  memberText(service, 'restart') === 'no' &&
  !['ports', 'expose', 'healthcheck'].some((member) => service.entries.has(member));

/** The service with its health check after the variables, which the command of the check can use. */
function withHealthLast(tree: Tree): Tree {
  const check = tree.kind === 'map' ? tree.entries.get('healthcheck') : undefined;
  if (tree.kind !== 'map' || !check) return tree;
  const others = [...tree.entries].filter(([member]) => member !== 'healthcheck');
  return { ...tree, entries: new Map([...others, ['healthcheck', check]]) };
}

/** Parts that wait for each other; undefined if there are none. */
function cycleIn(parts: readonly ApplicationPart[]): readonly string[] | undefined {
  let waiting = parts.map(({ name, needs = [] }) => ({ name, needs: needs.map(({ part }) => part) }));
  for (let before = waiting.length + 1; waiting.length < before; ) {
    before = waiting.length;
    const names = new Set(waiting.map(({ name }) => name));
    waiting = waiting.filter(({ needs }) => needs.some((need) => names.has(need)));
  }
  return waiting.length > 0 ? waiting.map(({ name }) => name) : undefined;
}

/** The ports without those that are published as well. */
const withoutExposed = (ports: readonly PartPort[]): PartPort[] =>
  ports.filter(
    (port, index) =>
      !ports.some(
        (other, place) =>
          other.containerPort === port.containerPort &&
          other.protocol === port.protocol &&
          (other.publish === port.publish ? place < index : other.publish === true),
      ),
  );

/** The volumes and folders that several services mount. */
function sharedVolumes(conversion: Conversion, services: MapNode): Set<string> {
  const users = new Map<string, number>();
  for (const [name, service] of services.entries) {
    const volumes = service.kind === 'map' ? service.entries.get('volumes') : undefined;
    const items = volumes?.kind === 'list' ? volumes.items : [];
    for (const source of new Set(items.map((item) => sourceOf(conversion, name, item))))
      users.set(source, (users.get(source) ?? 0) + 1);
  }
  return new Set([...users].filter(([source, count]) => source !== '' && count > 1).map(([source]) => source));
}

/** The services of which others wait until they have finished. */
function awaitedServices(services: MapNode): Set<string> {
  const awaited = new Set<string>();
  for (const service of services.entries.values()) {
    const needs = service.kind === 'map' ? service.entries.get('depends_on') : undefined;
    if (needs?.kind !== 'map') continue;
    for (const [name, need] of needs.entries) {
      const condition = need.kind === 'map' ? need.entries.get('condition') : undefined;
      if (condition?.kind === 'text' && condition.text === 'service_completed_successfully') awaited.add(name);
    }
  }
  return awaited;
}

/** All values of the file, with the service to which they belong. */
function* leavesOf({ part, path, tree }: Key): Generator<Key> {
  const [first, service, ...rest] = path;
  const isService = part === null && first === 'services' && service !== undefined;
  const key: Key = isService ? { part: service, path: rest, tree } : { part, path, tree };
  if (tree.kind === 'text' || isEmpty(tree)) {
    if (key.path.length > 0) yield key;
    return;
  }
  const children = tree.kind === 'list' ? tree.items.map((item, index) => [index, item] as const) : tree.entries;
  for (const [name, child] of children) yield* leavesOf({ part, path: [...path, String(name)], tree: child });
}
