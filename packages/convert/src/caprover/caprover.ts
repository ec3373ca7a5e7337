import type { Description } from '../application.ts';
import { type Converted, converted, convertServices, labelOf, type SourceFile, treeIn } from '../compose/compose.ts';
import { Conversion, childOf, type Key, Refused } from '../compose/context.ts';
import { drop, nested, type PartDraft, plain, type Rule, type ServiceContext, same } from '../compose/rules.ts';
import { environmentWith, SERVICE } from '../compose/service.ts';
import { memberText, type Tree, textsIn } from '../compose/tree.ts';
import { dockerfileLines } from './dockerfile.ts';
import { type Declared, partNameOf, reportVariable, Variables } from './variables.ts';

/** The maximum number of variables of a file. */
const MAX_VARIABLES = 64;

/** Members of a service that CapRover uses. It ignores all others. */
const USED = ['image', 'environment', 'ports', 'volumes', 'depends_on', 'hostname', 'command', 'cap_add'];
/** Members that it ignores, and that change nothing if a fleet ignores them as well. */
const WITHOUT_EFFECT = [
  'restart',
  'networks',
  'container_name',
  'labels',
  'logging',
  'links',
  'expose',
  'stdin_open',
  'tty',
];

const UNUSED = 'CapRover does not use this member. State it in the application if the program needs it.';

const unused: Rule = (key, _, { conversion }) =>
  key.tree.kind === 'text' && key.tree.isNull ? conversion.same(key) : conversion.note(key, UNUSED);

const IGNORED: Readonly<Record<string, Rule>> = Object.fromEntries(
  Object.keys(SERVICE)
    .filter((member) => !USED.includes(member))
    .map((member) => [member, WITHOUT_EFFECT.includes(member) ? drop('platform') : unused]),
);

const HTTP_PORT = 80;

/** The members of `caproverExtra`. */
export const EXTRA: Readonly<Record<string, Rule>> = {
  dockerfileLines,
  websocketSupport: drop('platform'),
  notExposeAsWebApp: same,
  containerHttpPort: (key, draft, context) => {
    portOf(key, context);
    same(key, draft, context);
  },
};

function portOf(key: Key, context: Pick<ServiceContext, 'conversion'>): number {
  const port = Number(plain(key, context));
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) throw new Refused('is not a port from 1 to 65535');
  return port;
}

/** Publishes the port of the web page of a service. */
function publish(service: Key, draft: PartDraft, conversion: Conversion): void {
  const extra = service.tree.kind === 'map' ? service.tree.entries.get('caproverExtra') : undefined;
  const hidden = extra ? memberText(extra, 'notExposeAsWebApp') : '';
  if (hidden !== '' && hidden !== 'false') return;
  const stated = extra?.kind === 'map' ? extra.entries.get('containerHttpPort') : undefined;
  const containerPort = stated ? portOf({ ...service, tree: stated }, { conversion }) : HTTP_PORT;
  if (draft.ports?.some((port) => port.containerPort === containerPort && !port.protocol && port.publish)) return;
  draft.ports = [...(draft.ports ?? []), { containerPort, publish: true }];
}

const textOf = (tree: Tree | undefined): string => (tree?.kind === 'text' ? tree.text : '');

/** The variables that the file declares. */
function declaredIn(app: Tree | undefined): readonly Declared[] {
  const variables = app?.kind === 'map' ? app.entries.get('variables') : undefined;
  if (variables?.kind !== 'list') return [];
  return variables.items.slice(0, MAX_VARIABLES).flatMap((item): Declared[] => {
    const members = item.kind === 'map' ? item.entries : new Map<string, Tree>();
    const id = textOf(members.get('id'));
    const value = members.get('defaultValue');
    const expression = textOf(members.get('validRegex'));
    if (!/^\$\S{2,100}$/.test(id)) return [];
    return [
      {
        id,
        label: textOf(members.get('label')),
        fallback: value?.kind === 'text' && !value.isNull && value.text !== '' ? value.text : undefined,
        expression: expression === '' ? undefined : expression,
      },
    ];
  });
}

