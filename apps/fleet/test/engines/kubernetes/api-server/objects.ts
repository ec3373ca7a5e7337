/** What every object has beside its kind. */
export interface Meta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller: boolean }[];
  managedFields?: unknown[];
}

/** The metadata of an object that is new. */
export const metaOf = (given: Partial<Meta> & Pick<Meta, 'name'>): Meta => ({
  uid: '',
  resourceVersion: '',
  generation: 1,
  creationTimestamp: '',
  ...given,
});

/** An object, as it is stored. */
export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  spec?: Tree;
  status?: Tree;
  [member: string]: unknown;
}

export type Tree = { [member: string]: unknown };

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A moment as API servers write it: without what is less than a second. */
export const moment = (at = Date.now()): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** What stands at a path such as `spec.replicas`; undefined where nothing does. */
export const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, member) => (isTree(value) ? value[member] : undefined), object);

/** The text or number at a path, as text; '' where there is none. */
export const textAt = (object: unknown, path: string): string => String(at(object, path) ?? '');

export const inNamespaceOf = ({ metadata: { namespace } }: Stored): { namespace?: string } =>
  namespace === undefined ? {} : { namespace };
