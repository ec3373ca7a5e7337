import type { Application, Description } from '../application.ts';
import {
  applicationOf,
  type Converted,
  convertServices,
  labelOf,
  type SourceFile,
  treeIn,
  whole,
} from '../compose/compose.ts';
import { Conversion, childOf, type Key, type Piece, Refused, type Variable } from '../compose/context.ts';
import { mountedFrom } from '../compose/mounts.ts';
import { refuseUnknown } from '../compose/ports.ts';
import {
  drop,
  each,
  nested,
  type PartDraft,
  type Rule,
  refuseUnlessOff,
  type ServiceContext,
  same,
  text,
} from '../compose/rules.ts';
import { addMounted, addVariable, ROOT, SERVICE } from '../compose/service.ts';
import { type MapNode, memberText, type Tree } from '../compose/tree.ts';
import { fateOf, piecesIn } from '../compose/variables.ts';
import type { Entry } from '../report.ts';
import { isSecretName } from '../secret-names.ts';

/** A template of a list. */
export interface PortainerTemplate extends Converted {
  readonly title: string;
}

export interface ConvertedList {
  readonly templates: readonly PortainerTemplate[];
  /** What becomes of the members of the list itself. */
  readonly report: readonly Entry[];
}

/** The maximum size of a list in characters. */
export const MAX_PORTAINER_LIST = 2_097_152;
const MAX_TEMPLATES = 1000;
const MAX_VALUES = 200_000;

/** Converts the templates of a list of Portainer, version 2 or 3. Texts of stacks are among the files beside it. */
export function convertPortainer({ file, text: content, files }: SourceFile): ConvertedList {
  const conversion = new Conversion(file, (value) => [value]);
  const failed = () => ({ templates: [], report: conversion.entries });
  const tree = treeIn(conversion, content, {
    characters: MAX_PORTAINER_LIST,
    values: MAX_VALUES,
    texts: 2 * MAX_PORTAINER_LIST,
  });
  if (!tree) return failed();
  const list = tree.kind === 'map' ? tree.entries.get('templates') : undefined;
  if (tree.kind !== 'map' || list?.kind !== 'list') {
    conversion.refuse(whole(1), 'The file has no list of templates: it must have the members version and templates.');
    return failed();
  }
  const root: Key = { part: null, path: [], tree };
  for (const [member, value] of tree.entries) {
    const key = childOf(root, member, value);
    if (member === 'version') {
      if (['2', '3'].includes(memberText(tree, 'version'))) conversion.harmless(key, 'project');
      else conversion.refuse(key, 'It must be 2 or 3. Other versions have another form.');
    } else if (member !== 'templates') refuseUnknown(conversion, { ...root, tree: only(tree, member, value) }, []);
  }
  if (list.items.length > MAX_TEMPLATES)
    conversion.refuse(childOf(root, 'templates', list), `It has more than ${MAX_TEMPLATES} templates.`);
  if (conversion.entries.some((entry) => entry.class === 'refused')) return failed();
  const key = childOf(root, 'templates', list);
  return {
    templates: list.items.map((item, index) => templateOf(file, childOf(key, index, item), files)),
    report: conversion.entries,
  };
}

const only = (map: MapNode, name: string, tree: Tree): MapNode => ({ ...map, entries: new Map([[name, tree]]) });

/** The members that describe a template for a catalog. */
export const DESCRIPTION: Readonly<Record<string, Rule>> = {
  type: same,
  title: same,
  description: same,
  note: same,
  categories: same,
  name: drop('container_name'),
  id: drop('catalog'),
  maintainer: drop('catalog'),
  logo: drop('catalog'),
  administrator_only: drop('catalog'),
  platform: (key, _, { conversion }) => {
    if (text(key) === 'windows') throw new Refused('needs Windows, which a fleet does not have');
    conversion.same(key);
  },
};