/** Converts a one-click app of CapRover. */
export function convertCaprover(source: SourceFile): Converted {
  let variables = new Variables([], [], source.name);
  const conversion = new Conversion(source.file, (text, part) => variables.pieces(conversion, text, part ?? ''));
  const tree = treeIn(conversion, source.text);
  if (tree?.kind !== 'map') {
    if (tree) conversion.refuse({ part: null, path: [], tree }, 'The file has no services.');
    return converted(conversion, undefined);
  }
  const services = tree.entries.get('services');
  const names = services?.kind === 'map' ? [...services.entries.keys()] : [];
  const app = tree.entries.get('caproverOneClickApp');
  const declared = declaredIn(app);
  const appName = labelOf(source.name, 'app');
  variables = new Variables(declared, names, appName);
  const used = services ? textsIn(services).join('\n') : '';
  const application = convertServices(conversion, tree, source, {
    pieces: conversion.pieces,
    description: descriptionIn(app),
    partName: (service) => partNameOf(service, appName),
    service: {
      ...IGNORED,
      documentation: drop('catalog'),
      command: SERVICE.entrypoint, // CapRover replaces the entrypoint of the image by it
      environment: environmentWith((key, name, value, context) =>
        variables.pieces(context.conversion, value ?? '', `${key.part ?? ''} ${name}`),
      ),
      caproverExtra: (key, draft, context) => nested(key, draft, context, EXTRA, unused),
    },
    unknown: unused,
    beside: {
      networks: (key) => conversion.harmless(key, 'platform'),
      volumes: (key) => conversion.harmless(key, 'platform'),
      captainVersion: (key) =>
        textOf(key.tree) === '4'
          ? conversion.harmless(key, 'project')
          : conversion.refuse(key, 'It must be 4. Other versions have another form.'),
      caproverOneClickApp: (key) => reportApp(conversion, key, declared, (id) => used.includes(id)),
    },
    isReachedByOthers: true,
    complete: publish,
  });
  return converted(conversion, application);
}

const MAX_DESCRIPTION = 4000;

function descriptionIn(app: Tree | undefined): Description & { readonly name?: string } {
  if (app?.kind !== 'map') return {};
  const name = textOf(app.entries.get('displayName')).trim();
  const description = textOf(app.entries.get('description')).trim().slice(0, MAX_DESCRIPTION);
  const instructions = app.entries.get('instructions');
  const steps =
    instructions?.kind === 'map' ? ['start', 'end'].map((step) => textOf(instructions.entries.get(step))) : [];
  const documentation = [...steps, textOf(app.entries.get('documentation'))].map((each) => each.trim()).filter(Boolean);
  return {
    ...(name !== '' && { name }),
    ...(description !== '' && { description }),
    ...(documentation.length > 0 && { documentation: documentation.join('\n\n') }),
  };
}

/** The fates of the description of the app, and of its variables. */
function reportApp(conversion: Conversion, key: Key, declared: readonly Declared[], isUsed: (id: string) => boolean) {
  if (key.tree.kind !== 'map') return conversion.refuse(key, 'It must be a map.');
  for (const [name, tree] of key.tree.entries) {
    const child = childOf(key, name, tree);
    if (['displayName', 'description', 'documentation', 'instructions'].includes(name)) conversion.same(child);
    else if (name === 'isOfficial') conversion.harmless(child, 'catalog');
    else if (name === 'variables') reportVariables(conversion, child, declared, isUsed);
    else conversion.harmless(child, 'platform');
  }
}

function reportVariables(
  conversion: Conversion,
  key: Key,
  declared: readonly Declared[],
  isUsed: (id: string) => boolean,
) {
  if (key.tree.kind !== 'list') return conversion.refuse(key, 'It must be a list.');
  if (key.tree.items.length === 0) conversion.same(key);
  if (key.tree.items.length > MAX_VARIABLES)
    return conversion.refuse(key, `It has more than ${MAX_VARIABLES} variables.`);
  for (const [index, tree] of key.tree.items.entries()) {
    const child = childOf(key, index, tree);
    const id = memberText(tree, 'id');
    const variable = declared.find((each) => each.id === id);
    if (variable) reportVariable(conversion, child, variable, isUsed(id));
    else conversion.refuse(child, 'The id of a variable must begin with $, such as $$cap_name.');
  }
}
