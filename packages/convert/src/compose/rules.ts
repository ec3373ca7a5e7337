import type { ApplicationPart } from '../application.ts';
import type { HarmlessReason } from '../report.ts';
import { type Conversion, childOf, type Key, Refused } from './context.ts';
import type { Volumes } from './mounts.ts';
import { refuseUnknown } from './ports.ts';
import type { MapNode, Tree } from './tree.ts';
import { hasVariable, withDefaults } from './variables.ts';

/** A part while its service is read. */
export type PartDraft = { -readonly [M in keyof ApplicationPart]?: ApplicationPart[M] };

export interface ServiceContext {
  readonly conversion: Conversion;
  readonly volumes: Volumes;
  /** The name of the part of a service. @throws Refused for an unknown one */
  readonly partOf: (service: string) => string;
  /** Whether the service runs until its work is done. */
  readonly isJob: boolean;
}

/** What becomes of a member of a service. */
export type Rule = (key: Key, draft: PartDraft, context: ServiceContext) => void;

export const text = ({ tree }: Key): string => {
  if (tree.kind !== 'text') throw new Refused('must be a text');
  return tree.text;
};
/** A text with the defaults of its variables. @throws Refused */
export const plain = (key: Key, { conversion }: Pick<ServiceContext, 'conversion'>): string =>
  withDefaults(conversion.pieces(text(key), key.part));

/** The fate of a member that has no placeholders: the same, or the defaults of its variables. */
export function settled(key: Key, { conversion }: ServiceContext): void {
  if (hasVariable(conversion.pieces(text(key), key.part))) conversion.harmless(key, 'variable_default');
  else conversion.same(key);
}

export const childrenOf = (key: Key): Key[] => {
  const { tree } = key;
  if (tree.kind === 'text') return tree.isNull ? [] : [key];
  if (tree.kind === 'list') return tree.items.map((item, index) => childOf(key, index, item));
  return [...tree.entries].map(([name, value]) => childOf(key, name, value));
};

/** Records the fate of each child, and goes on after one that is refused. */
export function each(key: Key, { conversion }: ServiceContext, convert: (child: Key) => void): void {
  const children = childrenOf(key);
  if (children.length === 0) conversion.same(key);
  for (const child of children) {
    try {
      convert(child);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse(child, sentence(error));
    }
  }
}

/** The reason as a sentence. */
export const sentence = ({ message }: Refused): string => `It ${message}.`;

export const same: Rule = (key, _, { conversion }) => conversion.same(key);
export const drop =
  (reason: HarmlessReason): Rule =>
  (key, _, { conversion }) =>
    conversion.harmless(key, reason);
export const note =
  (reason: string): Rule =>
  (key, _, { conversion }) =>
    conversion.note(key, reason);
export const refuse =
  (reason: string): Rule =>
  (key, _, { conversion }) =>
    conversion.refuse(key, reason);
/** Refused unless the member is switched off. */
export const refuseUnlessOff =
  (reason: string): Rule =>
  (key, _, { conversion }) =>
    key.tree.kind === 'text' && ['false', ''].includes(key.tree.text)
      ? conversion.same(key)
      : conversion.refuse(key, reason);

/** Applies the rules of a table to the members of a map. Members without a rule are refused, unless there is one for them. */
export function nested(
  key: Key,
  draft: PartDraft,
  context: ServiceContext,
  rules: Readonly<Record<string, Rule>>,
  unknown?: Rule,
): void {
  const { conversion } = context;
  if (key.tree.kind !== 'map') throw new Refused('must be a map');
  for (const [name, tree] of key.tree.entries) {
    const child = childOf(key, name, tree);
    const rule = Object.hasOwn(rules, name) ? rules[name] : name.startsWith('x-') ? undefined : unknown;
    if (!rule) {
      refuseUnknown(conversion, { ...key, tree: onlyEntry(key.tree, name, tree) }, []);
      continue;
    }
    try {
      rule(child, draft, context);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse(child, sentence(error));
    }
  }
}

const onlyEntry = (map: MapNode, name: string, tree: Tree): MapNode => ({ ...map, entries: new Map([[name, tree]]) });