function templateOf(file: string, key: Key, files: ReadonlyMap<string, string> | undefined): PortainerTemplate {
  const { tree } = key;
  const title = memberText(tree, 'title') || memberText(tree, 'name');
  const conversion = new Conversion(file, (value) => [value]);
  const finished = (application: Application | undefined, others: readonly Entry[] = []): PortainerTemplate => {
    const report = [...conversion.entries, ...others];
    return { title, application: report.some((entry) => entry.class === 'refused') ? undefined : application, report };
  };
  if (tree.kind !== 'map' || title === '') {
    conversion.refuse(key, 'It must be a template with a title.');
    return finished(undefined);
  }
  const context: ServiceContext = {
    conversion,
    volumes: { files: undefined, isShared: () => false },
    partOf: (service) => service,
    isJob: false,
  };
  const type = memberText(tree, 'type');
  const description = descriptionIn(tree);
  if (type === '1') {
    const draft: PartDraft = {};
    nested(key, draft, context, { ...DESCRIPTION, ...CONTAINER });
    if (draft.image_name === undefined && !tree.entries.has('image')) conversion.refuse(key, 'It has no image.');
    const name = labelOf(memberText(tree, 'name') || title, 'part');
    const part = { ...draft, name, image_name: draft.image_name ?? '' };
    return finished(applicationOf(conversion, key, { name: title, description, parts: [part] }));
  }
  if (type !== '2' && type !== '3') {
    conversion.refuse(
      key,
      'It is a template for Kubernetes or of an unknown type. Only containers and stacks are converted.',
    );
    return finished(undefined);
  }
  nested(key, {}, context, { ...UNUSED_BY_STACKS, ...DESCRIPTION, env: stackVariables, repository });
  const stack = memberText(tree.entries.get('repository') ?? tree, 'stackfile');
  const url = memberText(tree.entries.get('repository') ?? tree, 'url');
  const content = files?.get(`${repositoryIn(url)}/${stack}`) ?? files?.get(stack);
  if (stack === '' || content === undefined) {
    const where = 'The file of the stack is not here: convert the list with its files, or that file as a Compose file.';
    conversion.refuse(childOf(key, '(stack)', { kind: 'text', line: tree.line, text: stack, isNull: false }), where);
    return finished(undefined);
  }
  const variables = variablesIn(tree.entries.get('env'));
  const pieces = (value: string) => piecesIn(value, { read: (name) => variables.get(name) });
  const ofStack = new Conversion(stack, pieces);
  const stackTree = treeIn(ofStack, content);
  const application =
    stackTree &&
    convertServices(ofStack, stackTree, { name: title }, { pieces, description: { name: title, ...description } });
  return finished(application, ofStack.entries);
}

/** The owner and the name of a repository in its address. */
const repositoryIn = (url: string): string =>
  url
    .split('/')
    .slice(3, 5)
    .join('/')
    .replace(/\.git$/, '');

const MAX_DESCRIPTION = 4000;

function descriptionIn(tree: MapNode): Description {
  const description = memberText(tree, 'description').trim().slice(0, MAX_DESCRIPTION);
  const documentation = memberText(tree, 'note').trim();
  const categories = tree.entries.get('categories');
  const [first] = categories?.kind === 'list' ? categories.items : [];
  const category = first?.kind === 'text' ? labelOf(first.text, '') : '';
  return {
    ...(description !== '' && { description }),
    ...(documentation !== '' && { documentation }),
    ...(/^[a-z]/.test(category) && { category }),
  };
}

/** The value of a variable of a template: fixed, or what a person enters. */
function pieceOf(tree: Tree): Piece {
  const name = memberText(tree, 'name');
  const fixed = memberText(tree, 'set');
  const stated = tree.kind === 'map' ? tree.entries.get('default') : undefined;
  const fallback = stated?.kind === 'text' && !stated.isNull ? stated.text : undefined;
  if (fixed !== '') return fixed;
  if (memberText(tree, 'preset') === 'true') return fallback ?? '';
  const select = tree.kind === 'map' ? tree.entries.get('select') : undefined;
  const options = select?.kind === 'list' ? select.items : [];
  const choices = [...new Set(options.map((option) => memberText(option, 'value')))];
  const chosen = options.find((option) => memberText(option, 'default') === 'true') ?? options[0];
  const variable: Variable = {
    kind: 'variable',
    variable: name,
    label: memberText(tree, 'label') || name,
    fallback: chosen ? memberText(chosen, 'value') : fallback,
    isRequired: isSecretName(name) && fallback === undefined,
  };
  return choices.length > 0 ? { ...variable, choices, isSecret: false } : variable;
}

