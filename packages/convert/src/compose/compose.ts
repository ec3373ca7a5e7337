import type { Application, ApplicationPart, PartPort } from '../application.ts';
import type { Entry } from '../report.ts';
import { Conversion, childOf, type Key, Refused } from './context.ts';
import { refuseUnknown } from './ports.ts';
import { nested, type PartDraft, SERVICE, sentence } from './service.ts';
import { type MapNode, readTree, type Tree, Unreadable } from './tree.ts';

/** A Compose file, and what it refers to. */
export interface ComposeFile {
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

/** The maximum size of a file in characters, and of its services. */
export const MAX_FILE = 262_144;
const MAX_PARTS = 32;

/** Converts a Compose file to an application. Nothing of it is read or changed outside of the arguments. */
export function convertCompose({ file, text, files, name }: ComposeFile): Converted {
  const conversion = new Conversion(file);
  const whole = (line: number): Key => ({ part: null, path: [], tree: { kind: 'text', line, text: '', isNull: true } });
  if (text.length > MAX_FILE) {
    conversion.refuse(whole(1), `The file has more than ${MAX_FILE} characters.`);
    return { application: undefined, report: conversion.entries };
  }
  let tree: Tree;
  try {
    tree = readTree(text);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    conversion.refuse(whole(error.line), `The file cannot be read: ${error.message}.`);
    return { application: undefined, report: conversion.entries };
  }
  const root: Key = { part: null, path: [], tree };
  const services = tree.kind === 'map' ? tree.entries.get('services') : undefined;
  if (tree.kind !== 'map' || services?.kind !== 'map' || services.entries.size === 0) {
    conversion.refuse(whole(1), 'The file has no services.');
    return { application: undefined, report: conversion.entries };
  }
  if (services.entries.size > MAX_PARTS)
    conversion.refuse(childOf(root, 'services', services), `It has more than ${MAX_PARTS} services.`);
  const title = topLevel(conversion, root, tree) ?? name;
  const parts = partsOf(conversion, services, files);
  const cycle = cycleIn(parts);
  if (cycle)
    conversion.refuse(childOf(root, 'services', services), `The services ${cycle.join(', ')} wait for each other.`);
  for (const key of leavesOf(root)) {
    if (!conversion.hasFate(key)) conversion.refuse(key, 'This value has no meaning here.');
  }
  const report = conversion.entries;
  const isRefused = report.some((entry) => entry.class === 'refused');
  const application = { name: title, slug: labelOf(title), inputs: conversion.inputs, parts };
  return { application: isRefused ? undefined : application, report };
}

const labelOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '') || 'application';

/** The fates of the members beside `services`. @returns the name that the file states */
function topLevel(conversion: Conversion, root: Key, { entries }: MapNode): string | undefined {
  let name: string | undefined;
  for (const [member, tree] of entries) {
    const key = childOf(root, member, tree);
    if (member === 'services') continue;
    if (member === 'name' && tree.kind === 'text') {
      name = tree.text;
      conversion.same(key);
    } else if (member === 'version' || member === 'name') conversion.harmless(key, 'project');
    else if (member === 'networks') eachOf(key, (child) => networkFate(conversion, child));
    else if (member === 'volumes') eachOf(key, (child) => volumeFate(conversion, child));
    else if (member.startsWith('x-')) conversion.harmless(key, 'extension');
    else if (member === 'secrets' || member === 'configs')
      conversion.refuse(key, 'Files of the whole project are not converted.');
    else if (member === 'include') conversion.refuse(key, 'Put the included files into this one.');
    else conversion.refuse(key, 'This member is not known.');
  }
  return name;
}

function eachOf(key: Key, convert: (child: Key) => void): void {
  if (key.tree.kind !== 'map') return;
  for (const [name, tree] of key.tree.entries) convert(childOf(key, name, tree));
}

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

const MAX_PART_NAME = 40;

/** The name of a part, which is a DNS label. */
const partNameOf = (service: string): string =>
  service
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_PART_NAME)
    .replace(/^-|-$/g, '') || 'part';

function partsOf(
  conversion: Conversion,
  services: MapNode,
  files: ReadonlyMap<string, string> | undefined,
): ApplicationPart[] {
  const names = new Map([...services.entries.keys()].map((service) => [service, partNameOf(service)]));
  const partOf = (service: string): string => {
    const part = names.get(service);
    if (part === undefined) throw new Refused(`names the service ${service}, which does not exist`);
    return part;
  };
  const shared = sharedVolumes(services);
  const awaited = awaitedServices(services);
  return [...services.entries].map(([service, tree]): ApplicationPart => {
    const key: Key = { part: service, path: [], tree };
    const draft: PartDraft = awaited.has(service) ? { kind: 'job' } : {};
    const context = {
      conversion,
      partOf,
      volumes: { files, isShared: (name: string) => shared.has(name) },
      isAwaited: awaited.has(service),
    };
    try {
      nested(key, draft, context, SERVICE);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse({ ...key, path: [service] }, sentence(error));
    }
    const name = partOf(service);
    const self = {
      part: service,
      path: ['(name)'],
      tree: { kind: 'text' as const, line: tree.line, text: service, isNull: false },
    };
    if ([...names.values()].filter((each) => each === name).length > 1)
      conversion.refuse(self, `Several services would have the name ${name}.`);
    else if (name !== service)
      conversion.note(self, `The part is named ${name}. Correct values of other parts that contain ${service}.`);
    if (
      draft.image_name === undefined &&
      tree.kind === 'map' &&
      !tree.entries.has('image') &&
      !tree.entries.has('build')
    )
      conversion.refuse(self, 'The service has no image.');
    const ports = draft.ports && withoutExposed(draft.ports);
    return { ...draft, ...(ports && { ports }), name, image_name: draft.image_name ?? '' };
  });
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

/** The named volumes that several services mount. */
function sharedVolumes(services: MapNode): Set<string> {
  const users = new Map<string, number>();
  for (const service of services.entries.values()) {
    const volumes = service.kind === 'map' ? service.entries.get('volumes') : undefined;
    const items = volumes?.kind === 'list' ? volumes.items : [];
    for (const name of new Set(items.map(sourceOf))) users.set(name, (users.get(name) ?? 0) + 1);
  }
  return new Set([...users].filter(([name, count]) => name !== '' && count > 1).map(([name]) => name));
}

function sourceOf(item: Tree): string {
  if (item.kind === 'text') return item.text.includes(':') ? (item.text.split(':')[0] ?? '') : '';
  const source = item.kind === 'map' ? item.entries.get('source') : undefined;
  return source?.kind === 'text' ? source.text : '';
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
  if (tree.kind === 'text' || (tree.kind === 'list' ? tree.items.length : tree.entries.size) === 0) {
    if (key.path.length > 0) yield key;
    return;
  }
  const children = tree.kind === 'list' ? tree.items.map((item, index) => [index, item] as const) : tree.entries;
  for (const [name, child] of children) yield* leavesOf({ part, path: [...path, String(name)], tree: child });
}
