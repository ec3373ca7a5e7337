import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { KubernetesObject } from '../../../src/render/kubernetes.ts';

/**
 * Finds members that Kubernetes does not declare. The schemas accept them, but an API server
 * answers them with a 500. They are looked up in the type declarations, which are generated with
 * one member per line.
 */
export const undeclared = (object: KubernetesObject): string[] =>
  undeclaredIn(object, { type: { file: TYPES[object.kind] }, path: '' });

const resolve = (id: string, from: string): string =>
  realpathSync.native(createRequire(from).resolve(id)).replace(/\.js$/, '.d.ts');
const typesOf = (id: string): string => resolve(`kubernetes-models/${id}`, import.meta.filename);

const TYPES = {
  Deployment: typesOf('apps/v1/Deployment'),
  HorizontalPodAutoscaler: typesOf('autoscaling/v1/HorizontalPodAutoscaler'),
  Job: typesOf('batch/v1/Job'),
  NetworkPolicy: typesOf('networking.k8s.io/v1/NetworkPolicy'),
  PodDisruptionBudget: typesOf('policy/v1/PodDisruptionBudget'),
  PersistentVolumeClaim: typesOf('v1/PersistentVolumeClaim'),
  Secret: typesOf('v1/Secret'),
  Service: typesOf('v1/Service'),
};

/** A type that has its own file; none for strings, numbers and maps, which declare no member. */
type Declared = { readonly file?: string };

function undeclaredIn(value: unknown, { type, path }: { readonly type: Declared; readonly path: string }): string[] {
  const members = type.file === undefined ? undefined : membersOf(type.file);
  if (!members || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => undeclaredIn(item, { type, path: `${path}[${index}]` }));
  return Object.entries(value).flatMap(([name, member]) => {
    const declared = members.get(name);
    return declared ? undeclaredIn(member, { type: declared, path: `${path}.${name}` }) : [`${path}.${name}`];
  });
}

const read = new Map<string, ReadonlyMap<string, Declared> | undefined>();

/**
 * The members that a file declares for its interface, with their types; undefined if there are
 * none.
 */
function membersOf(file: string): ReadonlyMap<string, Declared> | undefined {
  if (!read.has(file)) read.set(file, declarationsIn(readFileSync(file, 'utf8'), file));
  return read.get(file);
}

function declarationsIn(text: string, file: string): ReadonlyMap<string, Declared> | undefined {
  const body = /^export interface [^{]+\{\n(.*?)^\}/ms.exec(text)?.[1];
  if (body === undefined) return undefined;
  const imported = new Map(
    [...text.matchAll(/^import \{ (\w+) \} from "([^"]+)"/gm)].map(([, name = '', id = '']) => [name, id]),
  );
  return new Map(
    [...body.matchAll(/^ {4}"([^"]+)"\??: (?:Array<)?(\w*)/gm)].map(([, name = '', type = '']) => {
      const id = imported.get(type);
      return [name, id === undefined ? {} : { file: resolve(id, file) }];
    }),
  );
}
