import { isTree, type Tree } from './objects.ts';

/** A step of a path: `f:` and a member, or `k:` and the keys of an item of a list. */
type Step = string;

/** Values by their paths. A path is the JSON of its steps. */
export type Fields = Map<string, unknown>;

/**
 * Lists whose items are identified by keys: the names of the keys, by the member that holds the
 * list.
 */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  imagePullSecrets: ['name'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  conditions: ['type'],
  ownerReferences: ['uid'],
};

function keysOf(member: string, parent: Step | undefined): readonly string[] | undefined {
  if (member !== 'ports') return KEYS[member];
  return parent === 'f:spec' ? ['port', 'protocol'] : ['containerPort', 'protocol'];
}

/**
 * Every value of an object that can have an owner, by its path. Lists that are replaced as a whole
 * are values.
 */
export function fieldsOf(value: unknown, steps: readonly Step[] = []): Fields {
  const last = steps.at(-1);
  if (isTree(value) && Object.keys(value).length > 0) {
    return merged(Object.entries(value).map(([member, each]) => fieldsOf(each, [...steps, `f:${member}`])));
  }
  const keys = Array.isArray(value) && last?.startsWith('f:') ? keysOf(last.slice(2), steps.at(-2)) : undefined;
  if (Array.isArray(value) && keys && value.length > 0) {
    return merged(value.map((item) => fieldsOf(item, [...steps, `k:${JSON.stringify(keyed(item, keys))}`])));
  }
  return new Map([[JSON.stringify(steps), value]]);
}

const merged = (all: readonly Fields[]): Fields => new Map(all.flatMap((each) => [...each]));

const keyed = (item: unknown, keys: readonly string[]): Tree =>
  Object.fromEntries(keys.map((key) => [key, isTree(item) ? item[key] : undefined]));

/** The object with the fields. */
export function objectOf(fields: Fields): Tree {
  const root: Tree = {};
  for (const [path, value] of fields) put(root, JSON.parse(path) as Step[], value);
  return root;
}

function put(into: Tree, [step = '', ...rest]: readonly Step[], value: unknown): void {
  const member = step.slice(2);
  const [next] = rest;
  if (next === undefined) {
    into[member] = value;
    return;
  }
  if (next.startsWith('f:')) {
    into[member] = isTree(into[member]) ? into[member] : {};
    put(into[member] as Tree, rest, value);
    return;
  }
  const list = Array.isArray(into[member]) ? (into[member] as Tree[]) : [];
  into[member] = list;
  const keys = JSON.parse(next.slice(2)) as Tree;
  let item = list.find((each) => Object.entries(keys).every(([key, of]) => each[key] === of));
  if (!item) {
    item = { ...keys };
    list.push(item);
  }
  if (rest.length > 1) put(item, rest.slice(1), value);
}

/**
 * A path in the notation of conflicts, such as `.spec.template.spec.containers[name="main"].image`.
 */
export const shown = (path: string): string =>
  (JSON.parse(path) as Step[])
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`;
      const keys = Object.entries(JSON.parse(step.slice(2)) as Tree);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