const variablesIn = (env: Tree | undefined): ReadonlyMap<string, Piece> =>
  new Map(env?.kind === 'list' ? env.items.map((item) => [memberText(item, 'name'), pieceOf(item)]) : []);

const VARIABLE_MEMBERS = ['name', 'label', 'description', 'default', 'preset', 'select', 'set', 'type'];

/** Records the fate of a variable, and adds it to the part of a container. */
const variable =
  (isAdded: boolean): Rule =>
  (key, draft, context) =>
    each(key, context, (child) => {
      const name = memberText(child.tree, 'name');
      if (name === '') throw new Refused('must have a name');
      refuseUnknown(context.conversion, child, VARIABLE_MEMBERS);
      const piece = pieceOf(child.tree);
      if (memberText(child.tree, 'type') === 'container')
        context.conversion.note(
          child,
          'The value is the name of another container. Enter the address of its deployment.',
        );
      else if (isAdded) return addVariable(child, draft, context, { name, pieces: piece === '' ? [] : [piece] });
      else fateOf(context.conversion, child, [piece]);
      if (isAdded) draft.env = [...(draft.env ?? []), { name, value: '' }];
    });

const stackVariables = variable(false);

const volumes: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    if (child.tree.kind === 'text')
      return addMounted(draft, mountedFrom(context.conversion, child, volumeAt(text(child)), context.volumes));
    refuseUnknown(context.conversion, child, ['container', 'bind', 'readonly', 'type']);
    const source = memberText(child.tree, 'bind').trim();
    const target = memberText(child.tree, 'container');
    const requested = {
      type: /^[./~]/.test(source) ? 'bind' : 'volume',
      source,
      target: target.replace(/:ro$/, ''),
      isReadOnly: memberText(child.tree, 'readonly') === 'true' || target.endsWith(':ro'),
    };
    addMounted(draft, mountedFrom(context.conversion, child, requested, context.volumes));
  });

const volumeAt = (target: string) => ({ type: 'volume', source: '', target, isReadOnly: false });

const network: Rule = (key, _, { conversion }) => {
  const name = text(key);
  if (name === 'host') conversion.refuse(key, ROOT);
  else if (['', 'bridge'].includes(name)) conversion.harmless(key, 'default_network');
  else
    conversion.note(
      key,
      'The file shares this network with others. The parts reach only each other, and what publishes its ports.',
    );
};

/** The rules of the members of a container. */
export const CONTAINER: Readonly<Record<string, Rule>> = {
  image: SERVICE.image,
  registry: (key, draft, { conversion }) => {
    const registry = text(key);
    if (registry !== '' && registry !== 'docker.io') draft.registry_url = registry;
    conversion.same(key);
  },
  command: SERVICE.command,
  ports: SERVICE.ports,
  env: variable(true),
  volumes,
  labels: drop('annotations'),
  network,
  hostname: drop('container_name'),
  interactive: drop('interactive'),
  privileged: refuseUnlessOff(ROOT),
  devices: SERVICE.devices,
  restart_policy: SERVICE.restart,
  repository: drop('platform'),
  stackfile: drop('platform'),
};

/** Members of containers, which Portainer does not use for stacks. */
const UNUSED_BY_STACKS = Object.fromEntries(Object.keys(CONTAINER).map((member) => [member, drop('platform')]));

const repository: Rule = (key, _, { conversion }) => {
  refuseUnknown(conversion, key, ['url', 'stackfile']);
  conversion.same(key);
};
